"""A run as a conversation, or two side by side."""
