"""``untaken modes suggest``: what notes without a mode may mean, by similar notes and by a language model."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from untaken.analysis import (
    ModelSuggestion,
    SuggestionQuality,
    Taxonomy,
    filed_texts,
    kept_taxonomy,
    model_suggestions,
    suggestion_drafts,
)
from untaken.cli.asking import model_of, takes_model
from untaken.cli.console import NOTHING, Console, decimal, rate, span
from untaken.cli.grammar import UsageError, Verbs, verb
from untaken.cli.inputs import open_workspace
from untaken.cli.modes_taxonomy import takes_workspace
from untaken.errors import Unscored, number
from untaken.judging import SETTING
from untaken.ledger import Run
from untaken.numbers import counted
from untaken.views import UnfiledNote, modes_suggest_document, unfiled_notes

if TYPE_CHECKING:
    from untaken.workspace import Workspace


def add_to(verbs: Verbs) -> None:
    """Adds the verb to those of ``modes``."""
    does = "suggest modes for notes that have none, by similar notes and by a language model"
    parser = verb(verbs, "suggest", suggest, does)
    takes_workspace(parser)
    takes_model(parser, unless=f"{SETTING} if only --offline is given")
    parser.takes_flag("--append", "write the model's suggestions to the ledgers, marked as such")


def suggest(args: argparse.Namespace, console: Console) -> int:
    """Prints what each note without a mode may mean, and how often such suggestions are right here."""
    asked = bool(args.model or args.offline)
    if args.append and not asked:
        hint = "Name a model: --model M."
        raise UsageError("model-not-named", "--append writes what a model suggests", hint=hint)
    with open_workspace(args) as store:
        taxonomy, runs = kept_taxonomy(store.path), store.read_runs()[0]
        found, quality = unfiled_notes(runs, taxonomy)
        if asked:
            found = _asked(found, runs, taxonomy, args, console)
        if args.append:
            _append(found, runs, store)
    _print(found[: args.top or None], len(found), taxonomy, asked, console)
    _print_quality(quality, console)
    console.document(modes_suggest_document(found, quality, taxonomy))
    return 0


def _asked(
    found: Sequence[UnfiledNote],
    runs: Sequence[Run],
    taxonomy: Taxonomy,
    args: argparse.Namespace,
    console: Console,
) -> tuple[UnfiledNote, ...]:
    with model_of(args, console) as model:
        notes = [one.note for one in found]
        filed = filed_texts(runs, taxonomy)
        answers = model_suggestions(notes, taxonomy, filed, model, progress=console.progress)
    if found and not answers:  # without modes to choose from, the model was not asked
        console.warn("the taxonomy has no active mode to choose from")
        return tuple(found)
    return tuple(replace(one, by_model=answer) for one, answer in zip(found, answers, strict=True))


def _append(found: Sequence[UnfiledNote], runs: Sequence[Run], store: Workspace) -> None:
    suggested = [one.by_model for one in found if one.by_model is not None]
    for run in runs:
        if drafts := suggestion_drafts(run, suggested):
            store.append_events(run, drafts)


def _print(
    found: Sequence[UnfiledNote], total: int, taxonomy: Taxonomy, asked: bool, console: Console
) -> None:
    more = ("by the model", "because") if asked else ()
    rows = []
    for one in found:
        first = one.suggestions[0] if one.suggestions else None
        near = (taxonomy.name(first.mode), decimal(first.likeness, 2)) if first else (NOTHING, NOTHING)
        rows.append(
            (one.note.run_id, one.note.seq, one.note.text, *near, *_by_model(one.by_model, taxonomy, asked))
        )
    console.table(("run", "note", "text", "may be", "likeness", *more), rows)
    console.say()
    console.say(f"{counted(total, 'note')} without a mode; suggestions do not count until accepted")


def _by_model(answer: ModelSuggestion | None, taxonomy: Taxonomy, asked: bool) -> tuple[str, ...]:
    if not asked or answer is None:
        return (NOTHING, NOTHING) if asked else ()
    if isinstance(answer.mode, Unscored):
        return NOTHING, answer.mode.reason
    return taxonomy.name(answer.mode) if answer.mode else "none of them", answer.reason


def _print_quality(quality: SuggestionQuality, console: Console) -> None:
    if number(quality.right) is None:
        console.say("how often suggestions by similar notes are right is not known: file notes on two runs")
        return
    console.say(
        f"by similar notes right on {rate(quality.right)} ({span(quality.low, quality.high)}) of "
        f"{counted(quality.notes, 'filed note')}, each run's own notes left out; the most frequent mode "
        f"alone: {rate(quality.majority)}"
    )
