"""Facts made while ledgers are read, by one process or many, are those of runs held together."""

from __future__ import annotations

import pickletools
from multiprocessing import active_children
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from random import Random

import pytest
from builders import a_run
from in_chunks import InChunks
from test_same_results import GRAPHS, SAMPLES, layered_run
from test_scored_while_read import BLOCK, LEDGERS

from untaken import limits
from untaken.analysis.corpus import score_runs
from untaken.errors import UntakenError
from untaken.facts.making import MadeFacts, facts_part, write_facts
from untaken.facts.rows import RunWithScore
from untaken.facts.scaling import distant
from untaken.facts.scaling.distant import RunsAtHand
from untaken.facts.scaling.ledger_record import Scoring
from untaken.facts.scaling.opening import ClusterPlace, open_cluster
from untaken.facts.scaling.places import Place, find_ledgers
from untaken.facts.scaling.reading import Progress, read_ledgers
from untaken.facts.tables import facts_of
from untaken.plans import load_graphs

RULES = [((), "fail"), (("human:*", "nobody"), "drop")]


@pytest.fixture(autouse=True)
def nothing_at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every detail is read again, and long lines are too long."""
    monkeypatch.setattr(distant, "AT_HAND", RunsAtHand(0))
    monkeypatch.setattr(limits, "LINE_BYTES", 3 * BLOCK)


def made(
    folder: Path,
    places: list[Place],
    verdicts: tuple[str, ...] = (),
    missing: str = "fail",
    cluster: ClusterPlace = None,
    progress: Progress | None = None,
) -> tuple[dict[str, bytes], MadeFacts]:
    """The files, by name."""
    scoring = Scoring(graphs=load_graphs(GRAPHS), missing=missing, verdicts=verdicts)
    with open_cluster(cluster) as workers:
        done = write_facts(folder, places, [], scoring=scoring, cluster=workers, progress=progress)
    return {file: (folder / file).read_bytes() for file in done.files}, done


def assert_as_held(
    folder: Path, places: list[Place], verdicts: tuple[str, ...], missing: str, cluster: ClusterPlace
) -> None:
    ledgers, graphs = read_ledgers(places), load_graphs(GRAPHS)
    scores, found = score_runs(ledgers.every_run, graphs, missing=missing, verdicts=verdicts)
    rows = []
    for run in ledgers.sound_runs:
        plan = graphs.for_task(run.task_id, run.started.graph)[0]
        one = RunWithScore(run=run, score=scores[run.digest], plan=plan, verdicts=verdicts)
        rows += facts_of([one])
    taken: list[object] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("untaken.facts.parts.FactWriter._write", lambda self: taken.extend(self._waiting))
        _, done = made(folder, places, verdicts, missing, cluster)
    as_lists = [{name: [list(column) for column in columns] for name, columns in run.items()} for run in rows]
    assert [{**run} for run in taken] == [_plain(run) for run in as_lists]
    assert done.broken == ledgers.broken
    assert done.findings == tuple(dict.fromkeys((*ledgers.findings, *graphs.findings, *found)))


def _plain(value: object) -> object:
    """What comes back from another process: lists for tuples."""
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value


@pytest.mark.parametrize(("verdicts", "missing"), RULES, ids=["all", "some"])
@pytest.mark.parametrize("case", LEDGERS)
def test_the_rows_and_findings_are_those_of_runs_held_together(case, verdicts, missing, tmp_path) -> None:
    for name in ("a", "b"):  # every run twice
        content = b"".join(line + b"\n" for line in LEDGERS[case]()) or b"\n"
        (tmp_path / f"{name}.jsonl").write_bytes(content)
    places: list[Place] = sorted(tmp_path.glob("*.jsonl"))
    for cluster in (None, InChunks()):
        if case == "nothing":
            with pytest.raises(UntakenError, match="nothing-to-write"):
                made(tmp_path / "facts", places, verdicts, missing, cluster)
        else:
            assert_as_held(tmp_path / "facts", places, verdicts, missing, cluster)


@pytest.mark.parametrize(("verdicts", "missing"), RULES, ids=["all", "some"])
def test_so_are_those_of_the_samples_broken_ones_included(verdicts, missing, tmp_path) -> None:
    places, _ = find_ledgers([SAMPLES / "ledgers" / "echo-agent.jsonl.gz", SAMPLES / "tampered"])
    for cluster in (None, InChunks()):
        assert_as_held(tmp_path / "facts", places, verdicts, missing, cluster)


def test_two_processes_write_the_files_of_one_though_a_worker_is_killed(tmp_path: Path) -> None:
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

    two = made(tmp_path / "two", places, cluster=2, progress=kill_one)
    assert two == made(tmp_path / "one", places)
    assert killed
    assert not active_children(), "a worker outlives its call"


def test_workers_send_rows_and_no_text_of_a_run(tmp_path: Path) -> None:
    said = "what was said at length " * 400
    runs = [a_run(f"r{n}", task="refund-1").say(said).finish(True) for n in range(50)]
    ledger = tmp_path / "a.jsonl"
    ledger.write_bytes(b"".join(line + b"\n" for run in runs for line in run.lines))
    (rows,) = facts_part(Scoring(graphs=load_graphs(GRAPHS)), [ledger])
    answer = bytes(ForkingPickler.dumps(rows))
    assert b"at length" not in answer
    assert len(answer) < len(runs) * 6_000
    classes = {str(name) for op, name, _ in pickletools.genops(answer) if "UNICODE" in op.name}
    assert not classes & {"Run", "DistantRun", "RunScore", "SkillSelection", "DetailLater"}
    assert len(rows[0]) == len(runs)
