"""What many processes find is what one process finds, byte for byte."""

from __future__ import annotations

from multiprocessing import active_children
from pathlib import Path
from random import Random

import pytest
from builders import a_run
from in_chunks import InChunks

from untaken.analysis.corpus import evaluate_corpus
from untaken.cli import parser
from untaken.cli.running import carry_out
from untaken.facts.scaling.pool import Cluster
from untaken.ledger import SkillSelection

SAMPLES = Path(__file__).parents[2] / "sample_runs"
GRAPHS = str(SAMPLES / "graphs")
NAMED = ("ledgers/careful-planner.jsonl", "ledgers/echo-agent.jsonl.gz", "tampered")
SKILLS = ("a", "b", "c")


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Sample runs, broken ones, and runs of a task without a graph that decide in layered contexts."""
    folder, random = tmp_path_factory.mktemp("layered"), Random(3)
    for number in range(6):
        runs = [layered_run(f"run-{number}-{n}", random) for n in range(5)]
        (folder / f"{number}.jsonl").write_bytes(b"".join(line + b"\n" for run in runs for line in run.lines))
    return [*(str(SAMPLES / name) for name in NAMED), str(folder)]


def layered_run(run_id: str, random: Random):
    run = a_run(run_id, agent=random.choice("mn"), task=random.choice("tuv"))
    for _ in range(random.randint(1, 5)):
        context, layers = random.choice(["x1", "x2", "y1"]), random.choice([1, 2, 3])
        run.add(
            SkillSelection,
            selected=random.choice(SKILLS),
            alternatives=list(SKILLS),
            context_hash=context,
            context_layers=(context, context[0], "all")[:layers] if layers > 1 else None,
        )
        run.call("search", ok=random.random() < 0.5)
    return run.finish(
        random.random() < 0.6, cost=random.choice([None, 0.1, 1 / 3]), steps=random.randint(1, 9)
    )


def printed(words: list[str], cluster: Cluster | None, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    args = parser(words[:1]).parse_args(words)
    args.cluster = cluster
    return carry_out(args), capsys.readouterr().out


VERBS = {
    "score": ["--runs"],
    "score, unreliable judges left out": ["--min-kappa", "0.9"],
    "rank": ["--resamples", "50"],
    "rank, drop": ["--missing", "drop", "--resamples", "50"],
    "counterfactual": ["--diagnostics"],
    "triage": ["--verdicts", "human:*", "--top", "0"],
    "gate": ["--require", "completion>=0.5", "--resamples", "50"],
}


@pytest.mark.parametrize("case", VERBS)
def test_a_verb_prints_the_same_bytes_with_workers(case, paths, capsys) -> None:
    words = [case.split(",", maxsplit=1)[0], *paths, "--graphs", GRAPHS, "--json", *VERBS[case]]
    cluster = InChunks()
    assert printed(words, cluster, capsys) == printed(words, None, capsys)
    assert min(cluster.chunks) > 1, "the work was not shared"


def test_the_report_has_the_same_bytes_with_workers(paths, tmp_path, capsys) -> None:
    pages = []
    for number, cluster in enumerate((InChunks(), None)):
        page = tmp_path / f"{number}.html"
        words = ["report", *paths[2:], "--graphs", GRAPHS, "--html", str(page), "--full"]
        printed(words, cluster, capsys)
        pages.append(page.read_bytes())
    assert pages[0] == pages[1]


def test_two_processes_give_what_one_gives_though_a_worker_is_killed(paths: list[str]) -> None:
    killed: list[int | None] = []

    def kill_one(done: int, total: int, what: str) -> None:
        if what == "reading ledgers" and not killed:
            worker = active_children()[0]
            worker.kill()
            killed.append(worker.pid)

    alone = evaluate_corpus(paths, GRAPHS, resamples=50)
    shared = evaluate_corpus(paths, GRAPHS, resamples=50, cluster=2, progress=kill_one)
    assert killed
    assert not active_children(), "a worker outlives its call"
    assert list(shared.runs) == list(alone.runs)
    assert shared.scores == alone.scores
    assert dict(shared.evaluations) == dict(alone.evaluations)
    for what in ("status", "summary", "actual_score", "decisions"):
        of_shared, of_alone = getattr(shared.evaluations, what), getattr(alone.evaluations, what)
        assert [of_shared(digest) for digest in alone.runs] == [of_alone(digest) for digest in alone.runs]
    assert (shared.ranking, shared.agents, shared.findings) == (alone.ranking, alone.agents, alone.findings)
