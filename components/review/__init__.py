"""Review: the queue and what reviewers write."""
