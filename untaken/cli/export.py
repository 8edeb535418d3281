"""``untaken export``: runs with scores and verdicts in the formats of other tools."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct, structs

from untaken import facts
from untaken.analysis import evaluate_corpus
from untaken.cli.console import Console, plain
from untaken.cli.grammar import UsageError, Verbs, verb
from untaken.cli.inputs import paths_of, read_graphs, weights_of
from untaken.cli.score import leave_out_judges, read_to_score, scored_paths
from untaken.errors import Finding, Unscored, Where
from untaken.facts import Scoring, find_ledgers
from untaken.ledger import Run, replace, replacing_path
from untaken.numbers import counted
from untaken.scoring import RunScore
from untaken.views import (
    EXPORT_DOCUMENT,
    KEY,
    LANGFUSE,
    PATHS,
    PHOENIX,
    EvaluatedRun,
    Evaluation,
    atif_documents,
    csv_table,
    decisions_in_parts,
    evaluated_run,
    has_number,
    inspect_lines,
    inspect_sample_of,
    is_written,
    langfuse_lines,
    otlp_lines,
    phoenix_lines,
    send_lines,
    trace_of,
    xes_log,
)
from untaken.workspace import settings_of

if TYPE_CHECKING:
    import pandas as pd

ONE_FILE: Final[Mapping[str, Callable[[Iterable[EvaluatedRun]], bytes]]] = {
    "csv": csv_table,
    "xes": lambda runs: "".join(xes_log(runs)).encode(),
}
"""The formats that are one file of all runs, made at once.

`atif` is a folder with one a run, `parquet` a folder of tables.
"""
LINES: Final[Mapping[str, Callable[[Iterable[EvaluatedRun]], Iterator[str]]]] = {
    "otel": otlp_lines,
    "langfuse": langfuse_lines,
    "phoenix": phoenix_lines,
    "inspect": inspect_lines,
}
"""The formats of which each line is a request, or an edit, of its own."""
BACK: Final[Mapping[str, tuple[Callable[[Run], object], Callable[[Evaluation], bool]]]] = {
    "langfuse": (partial(trace_of, starts=LANGFUSE), is_written),
    "phoenix": (partial(trace_of, starts=PHOENIX), is_written),
    "inspect": (inspect_sample_of, has_number),
}
"""What of a run names its place in the tool that takes results back; and which results it takes."""
_BACK_WHERE_FROM: Final = "Results go back to the tool whose traces were converted."
FOLDERS: Final = ("atif", "parquet")


def add_to(verbs: Verbs) -> None:
    """Adds the verb."""
    parser = verb(verbs, "export", export)
    parser.takes_graphs()
    parser.takes_weights()
    parser.add_argument("--to", required=True, choices=(*LINES, *ONE_FILE, *FOLDERS), help="the format")
    parser.takes_one(
        "--send", "URL", f"also send it there (otel, langfuse, phoenix); the key is read from {KEY}"
    )
    parser.takes_out("OUT", "the file, of atif and parquet the folder; otherwise stdout")
    parser.takes_one("--decisions", "FILE", "also write every path not taken, as Parquet")
    parser.takes_one("--statements", "FILE", "also write the statements on plan decisions, as Parquet")


def export(args: argparse.Namespace, console: Console) -> int:
    """Writes the runs that are not broken, and names the others.

    Raises:
        UsageError: ``export-needs-out``, ``output-not-a-folder``, ``export-address``.
        UntakenError: as `send_lines` and `facts.refuse_nothing`.
    """
    if args.send and args.to not in PATHS:
        raise UsageError("export-address", f"--to {args.to} is a file: nothing takes it by request")
    needs_out = args.to in FOLDERS or console.json  # with --json, stdout is the document
    if needs_out and not args.out:
        what = "--json" if console.json else f"--to {args.to}"
        raise UsageError("export-needs-out", f"{what} cannot go to stdout", hint="Name it with -o OUT.")
    done = _tables(args, console) if args.to == "parquet" else _held(args, console)
    if done.sent is not None:
        console.say(f"{counted(done.sent, 'request')} sent")
    if args.out:
        found = counted(done.runs, "run"), counted(done.results, "result")
        console.say(plain(f"{', '.join(found)} → {args.out}"))
    more = _more_tables(args, console) if args.decisions or args.statements else []
    console.document(
        EXPORT_DOCUMENT(
            to=args.to,
            files=[file.as_posix() for file in (*done.files, *more)],
            runs=done.runs,
            results=done.results,
            findings=done.findings,
        )
    )
    return 0


class Exported(Struct, frozen=True, kw_only=True):
    """What was written."""

    files: list[Path]
    runs: int
    results: int
    findings: tuple[Finding, ...]
    sent: int | None = None


def _tables(args: argparse.Namespace, console: Console) -> Exported:
    """Each run's rows are worked out while it is read: no run is held."""
    paths, graphs, out = paths_of(args), read_graphs(args.graphs), Path(args.out)
    leave_out_judges(args, console, paths, graphs)
    done = facts.write_facts(
        out,
        *find_ledgers(paths),
        scoring=Scoring(graphs=graphs, missing=args.missing, verdicts=tuple(args.verdicts)),
        cluster=args.cluster,
        progress=console.progress,
    )
    return Exported(
        files=[out / file for file in done.files],
        runs=done.runs,
        results=done.results,
        findings=done.findings,
    )


def _held(args: argparse.Namespace, console: Console) -> Exported:
    """Each run's results are made when it is its turn, and let go once they are written."""
    scored = scored_paths(args, console, detail=True)
    facts.refuse_nothing(len(scored.ledgers.sound_runs), scored.findings)
    results: list[int] = []
    strangers: list[str] = []
    place, taken = BACK.get(args.to, (None, None))

    def evaluated() -> Iterator[EvaluatedRun]:
        for run in scored.ledgers.sound_runs:
            score = scored.scores.get(run.digest, Unscored("no plan graph"))
            # What it works out for this run is let go with it, not kept with the score.
            if isinstance(score, RunScore):
                score = structs.replace(score, detail=score.detail.apart())
            if place is not None and place(run) is None:
                strangers.append(run.run_id)
                continue
            each = evaluated_run(run, score, verdicts=args.verdicts)
            results.append(sum(taken is None or taken(one) for one in each.evaluations))
            yield each

    sent, files, refused = None, [], 0
    if args.to in LINES:
        lines = list(LINES[args.to](evaluated()))
        # Only once every run was looked at is it known that none came from there.
        if strangers and not results:
            raise UsageError(
                "run-from-elsewhere", f"none of these runs came from {args.to}", hint=_BACK_WHERE_FROM
            )
        content = "".join(f"{line}\n" for line in lines).encode()
        if args.send:
            sent, refused = send_lines(lines, args.send, args.to)
    elif args.to in ONE_FILE:
        content = ONE_FILE[args.to](evaluated())
    else:
        content, files = b"", _write_folder(evaluated(), Path(args.out))
    if args.out and not files:
        # An export can be made again: no need to wait for the disk.
        replace(Path(args.out), content, sync=False)
        files = [Path(args.out)]
    elif not args.out and not args.send:
        console.write(content.decode())
    return Exported(
        files=files,
        runs=len(results),
        results=sum(results),
        findings=(*scored.findings, *_not_taken(args.to, strangers, refused)),
        sent=sent,
    )


def _not_taken(to: str, strangers: Sequence[str], refused: int) -> Iterator[Finding]:
    """Runs that the tool knows nothing of, and results that it refused."""
    if strangers:
        named = ", ".join(strangers[:3])
        yield Finding(
            code="run-from-elsewhere",
            message=f"{counted(len(strangers), 'run')} did not come from {to}: {named}",
            hint=_BACK_WHERE_FROM,
        )
    if refused:
        yield Finding(code="results-refused", message=f"{to} refused {counted(refused, 'result')}")


def _more_tables(args: argparse.Namespace, console: Console) -> list[Path]:
    """Decisions and statements, which rest on all runs: they are read again, and held without their texts."""
    from untaken.views import statements_table  # noqa: PLC0415 (slow: imports NumPy)

    ledgers, graphs = read_to_score(args, console)
    corpus = evaluate_corpus(
        ledgers.every_run,
        graphs,
        missing=args.missing,
        verdicts=args.verdicts,
        weights=weights_of(args),
        identity=settings_of(args.paths).identity,
        progress=console.progress,
    )
    written = []
    tables: list[tuple[str | None, str, Callable[[], Iterable[pd.DataFrame]]]] = [
        (args.decisions, "path", lambda: decisions_in_parts(corpus)),
        (args.statements, "statement", lambda: [statements_table(corpus.plans)]),
    ]
    for name, row, parts in tables:
        if name:
            with replacing_path(Path(name)) as file:  # the whole file or none
                rows = facts.write_frames(file, parts())
            if args.out:
                console.say(plain(f"{counted(rows, row)} → {name}"))
            written.append(Path(name))
    return written


def _write_folder(runs: Iterable[EvaluatedRun], out: Path) -> list[Path]:
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
