"""Compare: runs of one task side by side."""
