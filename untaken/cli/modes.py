"""``untaken modes``: failure modes and notes on runs, by group, between people, and suggested ones."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from untaken.analysis import (
    BY,
    PRESETS,
    TITLES,
    AssignmentStatus,
    ModeAgreement,
    ModelSuggestion,
    Place,
    RootCauseAgreement,
    SuggestionQuality,
    Taxonomy,
    agents_compared_with,
    assignment_draft,
    assignments_of,
    ceiling_words,
    change_taxonomy,
    create_mode,
    edit_mode,
    filed_texts,
    find_mode,
    import_modes,
    kept_taxonomy,
    merge_modes,
    mode_agreement,
    model_suggestions,
    note_draft,
    notes_of,
    preset_modes,
    restore_mode,
    retire_mode,
    split_mode,
    suggestion_drafts,
    withdrawal_draft,
)
from untaken.cli.analysed import read_analysed, takes_runs
from untaken.cli.asking import model_of, takes_model
from untaken.cli.console import NOTHING, Console, decimal, plain, rate, span
from untaken.cli.grammar import Parser, UsageError, Verbs, group, verb
from untaken.cli.inputs import open_workspace
from untaken.errors import Unscored, number
from untaken.judging import SETTING
from untaken.ledger import Draft, Run
from untaken.numbers import counted
from untaken.views import (
    ModeAnalysis,
    Part,
    UnfiledNote,
    analyse_modes,
    corpus_root_causes,
    modes_agree_document,
    modes_document,
    modes_notes_document,
    modes_overview,
    modes_suggest_document,
    reviewed_runs,
    runs_to_read,
    unfiled_notes,
)

if TYPE_CHECKING:
    from untaken.workspace import Workspace

TOP = 20


def add_to(verbs: Verbs) -> None:
    """Adds the verb and its own."""
    inner = group(verbs, "modes")
    parser = verb(inner, "list", listed, "list the failure modes and how many runs have each")
    takes_workspace(parser)
    parser.takes_compared()
    _add_pivot(inner)
    _add_changes(inner)
    _add_agree(inner)
    parser = verb(inner, "assign", assign, "write a note on a run, assign a mode to it, or both")
    takes_workspace(parser, by=True)
    parser.takes_one("--run", "ID", "run id or digest", dest="of_run", required=True)
    parser.takes_one("--mode", "MODE", "id or name of a mode in the taxonomy")
    parser.takes_one("--note", "TEXT", "what you saw")
    parser.takes_one("--event", "SEQ", "the event it is about", type=int)
    parser.takes_one("--sub-goal", "ID", "the sub-goal it is about")
    parser.takes_flag("--new", "create the mode if the taxonomy has none so named")
    parser.takes_flag("--withdraw", "withdraw the mode, or dismiss a suggestion")
    parser.takes_one("--withdraw-note", "SEQ", "withdraw your note of this seq", type=int)
    parser = verb(inner, "notes", notes, "list the notes on runs, and the modes assigned")
    takes_workspace(parser)
    parser.takes_one("--runs", "ID", "only these: run ids or digests", nargs="+", default=[])
    _add_suggest(inner)


def listed(args: argparse.Namespace, console: Console) -> int:
    """Prints the taxonomy with counts."""
    with open_workspace(args) as store:
        runs = store.read_runs()[0]
        if args.compared is not None:
            kept = frozenset(agents_compared_with(runs, args.compared).digests)
            runs = [run for run in runs if run.digest in kept]
        found = modes_overview(runs, kept_taxonomy(store.path))
    print_modes(found, args.top or None, console)
    console.document(found)
    return 0


def assign(args: argparse.Namespace, console: Console) -> int:
    """Appends to the run's ledger what was asked for; prints what the run has now."""
    if not args.mode and args.note is None and args.withdraw_note is None:
        raise UsageError("mode-unknown", "name a mode, a note, or both", hint="--mode MODE, --note TEXT")
    by = f"human:{args.by}"
    with open_workspace(args) as store:
        (run,) = _chosen(store.read_runs()[0], [args.of_run])
        place = Place(sub_goal=args.sub_goal, event=_event(args.event, run))
        drafts = [note_draft(args.note, author=by, place=place)] if args.note is not None else []
        if args.withdraw_note is not None:
            drafts.append(withdrawal_draft(run, args.withdraw_note, author=by))
        taxonomy = kept_taxonomy(store.path)
        if args.mode:
            taxonomy, draft = _assigned(store.path, taxonomy, args, by, place)
            drafts.append(draft)
        store.append_events(run, drafts)  # in one call: all of it or none
        # Read again, with what was just written: a note does not change the digest of a run.
        (run,) = _chosen(store.read_runs()[0], [run.digest])
    _print_notes([run], taxonomy, None, console)
    console.document(modes_notes_document([run], taxonomy))
    return 0


def notes(args: argparse.Namespace, console: Console) -> int:
    """Prints notes and modes, oldest first in each run."""
    with open_workspace(args) as store:
        taxonomy, runs = kept_taxonomy(store.path), store.read_runs()[0]
    chosen = _chosen(runs, args.runs) if args.runs else runs
    _print_notes(chosen, taxonomy, args.top or None, console)
    console.document(modes_notes_document(chosen, taxonomy))
    return 0


def _chosen(runs: Sequence[Run], asked: Sequence[str]) -> list[Run]:
    """The runs of these ids or digests, each once.

    Raises:
        UsageError: ``run-unknown`` for one that is not there, or an id that several runs have.
    """
    found = []
    for name in dict.fromkeys(asked):
        named = [run for run in runs if name in (run.run_id, run.digest)]
        if len(named) != 1:
            what = "no run" if not named else f"{len(named)} runs"
            raise UsageError("run-unknown", f"{what} {plain(name)!r}", hint="Name a run id or a digest.")
        found += named
    return found


def _event(event: int | None, run: Run) -> int | None:
    if event is None or any(one.seq == event for one in run.events):
        return event
    raise UsageError("event-unknown", f"run {plain(run.run_id)} has no event {event}")


def _assigned(
    folder: Path, taxonomy: Taxonomy, args: argparse.Namespace, by: str, place: Place
) -> tuple[Taxonomy, Draft]:
    if args.new and not any(args.mode in (mode.id, mode.name) for mode in taxonomy.active):
        taxonomy = change_taxonomy(folder, lambda known: create_mode(known, args.mode, by=by)[0])
    mode = find_mode(taxonomy, args.mode)
    if not (mode.active or args.withdraw):  # what an old mode was assigned to can still be taken back
        raise UsageError(
            "mode-unknown", f"{plain(mode.name)!r} is {mode.status}", hint="Assign an active mode."
        )
    status: AssignmentStatus = "withdrawn" if args.withdraw else "accepted"
    return taxonomy, assignment_draft(mode.id, by=by, status=status, place=place)


def _print_notes(runs: Sequence[Run], taxonomy: Taxonomy, top: int | None, console: Console) -> None:
    notes = [note for run in runs for note in notes_of(run)]
    console.columns(
        notes[:top], "run=run_id, note=seq, by=author", ("about", lambda note: _place(note.place)), "text"
    )
    words = [one for run in runs for one in assignments_of(run)]
    console.say()
    console.columns(
        words[:top],
        "run=run_id",
        ("mode", lambda one: taxonomy.name(taxonomy.current(one.mode))),
        "status, by",
        ("at", lambda one: _place(one.place)),
    )
    for kind, total in (("note", len(notes)), ("word on modes", len(words))):
        if top is not None and total > top:
            console.say(f"… and more: {counted(total, kind)} in all; --top 0 lists them")


def _place(place: Place) -> str:
    parts = [f"event {place.event}"] if place.event is not None else []
    parts += [place.sub_goal] if place.sub_goal is not None else []
    return ", ".join(parts) or "run"


def _add_pivot(verbs: Verbs) -> None:
    """Adds the verb to those of ``modes``."""
    does = "count failure modes by group, compare them with successes, and estimate how many are unseen"
    parser = verb(verbs, "pivot", pivot, does)
    takes_runs(parser)
    parser.add_argument("--by", choices=BY, default="agent", help="what to group by (default agent)")
    parser.takes_flag("--all-read", "every run was read: one without a mode is free of all modes")
    parser.takes_one("--seed", "TEXT", "of the random draw (default: empty)", default="")
    parser.takes_top(TOP)


def pivot(args: argparse.Namespace, console: Console) -> int:
    """Prints the tables; 1 where a ledger is broken."""
    given = read_analysed(args, console)
    known = runs_to_read(given.corpus)
    found = analyse_modes(
        given.corpus,
        known,
        given.taxonomy,
        by=args.by,
        reviewed=known.unbroken if args.all_read else reviewed_runs(given.reviews),
        seed=args.seed,
    )
    run_ids = {digest: run.run_id for digest, run in given.corpus.runs.items()}
    _print_pivot(found, args.top or None, run_ids, console)
    console.document(modes_document(found, run_ids, findings=given.findings))
    return 1 if given.broken else 0


def _print_pivot(found: ModeAnalysis, top: int | None, run_ids: dict[str, str], console: Console) -> None:
    totals = [*found.pivot.totals, *(cell for cell in found.pivot.cells if cell.count)]
    # The sort is stable: the total of a mode stays before its groups.
    ordered = sorted(totals, key=lambda cell: found.pivot.modes.index(cell.mode))
    console.columns(
        ordered[:top],
        ("mode", lambda one: found.names[one.mode]),
        f"{found.pivot.by.replace('_', '-')}=group, runs=count/n, rate, 95%=low…high",
    )
    console.say()
    if found.contrasts:
        console.columns(
            found.contrasts[:top],
            ("mode", lambda one: found.names[one.mode]),
            "failed=k1/n1, successes=k0/n0, tasks",
            "difference:+, 95%=low…high, p:p, q:p, says=words",
        )
        console.say()
    console.say(
        f"{len(found.read)} of {counted(found.runs, 'run')} read, {found.failed} of them failed; rates are "
        "over failed runs that were read"
    )
    console.say(found.saturation.words)
    if found.order:
        first = found.order[0]
        console.say(plain(f"Read next: {run_ids[first.run]} ({first.words})"))
    if found.draw.following:
        console.say(plain(f"Next of the random draw: {run_ids[found.draw.following]}"))


CHANGES: Final[dict[str, Callable[[Taxonomy, argparse.Namespace, str], Taxonomy]]] = {
    "import": lambda known, args, by: import_modes(known, preset_modes(args.preset), by=by),
    "rename": lambda known, args, by: edit_mode(
        known, args.mode, name=args.name, definition=args.definition, by=by, why=args.why
    ),
    "merge": lambda known, args, by: merge_modes(known, args.modes, args.into, by=by, why=args.why),
    "split": lambda known, args, by: split_mode(known, args.mode, args.into, by=by, why=args.why),
    "retire": lambda known, args, by: retire_mode(known, args.mode, by=by, why=args.why),
    "restore": lambda known, args, by: restore_mode(known, args.mode, by=by, why=args.why),
}
"""What each verb makes of the taxonomy, by what was given and who asks."""


def _add_changes(verbs: Verbs) -> None:
    """Adds the verbs to those of ``modes``."""
    parser = _changing(verbs, "import", "add the modes of a preset to the taxonomy")
    offered = "; ".join(f"{name}: {title}" for name, title in TITLES.items())
    parser.add_argument("preset", choices=tuple(PRESETS), metavar="PRESET", help=offered)
    parser = _changing(verbs, "rename", "give a mode another name or definition; its id stays")
    _takes_mode(parser)
    parser.add_argument("name", metavar="NAME", help="the new name")
    parser.takes_one("--definition", "TEXT", "another definition, too")
    parser = _changing(verbs, "merge", "merge modes into one: their runs count as it")
    parser.add_argument("modes", nargs="+", metavar="MODE", help="ids or names")
    parser.takes_one("--into", "MODE", "the one that takes them over", required=True)
    parser = _changing(verbs, "split", "split a mode into new ones; its runs wait to be assigned again")
    _takes_mode(parser)
    parser.takes_one("--into", "NAME", "names, two at least", nargs="+", required=True)
    _takes_mode(_changing(verbs, "retire", "no longer offer a mode; its runs still count"))
    _takes_mode(_changing(verbs, "restore", "make a merged, split or retired mode active again"))


def _changing(verbs: Verbs, name: str, does: str) -> Parser:
    parser = verb(verbs, name, changed, does)
    takes_workspace(parser, by=True)
    if name != "import":
        parser.takes_one("--why", "TEXT", "kept in the history of the mode", default="")
    return parser


def _takes_mode(parser: Parser) -> None:
    parser.add_argument("mode", metavar="MODE", help="id or name of a mode in the taxonomy")


def takes_workspace(parser: Parser, *, by: bool = False) -> None:
    """``--workspace``, and ``--by`` for what is signed, else ``--top``."""
    parser.takes_one("--workspace", "FOLDER", "the folder of untaken app", required=True)
    if by:
        parser.takes_one("--by", "NAME", "your name; kept as human:NAME", required=True)
    else:
        parser.takes_top(TOP)


def changed(args: argparse.Namespace, console: Console) -> int:
    """Changes the taxonomy in one step, and prints it."""
    with open_workspace(args) as store:
        # Of the taxonomy as it is while nobody else can change it.
        after = change_taxonomy(
            store.path, lambda known: CHANGES[args.modes_verb](known, args, f"human:{args.by}")
        )
        found = modes_overview(store.read_runs()[0], after)
    print_modes(found, None, console)
    console.document(found)
    return 0


def print_modes(found: Part, top: int | None, console: Console) -> None:
    """The taxonomy with counts."""
    console.columns(found.modes[:top], "id, name, status, became=into, runs")
    console.say()
    read = f"{found.read} of {counted(found.runs, 'run')} read (a note or a mode by a person)"
    console.say(f"version {found.version}; {read}")


def _add_agree(verbs: Verbs) -> None:
    """Adds the verb to those of ``modes``."""
    does = "compare two people's modes, steps and root causes, and automatic blame with them"
    parser = verb(verbs, "agree", agree, does)
    takes_runs(parser)
    parser.takes_top(TOP)


def agree(args: argparse.Namespace, console: Console) -> int:
    """Prints both tables; 1 where a ledger is broken."""
    given = read_analysed(args, console)
    modes = mode_agreement(given.corpus.runs.values(), given.taxonomy)
    causes = corpus_root_causes(given.corpus)
    _print_modes(modes[: args.top or None], given.taxonomy, console)
    console.say()
    _print_causes(causes[: args.top or None], console)
    console.say(ceiling_words(causes))
    console.document(modes_agree_document(modes, causes, given.taxonomy, findings=given.findings))
    return 1 if given.broken else 0


def _print_modes(found: Sequence[ModeAgreement], taxonomy: Taxonomy, console: Console) -> None:
    if not found:
        console.say("no two people have read the same run: a note, or a word on a mode")
        return

    console.columns(
        found,
        "a, b",
        ("mode", lambda one: taxonomy.name(one.mode) if one.mode else "all modes"),
        "n, both, only a=only_a, only b=only_b, kappa, 95%=kappa_low…kappa_high",
        "same step=same_step/located, ±1=near_step/located",
    )


def _print_causes(found: Sequence[RootCauseAgreement], console: Console) -> None:
    if not found:
        return

    console.columns(
        found,
        "root cause: a=a, b, same step=same_step/runs, 95%=same_low…same_high, ±1=near_step/runs",
        "apart=median_distance, same sub-goal=same_sub_goal/named, kappa",
    )


def _add_suggest(verbs: Verbs) -> None:
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
            _append_suggested(found, runs, store)
    _print_suggested(found[: args.top or None], len(found), taxonomy, asked, console)
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


def _append_suggested(found: Sequence[UnfiledNote], runs: Sequence[Run], store: Workspace) -> None:
    suggested = [one.by_model for one in found if one.by_model is not None]
    for run in runs:
        if drafts := suggestion_drafts(run, suggested):
            store.append_events(run, drafts)


def _print_suggested(
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
