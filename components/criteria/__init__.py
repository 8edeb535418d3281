"""Criteria: AgentEval and the judge."""
