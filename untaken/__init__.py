"""Untaken: learning from the paths not taken.

Reviews recorded runs of LLM agents: sub-goal scores on plan graphs, counterfactuals from the log alone, and
rankings that show where a single success bit misleads. Names are imported when they are first used.

PYTEST_DONT_REWRITE (tells pytest, which loads our plugin, that this may already be imported).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from untaken.lazy_imports import imported_on_first_use

if TYPE_CHECKING:
    from untaken.views import run_report
    from untaken.analysis import evaluate_corpus
    from untaken.counterfactual import evaluate_run
    from untaken.simulator import StateCausality
    from untaken.simulator import what_if_not
    from untaken.judging import propose_criteria, quantify, verify_criteria
    from untaken.errors import Unscored, UntakenError
    from untaken.analysis import triage
    from untaken.traces import convert
    from untaken.views import html_report
    from untaken.judging import judge_run
    from untaken.ledger import LedgerWriter, read_ledger, verify_ledger
    from untaken.ledger import context_hash
    from untaken.counterfactual import PolicyMemory
    from untaken.plans import PlanGraph, load_graph, load_graphs, save_graph
    from untaken.analysis import rank_agents
    from untaken.workspace import Workspace
    from untaken.scoring import score_run

__version__: Final = "0.1.0"

__all__ = [
    "LedgerWriter",
    "PlanGraph",
    "PolicyMemory",
    "StateCausality",
    "Unscored",
    "UntakenError",
    "Workspace",
    "context_hash",
    "convert",
    "evaluate_corpus",
    "evaluate_run",
    "html_report",
    "judge_run",
    "load_graph",
    "load_graphs",
    "propose_criteria",
    "quantify",
    "rank_agents",
    "read_ledger",
    "run_report",
    "save_graph",
    "score_run",
    "triage",
    "verify_criteria",
    "verify_ledger",
    "what_if_not",
]

__getattr__, __dir__ = imported_on_first_use(__name__)
