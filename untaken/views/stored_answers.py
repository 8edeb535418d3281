"""Answers that a workspace keeps: a server started again shows a page without evaluating its runs.

An answer is found by its name and a digest of all that it follows from: every byte of every ledger, what
the database says of them (`LedgerState`), the plan graphs, what the memory was taught, the rules in
force, the agents compared, and this program. So it is what working it out would give now; anything else is
not found.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np

from untaken.analysis import Group, RankReport, Triage, auditing, comparing, corpus_doubts, triage
from untaken.counterfactual import Points, Signal
from untaken.errors import Finding
from untaken.facts import rules_of
from untaken.judging import LabelledRates, Reviewers
from untaken.ledger import Run
from untaken.plans import GraphSet
from untaken.scoring import GraphDoubt
from untaken.views import first_page
from untaken.views.first_page import Overview
from untaken.views.review import OrderedRun
from untaken.views.spending import AgentUsage, corpus_usage
from untaken.workspace import has_answer, key_of, load_answer, save_answer

FIRST_PAGE: Final[tuple[Callable[..., Any], ...]] = (
    first_page.first_numbers,
    first_page.without_graph,
    corpus_doubts,
    triage,
    first_page.runs_behind_items,
    first_page.ranks_alone,
    first_page.ranking_remarks,
    first_page.read_next,
)
"""What the first page shows of the runs compared, whatever they are: all of it, so that it needs no other."""
OTHER_PAGES: Final[Mapping[str, Callable[[], Any]]] = {
    "audit_corpus": lambda: auditing.PlanAudit,
    "choice_review": lambda: import_module("untaken.views.choices_reviewed").ChoiceReview,
    "compared_tasks": lambda: tuple[comparing.TaskRuns, ...],
    "corpus_findings": lambda: tuple[Finding, ...],
    "corpus_reviewers": lambda: Reviewers,
    "decision_kinds": lambda: tuple[str, ...],
    "failing_shapes": lambda: dict[str, tuple[str, ...]],
    "ledger_review": lambda: import_module("untaken.views.criteria_review").CriteriaReview,
    "rates_with_labels": lambda: LabelledRates,
    "review_order": lambda: tuple[OrderedRun, ...],
    "runs_to_read": lambda: import_module("untaken.views.mode_analysis").RunsToRead,
    "signals_waiting": lambda: tuple[Signal, ...],
}
"""What other pages show of them, and what each is: loaded with its page."""
WITHOUT_NOTES: Final = frozenset((*(made.__name__ for made in FIRST_PAGE), *OTHER_PAGES))
"""What follows from outcomes, scores and decisions alone: the same whatever notes and modes are written."""
OF_HISTORY: Final = frozenset(("choice_review", "signals_waiting"))
"""What follows from what the runs did alone: the same whatever verdicts are given, and however they count."""
OF_READINGS: Final = ("groups", "authors", "unread")
"""What every page shows of the runs and findings that were read, under any rule."""
_KINDS: Final[Mapping[str, Any]] = {
    "groups": tuple[Group, ...],
    "authors": tuple[str, ...],
    "unread": tuple[Finding, ...],
    first_page.first_numbers.__name__: Overview,
    first_page.without_graph.__name__: first_page.WithoutGraph,
    corpus_usage.__name__: tuple[AgentUsage, ...],
    corpus_doubts.__name__: tuple[GraphDoubt, ...],
    triage.__name__: Triage,
    first_page.runs_behind_items.__name__: dict[str, tuple[first_page.RunBehind, ...]],
    first_page.choices_to_change.__name__: first_page.ShownChoices,
    first_page.ranks_alone.__name__: RankReport,
    first_page.ranking_remarks.__name__: tuple[str, ...],
    first_page.read_next.__name__: first_page.ShownRuns,
}


class Basis(NamedTuple):
    """All that answers follow from but the rules in force and the agents compared.

    Attributes:
        state: of the ledgers, as of `LedgerState`.
        graphs: the plan graphs.
        taught: digest of what the memory was taught.
    """

    state: str
    graphs: GraphSet
    taught: str

    def key(self, *rules: object) -> str:
        """The key of answers under some rules."""
        return key_of(self.state, rules_of(self.graphs), self.taught, *rules)

    def history_key(self, taught: Iterable[Run], chosen: Iterable[Run]) -> str:
        """The key of an answer `OF_HISTORY` of chosen runs; the memory was `taught` by some."""
        did = [[(run.digest, run.integrity.broken) for run in some] for some in (taught, chosen)]
        return key_of(self.taught, *did)


def is_kept(what: str) -> bool:
    """Whether the answer of this name is one that is kept."""
    return what in _KINDS or what in OTHER_PAGES


def are_kept(folder: Path, what: Iterable[str], key: str) -> bool:
    """Whether there are answers of all these names under a key; they may still be damaged."""
    return all(has_answer(folder, each, key) for each in what)


def load_kept(folder: Path, what: str, key: str) -> Any:
    """The answer of this name that was kept in a workspace under a key; ``None`` where there is none."""
    found = load_answer(folder, what, key)
    if found is None:
        return None
    try:
        return _decoder(what).decode(found)
    except msgspec.MsgspecError:  # damaged, or in an older form: it is worked out again
        return None


def keep_answer(folder: Path, what: str, key: str, answer: object) -> None:
    """Keeps the answer of this name under a key."""
    save_answer(folder, what, key, msgspec.msgpack.encode(answer, enc_hook=_plain))


@lru_cache(maxsize=len(_KINDS) + len(OTHER_PAGES))
def _decoder(what: str) -> msgspec.msgpack.Decoder[Any]:
    kind = _KINDS[what] if what in _KINDS else OTHER_PAGES[what]()
    return msgspec.msgpack.Decoder(kind, dec_hook=_column)


def _plain(column: Any) -> object:
    """A column as what MessagePack knows."""
    # Arrays are kept as bytes, which is much faster than as lists of numbers.
    if isinstance(column, Points):
        return column.run.tobytes(), column.seq.tobytes()
    return column.dtype.str, column.tobytes()


def _column(kind: type, plain: Any) -> object:
    first, second = plain
    if kind is Points:
        return Points((), array("q", first), array("q", second))
    return np.frombuffer(second, dtype=np.dtype(first))
