"""``untaken criteria propose``: what a language model proposes to judge runs by."""

from __future__ import annotations

import argparse
from pathlib import Path

from untaken.cli.asking import model_of, takes_model
from untaken.cli.console import Console, plain
from untaken.cli.grammar import UsageError, Verbs, verb
from untaken.cli.inputs import read_ledgers
from untaken.facts import Ledgers
from untaken.judging import TASK_CHARS, WORDS_IN, Proposal, example_pair, not_proposed, propose, save_criteria
from untaken.ledger import Run, require_path
from untaken.numbers import counted
from untaken.views import proposal_document

SEEDS = 5


def add_to(verbs: Verbs) -> None:
    """Adds the verb."""
    parser = verb(verbs, "propose", run_propose, "ask a language model for criteria to judge runs by")
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="ledgers to take a successful and a failed run from"
    )
    words = "what the agent is for; @FILE reads it from a file"
    parser.takes_one("--task", "TEXT", words, required=True)
    parser.takes_one("--successful", "RUN", "id of the successful run to show")
    parser.takes_one("--failed", "RUN", "id of the failed run to show")
    takes_model(parser)
    parser.add_argument("--seeds", type=int, default=SEEDS, metavar="N", help=f"how often to ask ({SEEDS})")
    parser.takes_one("--tau", "T", "cosine above which two criteria are merged", type=float)
    parser.takes_out("FILE", "write the criteria file (*.criteria.json)")


def run_propose(args: argparse.Namespace, console: Console) -> int:
    """Prints what was proposed; 1 where a ledger is broken.

    Raises:
        UntakenError: ``criteria-not-proposed``.
    """
    _check(args)
    task = _task(args.task)
    ledgers = read_ledgers(args.paths, console) if args.paths else Ledgers.none()
    successful, failed = _pair(args, ledgers.every_run)
    with model_of(args, console) as model:
        found = propose(
            task,
            successful=successful,
            failed=failed,
            model=model,
            seeds=range(args.seeds),
            tau=args.tau,
            progress=console.progress,
        )
        _print(found, console)
        # Before the error, too: it says what was asked, and what came back.
        console.document(
            proposal_document(
                found, model=model.name, successful=successful, failed=failed, findings=ledgers.findings
            )
        )
    if not found.criteria.criteria:
        raise not_proposed(found)
    if args.out:
        save_criteria(found.criteria, args.out)
        console.warn(f"written: {plain(args.out)}")  # on stderr: stdout may be the document
    return 1 if ledgers.broken else 0


def _check(args: argparse.Namespace) -> None:
    if args.seeds < 1:
        raise UsageError("seeds-invalid", "at least one seed is needed", hint="For example --seeds 5.")
    if args.tau is not None and not 0 <= args.tau <= 1:
        raise UsageError("threshold-invalid", "--tau is between 0 and 1", hint="1 merges equal names only.")
    if (args.successful or args.failed) and not args.paths:
        raise UsageError(
            "no-ledgers", "--successful and --failed name runs, but no PATH of a ledger is given"
        )


def _task(words: str) -> str:
    """The text, or that of the file it names with ``@``."""
    if words.startswith("@"):
        require_path(Path(words[1:]))
        words = Path(words[1:]).read_text("utf-8", errors="replace")
    if not words.strip():
        raise UsageError(
            "task-empty",
            "the task description is empty",
            hint="Describe in one sentence what the agent is for.",
        )
    return words.strip()[:TASK_CHARS]


def _pair(args: argparse.Namespace, runs: list[Run]) -> tuple[Run | None, Run | None]:
    """The runs named, else a pair of one task."""
    if args.successful is None and args.failed is None:
        return example_pair(runs)
    by_id = {run.run_id: run for run in runs}
    for name in (args.successful, args.failed):
        if name is not None and name not in by_id:
            raise UsageError(
                "run-unknown",
                f"no run {name!r} in {', '.join(args.paths)}",
                hint="`untaken verify` lists them.",
            )
    return by_id.get(args.successful), by_id.get(args.failed)


def _print(found: Proposal, console: Console) -> None:
    rows = found.consolidation.groups
    values = ("accepted values, worst to best", lambda one: " < ".join(one.criterion.accepted_values))
    console.columns(rows, "criterion=criterion.name, proposed=proposals, from=criterion.origin", values)
    console.say()
    for group in found.consolidation.groups:
        if group.criterion.merged:
            console.say(
                f"{plain(group.criterion.name)} also covers {plain(', '.join(group.criterion.merged))}"
            )
    asked = sum(len(seeds) for seeds in found.answers.values()) + len(found.unanswered)
    proposed = f"{counted(len(rows), 'criterion') if len(rows) == 1 else f'{len(rows)} criteria'}"
    console.say(f"{proposed} of {counted(asked, 'question')}; {len(found.unanswered)} without an answer")
    console.say(f"Merged above a cosine of {found.consolidation.tau:g}: {WORDS_IN[found.consolidation.by]}")
    for why in dict.fromkeys(found.unanswered):
        console.say(f"  unanswered: {plain(why)}")
    console.say(
        "Criteria are used only after a person accepts them, on the Criteria page or in the file (status)."
    )
