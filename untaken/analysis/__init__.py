"""Questions to many scored runs: what to fix first, what differs, what recurs, whether the plan is right."""
