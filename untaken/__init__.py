"""Untaken: learning from the paths not taken.

Reviews recorded runs of LLM agents: sub-goal scores on plan graphs, counterfactuals from the log alone, and
rankings that show where a single success bit misleads. Names are imported when they are first used.

PYTEST_DONT_REWRITE (tells pytest, which loads our plugin, that this may already be imported).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from untaken.answers import run_report
    from untaken.corpus import evaluate_corpus
    from untaken.counterfactual import evaluate_run
    from untaken.crafter.state_causality import StateCausality
    from untaken.crafter.win import what_if_not
    from untaken.criteria import propose_criteria, quantify, verify_criteria
    from untaken.errors import Unscored, UntakenError
    from untaken.fix_first import triage
    from untaken.formats import convert
    from untaken.html import html_report
    from untaken.judging import judge_run
    from untaken.ledger import LedgerWriter, read_ledger, verify_ledger
    from untaken.ledger.context import context_hash
    from untaken.memory import PolicyMemory
    from untaken.plans import PlanGraph, load_graph, save_graph
    from untaken.ranking import rank_agents
    from untaken.store import Workspace
    from untaken.subgoals import score_run

__version__: Final = "0.1.0"

_ROOMS: Final = {
    "LedgerWriter": "ledger",
    "PlanGraph": "plans",
    "PolicyMemory": "memory",
    "StateCausality": "crafter.state_causality",
    "Unscored": "errors",
    "UntakenError": "errors",
    "Workspace": "store",
    "context_hash": "ledger.context",
    "convert": "formats",
    "evaluate_corpus": "corpus",
    "evaluate_run": "counterfactual",
    "html_report": "html",
    "judge_run": "judging",
    "load_graph": "plans",
    "propose_criteria": "criteria",
    "quantify": "criteria",
    "rank_agents": "ranking",
    "read_ledger": "ledger",
    "run_report": "answers",
    "save_graph": "plans",
    "score_run": "subgoals",
    "triage": "fix_first",
    "verify_criteria": "criteria",
    "verify_ledger": "ledger",
    "what_if_not": "crafter.win",
}

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


def __getattr__(name: str) -> Any:
    """Imports a public name when it is first asked for, so that one room does not load all the others."""
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_ROOMS[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
