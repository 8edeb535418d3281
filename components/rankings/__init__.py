"""Rankings: outcome against sub-goals."""
