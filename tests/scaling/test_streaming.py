"""Runs that are let go once their results are written give the rows that runs held together give."""

from __future__ import annotations

import pickletools
from functools import partial
from io import BytesIO
from multiprocessing import active_children
from pathlib import Path
from random import Random

import pytest
from builders import a_run
from in_chunks import InChunks
from test_same_results import GRAPHS, SAMPLES, layered_run
from test_scored_while_read import BLOCK, LEDGERS

from untaken import limits
from untaken.corpus import score_runs
from untaken.exporting import ParquetResults, evaluated_run, parquet_table, results_of
from untaken.plans import load_graphs
from untaken.scaling import distant, streaming
from untaken.scaling.distant import RunsAtHand
from untaken.scaling.opening import ClusterPlace, open_cluster
from untaken.scaling.packing import pack
from untaken.scaling.places import Place, find_ledgers
from untaken.scaling.reading import Progress, Scoring, read_ledgers
from untaken.scaling.streaming import Streamed, stream_part, stream_runs

RULES = [((), "fail"), (("human:*", "nobody"), "drop")]


@pytest.fixture(autouse=True)
def nothing_at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every detail is read again, what is made waits on the disk, and long lines are too long."""
    monkeypatch.setattr(distant, "AT_HAND", RunsAtHand(0))
    monkeypatch.setattr(streaming, "IN_MEMORY", 1)
    monkeypatch.setattr(limits, "LINE_BYTES", 3 * BLOCK)


def streamed(
    places: list[Place],
    verdicts: tuple[str, ...] = (),
    missing: str = "fail",
    cluster: ClusterPlace = None,
    progress: Progress | None = None,
) -> tuple[bytes, Streamed]:
    buffer = BytesIO()
    with ParquetResults(buffer) as table, open_cluster(cluster) as workers:
        done = stream_runs(
            places,
            [],
            scoring=Scoring(graphs=load_graphs(GRAPHS), missing=(missing,), verdicts=verdicts),
            make=partial(results_of, verdicts=verdicts),
            take=table.take,
            cluster=workers,
            progress=progress,
        )
    return buffer.getvalue(), done


def assert_as_held(
    places: list[Place], verdicts: tuple[str, ...], missing: str, cluster: ClusterPlace
) -> None:
    ledgers, graphs = read_ledgers(places), load_graphs(GRAPHS)
    scores, found = score_runs(ledgers.every_run, graphs, missing=missing, verdicts=verdicts)
    sound = [evaluated_run(run, scores[run.digest], verdicts=verdicts) for run in ledgers.sound_runs]
    rows, done = streamed(places, verdicts, missing, cluster)
    assert rows == parquet_table(sound)
    assert done.broken == ledgers.broken
    assert done.findings == tuple(dict.fromkeys((*ledgers.findings, *graphs.findings, *found)))


@pytest.mark.parametrize(("verdicts", "missing"), RULES, ids=["all", "some"])
@pytest.mark.parametrize("case", LEDGERS)
def test_the_rows_and_findings_are_those_of_runs_held_together(
    case: str, verdicts: tuple[str, ...], missing: str, tmp_path: Path
) -> None:
    for name in ("a", "b"):  # every run twice
        content = b"".join(line + b"\n" for line in LEDGERS[case]()) or b"\n"
        (tmp_path / f"{name}.jsonl").write_bytes(content)
    places: list[Place] = sorted(tmp_path.glob("*.jsonl"))
    assert_as_held(places, verdicts, missing, None)
    assert_as_held(places, verdicts, missing, InChunks())


@pytest.mark.parametrize(("verdicts", "missing"), RULES, ids=["all", "some"])
def test_so_are_those_of_the_samples_broken_ones_included(verdicts: tuple[str, ...], missing: str) -> None:
    places, _ = find_ledgers([SAMPLES / "ledgers" / "echo-agent.jsonl.gz", SAMPLES / "tampered"])
    for cluster in (None, InChunks()):
        assert_as_held(places, verdicts, missing, cluster)


def test_two_processes_write_what_one_writes_though_a_worker_is_killed(tmp_path: Path) -> None:
    random, killed = Random(5), []
    for number in range(12):
        run = layered_run(f"run-{number}", random)
        (tmp_path / f"{number:02}.jsonl").write_bytes(b"".join(line + b"\n" for line in run.lines))
    places, _ = find_ledgers([tmp_path])

    def kill_one(done: int, total: int, what: str) -> None:
        if not killed:
            worker = active_children()[0]
            worker.kill()
            killed.append(worker.pid)

    assert streamed(places, cluster=2, progress=kill_one) == streamed(places)
    assert killed
    assert not active_children(), "a worker outlives its call"


def test_workers_send_rows_and_no_text_of_a_run(tmp_path: Path) -> None:
    said = "what was said at length " * 400
    runs = [a_run(f"r{n}", task="refund-1").say(said).finish(True) for n in range(50)]
    ledger = tmp_path / "a.jsonl"
    ledger.write_bytes(b"".join(line + b"\n" for run in runs for line in run.lines))
    shared = pack((Scoring(graphs=load_graphs(GRAPHS)), results_of))
    answer = stream_part(shared, pack([ledger]))
    assert b"at length" not in answer
    assert len(answer) < len(runs) * 3_000
    classes = {str(name) for op, name, _ in pickletools.genops(answer) if "UNICODE" in op.name}
    assert not classes & {"Run", "DistantRun", "RunScore", "SkillSelection", "DetailLater"}
