"""Sample runs of planning in Crafter: several policies in the same worlds, recorded as they played."""
