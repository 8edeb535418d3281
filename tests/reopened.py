"""Whether a workspace that is opened again gives every answer that a fresh reading gives."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import numpy as np
import pandas as pd

from untaken import views as answers
from untaken.analysis.corpus import Corpus, evaluate_corpus
from untaken.analysis.fix_first import triage
from untaken.analysis.memories import remembered
from untaken.analysis.ranking import comparable_groups
from untaken.analysis.workspace_corpus import WorkspaceCorpus
from untaken.errors import UntakenError
from untaken.facts.scaling.distant import DistantRun
from untaken.ledger import Run
from untaken.views.stored_answers import FIRST_PAGE, is_kept, keep_answer, load_kept
from untaken.workspace import Workspace

SLOW = {"placebo_of", "runs_to_read", "ledger_review"}
"""Answers that shuffle, embed or ask a model: what they start from is compared."""


def answers_of_a_corpus() -> list[Callable[[Corpus], object]]:
    """Every public function of `untaken.views` that needs a corpus and nothing else."""
    found: list[Callable[[Corpus], object]] = [triage]
    for module in pkgutil.iter_modules(answers.__path__):
        for name, made in vars(importlib.import_module(f"untaken.views.{module.name}")).items():
            if not inspect.isfunction(made) or name.startswith("_") or name in SLOW:
                continue
            needed = [p for p in inspect.signature(made).parameters.values() if p.default is p.empty]
            if [p.annotation for p in needed] == ["Corpus"] and made not in found:
                found.append(made)
    return found


ANSWERS = answers_of_a_corpus()


def plain(value: object) -> Any:
    """A value that compares by content, whatever objects it is made of."""
    if isinstance(value, Run):
        return {"run": value.digest, "events": value.events, "own": sorted(value.appended_here)}
    if isinstance(value, pd.DataFrame):
        return value.astype(object).where(value.notna(), None).to_dict("split")
    if isinstance(value, np.ndarray):
        return repr(value.tolist())  # NaN equals nothing
    if isinstance(value, Iterator):
        return [plain(one) for one in value]
    if isinstance(value, Mapping):
        return {plain_key(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | Iterator):
        return [plain(one) for one in value]
    if is_dataclass(value):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value) if f.compare}
    if isinstance(value, msgspec.Struct):
        return {name: plain(getattr(value, name)) for name in value.__struct_fields__}
    return value


def plain_key(key: object) -> object:
    return key if isinstance(key, str | int | None) else repr(key)


def opened(store: Workspace, **rules: Any) -> Corpus:
    """What a server that has just started makes of a workspace."""
    workspace = WorkspaceCorpus()
    return workspace.evaluate(store, workspace.read(store), **rules)


def answer_of(answer: Callable[[Corpus], object], corpus: Corpus) -> Any:
    """An answer, or the error that it gives."""
    try:
        return plain(answer(corpus))
    except UntakenError as error:
        return str(error)


def assert_kept_alike(fresh: Corpus) -> None:
    """Every answer that is kept is found again under its key, and is what it was."""
    runs = list(fresh.runs.values())
    kept: dict[str, object] = {make.__name__: make(fresh) for make in FIRST_PAGE}
    kept |= {"groups": comparable_groups(runs), "authors": ("human:ann",), "unread": fresh.findings}
    with TemporaryDirectory() as at:
        folder = Path(at)
        for name, answer in kept.items():
            assert is_kept(name)
            keep_answer(folder, name, "k" * 64, answer)
            found = load_kept(folder, name, "k" * 64)
            assert type(found) is type(answer), name
            assert plain(found) == plain(answer), name
            assert load_kept(folder, name, "l" * 64) is None


def assert_opened_again_alike(store: Workspace, **rules: Any) -> None:
    """Every answer from tables is that of a fresh reading, findings and integrity included."""
    runs, findings = store.read_runs()
    fresh = evaluate_corpus(runs, store.graph_set(), memory=remembered(runs, store.path), **rules)
    assert WorkspaceCorpus().read(store)[1] == findings
    opened(store)
    again, workspace = opened(store, **rules), WorkspaceCorpus()
    assert workspace.read(store)[1] == findings
    assert list(again.runs) == list(fresh.runs)
    assert all(isinstance(run, DistantRun) for run in again.runs.values()), "opened from tables"
    for part in ("findings", "scores", "agents", "ranking", "choices", "plans"):
        assert plain(getattr(again, part)) == plain(getattr(fresh, part)), part
    assert dict(again.evaluations) == dict(fresh.evaluations)
    for answer in ANSWERS:
        assert answer_of(answer, again) == answer_of(answer, fresh), answer.__qualname__
    assert_kept_alike(fresh)
    for digest, run in fresh.runs.items():
        assert again.runs[digest].integrity == run.integrity
        assert plain(again.runs[digest]) == plain(run)
