"""Decisions: choices and what their alternatives led to."""
