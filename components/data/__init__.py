"""Data: uploads and what the workspace holds."""
