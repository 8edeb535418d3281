"""Overview: where the outcome misleads and what to fix first."""
