"""``untaken export``: runs with scores and verdicts in the formats of other tools."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from msgspec import structs

from untaken.answers import ExportDocument
from untaken.cli.console import Console, plain
from untaken.cli.grammar import UsageError, Verbs, verb
from untaken.cli.score import scored_paths
from untaken.errors import Unscored, Where
from untaken.exporting import (
    EvaluatedRun,
    atif_documents,
    csv_table,
    evaluated_run,
    otlp_lines,
    parquet_table,
    xes_log,
)
from untaken.ledger.disk import replace
from untaken.present.numbers import counted
from untaken.subgoals import RunScore

ONE_FILE: Final[Mapping[str, Callable[[Iterable[EvaluatedRun]], bytes]]] = {
    "otel": lambda runs: "".join(f"{line}\n" for line in otlp_lines(runs)).encode(),
    "csv": csv_table,
    "parquet": parquet_table,
    "xes": lambda runs: "".join(xes_log(runs)).encode(),
}
"""The formats that are one file of all runs; `atif` is a folder with one a run."""
BINARY: Final = ("parquet",)


def add_to(verbs: Verbs) -> None:
    """Adds the verb."""
    parser = verb(verbs, "export", export)
    parser.takes_graphs()
    parser.add_argument("--to", required=True, choices=(*ONE_FILE, "atif"), help="the format")
    parser.takes_out("OUT", "the file, of atif the folder; otherwise stdout, where that can be")


def export(args: argparse.Namespace, console: Console) -> int:
    """Writes the runs that are not broken; 1 where a ledger is broken or a plan graph invalid.

    Raises:
        UsageError: ``export-needs-out``, ``output-not-a-folder``.
    """
    needs_out = args.to in ("atif", *BINARY) or console.json
    if needs_out and not args.out:
        what = "--json" if console.json else f"--to {args.to}"
        raise UsageError("export-needs-out", f"{what} cannot go to stdout", hint="Name it with -o OUT.")
    scored = scored_paths(args, console, detail=True)
    results: list[int] = []

    def evaluated() -> Iterator[EvaluatedRun]:
        """Each run's results, made when it is its turn, and let go once they are written."""
        for run in scored.ledgers.sound_runs:
            score = scored.scores.get(run.digest, Unscored("no plan graph"))
            if isinstance(score, RunScore):
                score = structs.replace(score, detail=score.detail.apart())
            each = evaluated_run(run, score, verdicts=args.verdicts)
            results.append(len(each.evaluations))
            yield each

    runs = evaluated()
    files = _write(args.to, runs, Path(args.out)) if args.out else []
    if not args.out:
        console.write(ONE_FILE[args.to](runs).decode())
    else:
        found = counted(len(results), "run"), counted(sum(results), "result")
        console.say(plain(f"{', '.join(found)} → {args.out}"))
    console.document(
        ExportDocument(
            to=args.to,
            files=[file.as_posix() for file in files],
            runs=len(results),
            results=sum(results),
            findings=scored.findings,
        )
    )
    return 1 if scored.broken else 0


def _write(to: str, runs: Iterable[EvaluatedRun], out: Path) -> list[Path]:
    if to != "atif":
        replace(out, ONE_FILE[to](runs), sync=False)
        return [out]
    if out.exists() and not out.is_dir():
        raise UsageError(
            "output-not-a-folder", "the output is a file", where=Where(file=str(out)), hint="Name a folder."
        )
    out.mkdir(parents=True, exist_ok=True)
    written = []
    for name, content in atif_documents(runs):
        replace(out / name, content, sync=False)
        written.append(out / name)
    return written
