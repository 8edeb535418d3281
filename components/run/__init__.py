"""Run: what happened in one run."""
