"""Failure modes: notes, modes, issues."""
