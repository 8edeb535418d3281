"""Versions: what changed between two versions."""
