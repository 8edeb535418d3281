"""Ledgers by URL, and workers that are not there."""

from __future__ import annotations

import gzip
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import desk
import pytest
from builders import a_run

from untaken.analysis.corpus import evaluate_corpus
from untaken.cli import main
from untaken.cli.inputs import read_graphs
from untaken.errors import UntakenError
from untaken.facts.scaling.opening import open_cluster
from untaken.facts.scaling.places import find_ledgers
from untaken.ledger import Head, save_heads

fsspec = pytest.importorskip("fsspec", reason="the extra untaken[remote] is not installed")
LINES = a_run("r").call("search").finish(True).lines
LEDGER = b"".join(line + b"\n" for line in LINES)


@pytest.fixture
def bucket() -> Iterator[str]:
    """A store in memory with a ledger in a folder, and things that are none."""
    store = fsspec.filesystem("memory")
    for name, content in (
        ("a.jsonl", LEDGER),
        ("deep/b.jsonl.gz", gzip.compress(LEDGER.replace(b'"r"', b'"s"'), mtime=0)),
        ("policy.memory.jsonl", b"{}\n"),
        ("other.jsonl", b"{}\n"),
        ("notes.txt", b"hello"),
    ):
        store.pipe_file(f"/runs/{name}", content)
    yield "memory://runs"
    store.rm("/runs", recursive=True)


def test_a_folder_of_a_store_is_searched_as_one_on_disk(bucket: str, tmp_path: Path) -> None:
    store = fsspec.filesystem("memory")
    for name in store.find("/runs"):
        copy = tmp_path / name.removeprefix("/runs/")
        copy.parent.mkdir(exist_ok=True)
        copy.write_bytes(store.cat_file(name))
    places, others = find_ledgers([bucket])
    on_disk, others_on_disk = find_ledgers([tmp_path])
    ends = [str(place).partition("runs/")[2] for place in places]
    assert ends == [str(place.relative_to(tmp_path)) for place in on_disk] == ["a.jsonl", "deep/b.jsonl.gz"]
    assert [o.code for o in others] == [o.code for o in others_on_disk] == ["not-a-ledger"]


def test_a_remote_ledger_is_verified_against_its_remote_heads(bucket: str, tmp_path: Path) -> None:
    heads = tmp_path / "heads.json"
    save_heads(heads, {"r": Head(events=len(LINES) + 1, sha256="0" * 64)})
    fsspec.filesystem("memory").pipe_file("/runs/a.jsonl.heads.json", heads.read_bytes())
    corpus = evaluate_corpus(f"{bucket}/a.jsonl", [], resamples=0)
    [run] = corpus.runs.values()
    assert (run.source, run.integrity.verdict) == ("memory:///runs/a.jsonl", "TRUNCATED")
    assert [finding.code for finding in corpus.findings][:1] == ["ledger-truncated"]


@pytest.mark.parametrize("inside", ["zip://a.jsonl::", "zip://::", "simplecache::zip://a.jsonl::"])
def test_a_ledger_inside_an_archive_is_read_with_its_heads(inside: str, tmp_path: Path) -> None:
    heads = tmp_path / "heads.json"
    save_heads(heads, {"r": Head(events=len(LINES) + 1, sha256="0" * 64)})
    with zipfile.ZipFile(tmp_path / "runs.zip", "w") as archive:
        archive.writestr("a.jsonl", LEDGER)
        archive.write(heads, "a.jsonl.heads.json")
    corpus = evaluate_corpus(f"{inside}{tmp_path}/runs.zip", [], resamples=0)
    [run] = corpus.runs.values()
    assert run.source.endswith(f"zip://a.jsonl::{tmp_path}/runs.zip")
    assert run.integrity.verdict == "TRUNCATED"


WRONG_PATHS = {
    "memory://nothing/here.jsonl": "remote-unreadable",
    "nosuch://bucket/a.jsonl": "remote-unreadable",
    "nothing/here.jsonl": "path-not-found",
    f"zip://a.jsonl::{__file__}": "remote-unreadable",
}


@pytest.mark.parametrize("path", WRONG_PATHS)
def test_what_cannot_be_reached_is_named(path: str) -> None:
    with pytest.raises(UntakenError) as error:
        find_ledgers([path])
    assert error.value.code == WRONG_PATHS[path]
    assert path.partition("::")[0] in (error.value.where.file or "")


def test_without_its_extra_a_url_or_an_address_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("fsspec.core", "distributed"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(UntakenError) as error:
        find_ledgers(["s3://bucket/runs"])
    assert error.value.code == "remote-extra-missing"
    assert "untaken[remote]" in error.value.hint
    with pytest.raises(UntakenError) as error, open_cluster("tcp://127.0.0.1:1"):
        pass
    assert error.value.code == "cluster-extra-missing"
    assert "untaken[cluster]" in error.value.hint


@pytest.mark.parametrize("place", ["0", 0, -1, "many"])
def test_a_cluster_is_a_number_of_processes_or_an_address(place: object) -> None:
    with pytest.raises(UntakenError) as error, open_cluster(place):
        pass
    assert error.value.code == "cluster-invalid"


def test_plan_graphs_are_read_by_url_as_from_the_disk(bucket: str) -> None:
    store = fsspec.filesystem("memory")
    store.pipe_file("/runs/graphs/desk.plan.yaml", desk.GRAPH)
    store.pipe_file("/runs/graphs/other.plan.yaml", b"id: other\nsub_goals: 3\n")
    found = read_graphs([bucket])
    assert [graph.id for graph in found.graphs] == ["desk"]
    assert [str(one.where) for one in found.findings if one.severity == "error"] == [
        "memory:///runs/graphs/other.plan.yaml:2"
    ]
    assert read_graphs([f"{bucket}/graphs/desk.plan.yaml"]).graphs == found.graphs
    with pytest.raises(UntakenError) as missing:
        read_graphs([f"{bucket}/graphs/none.plan.yaml"])
    assert missing.value.code == "remote-unreadable"


def test_graph_verbs_read_plan_graphs_by_url(bucket: str, capsys: pytest.CaptureFixture[str]) -> None:
    url = "memory:///runs/graphs/desk.plan.yaml"
    fsspec.filesystem("memory").pipe_file("/runs/graphs/desk.plan.yaml", desk.GRAPH)
    assert [
        main(["graph", *words]) for words in (["check", bucket], ["diff", url, url], ["export", url])
    ] == [0] * 3
    assert url in capsys.readouterr().out
