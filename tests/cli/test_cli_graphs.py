"""Plan graphs on the command line: compared, drawn, discovered."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import desk
import jsonschema
import pytest

from untaken.cli import main
from untaken.plans import load_graph
from untaken.views import SCHEMAS, json_schema

HOSTILE = "</title><script>alert(1)</script>&\\u0007"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """The desk, its next version, one with hostile words, and one that is none."""
    folder = desk.write_folder(tmp_path / "world")
    newer = desk.GRAPH.replace(b"title: Refund desk", b"title: Refund desk\nversion: 2")
    newer = newer.replace(b"- id: refund", b"- id: pay").replace(b"  critical: true\n", b"")
    (folder / "new.plan.yaml").write_bytes(newer)
    hostile = desk.GRAPH.replace(b"title: Check policy", f'title: "{HOSTILE}"'.encode())
    (folder / "hostile.plan.yaml").write_bytes(hostile)
    (folder / "other").mkdir()
    (folder / "other" / "o.plan.yaml").write_text("id: o\ntasks: [other]\nsub_goals: [{id: a}]\n")
    (folder / "bad.plan.yaml").write_text("id: g\nsub_goals: [{id: a, deps: [a]}]\n")
    (folder / "empty.plan.yaml").write_text("id: g\nsub_goals: []\nmetadata: {nothing_expected: true}\n")
    return folder


OLD = "{w}/graphs/desk.plan.yaml"
EXITS = {
    "nothing differs": (f"graph diff {OLD} {OLD}", 0, ""),
    "something differs": (f"graph diff {OLD} {{w}}/new.plan.yaml", 1, ""),
    "one is no valid graph": (f"graph diff {OLD} {{w}}/bad.plan.yaml", 2, "graph-self-dependency"),
    "one is not there": (f"graph diff {OLD} {{w}}/nowhere", 2, "No such file"),
    "drawn": (f"graph draw {OLD} -o {{w}}/a.svg", 0, ""),
    "drawn nowhere": (f"graph draw {OLD}", 2, "--out"),
    "drawn with a run": (f"graph draw {OLD} -o {{w}}/a.svg --run {{w}}/ledgers/lucky-10.jsonl", 0, ""),
    "one run of many": (f"graph draw {OLD} -o {{w}}/a.svg --run {{w}}/ledgers", 2, "run-unknown"),
    "a run named": (f"graph draw {OLD} -o {{w}}/a.svg --run {{w}}/ledgers --run-id lucky-10", 0, ""),
    "a run not there": (f"graph draw {OLD} -o {{w}}/a.svg --run {{w}}/ledgers --run-id x", 2, "run-unknown"),
    "discovered": ("graph discover {w}/ledgers -o {w}/d.plan.yaml", 0, "written"),
    "discovered by rules": (
        "graph discover {w}/ledgers --agent careful --min-runs 3 --graphs {w}/graphs",
        0,
        "draft-one-order",
    ),
    "paths last": ("graph discover --graphs {w}/graphs {w}/ledgers", 0, ""),
    "no graph of theirs": ("graph discover {w}/ledgers --task other --graphs {w}/graphs", 2, "no-graphs"),
    "nobody succeeded": ("graph discover {w}/ledgers --agent failing", 2, "draft-without-runs"),
    "nobody of that name": ("graph discover {w}/ledgers --agent nobody", 2, "agent-unknown"),
    "no threshold": ("graph discover {w}/ledgers --theta 0.4", 2, "draft-threshold-invalid"),
    "runs of two graphs": ("graph discover {w}/ledgers --graphs {w}/graphs {w}/other", 2, "draft-of-several"),
    "one of two graphs": ("graph discover {w}/ledgers --task refund* --graphs {w}/graphs {w}/other", 0, ""),
    "nothing to draw": ("graph draw {w}/empty.plan.yaml -o {w}/a.svg", 2, "graph-not-drawn"),
}


@pytest.mark.parametrize(("words", "want", "says"), EXITS.values(), ids=EXITS)
def test_exit_codes(
    words: str, want: int, says: str, world: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words.format(w=world).split()) == want
    shown = capsys.readouterr()
    assert says in shown.err
    assert want == 2 or shown.out or says


def test_the_differences_are_listed_and_the_document_fits_its_schema(
    world: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["graph", "diff", str(world / "graphs" / "desk.plan.yaml"), str(world / "new.plan.yaml")]
    assert main(words) == 1
    shown = capsys.readouterr().out
    assert "'refund' may now be called 'pay'" in shown
    assert main([*words, "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, json_schema("graph-diff"))
    assert document["fields"] == [{"field": "version", "before": 1, "after": 2}]
    assert document["renamed"] == [{"before": "refund", "after": "pay"}]
    (policy,) = document["changed"]
    assert policy["fields"] == [{"field": "critical", "before": True, "after": False}]
    assert document["edges_added"] == [{"dependency": "policy", "sub_goal": "pay"}]
    listed = shown.splitlines()
    assert listed[-1] == "6 differences"
    assert sum(line.startswith(("+", "-", "~")) for line in listed) == 6


def drawn(world: Path, name: str, *more: str) -> str:
    target = world / "a.svg"
    assert main(["graph", "draw", str(world / name), "-o", str(target), *more]) == 0
    return target.read_text("utf-8")


def test_a_picture_of_a_run_shows_each_status_by_its_icon_and_says_what_icons_mean(world: Path) -> None:
    text = drawn(world, "graphs/desk.plan.yaml", "--run", str(world / "ledgers" / "lucky-10.jsonl"))
    words = [node.text or "" for node in ElementTree.fromstring(text).iter(f"{SVG}text")]
    assert [word for word in words if "Check policy" in word] == ["– ★ Check policy"]
    assert "✓ Look up order" in words
    assert "– skipped: 1" in words
    assert "╌ went on without a critical step" in words
    assert "Run lucky-10 of lucky" in words


def test_a_plan_alone_has_no_status(world: Path) -> None:
    words = [n.text for n in ElementTree.fromstring(drawn(world, "graphs/desk.plan.yaml")).iter(f"{SVG}text")]
    assert words[:4] == ["Look up order", "★ Check policy", "Refund", "Be polite"]


def test_hostile_titles_stay_words_and_the_file_needs_nothing_from_elsewhere(world: Path) -> None:
    text = drawn(world, "hostile.plan.yaml")
    tree = ElementTree.fromstring(text)
    tags = {node.tag.removeprefix(SVG) for node in tree.iter()}
    assert tags == {"svg", "title", "desc", "style", "rect", "g", "path", "text"}
    assert "<script" not in text
    assert "</title><script>" in "".join(node.text or "" for node in tree.iter(f"{SVG}text"))
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "url(" not in text


def test_the_same_graph_gives_the_same_bytes(world: Path) -> None:
    assert drawn(world, "hostile.plan.yaml") == drawn(world, "hostile.plan.yaml")


def test_a_draft_is_written_shown_and_compared_with_the_current_version(
    world: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = world / "next.plan.yaml"
    words = f"graph discover {world}/ledgers --graphs {world}/graphs --min-runs 3 -o {target}".split()
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert "8 successful runs used (careful 4, lucky 4)" in shown
    assert "4 runs failed left out" in shown
    assert "desk version 1 → desk version 2" in shown
    assert [" ".join(line.split()) for line in shown.splitlines() if line.startswith("-  sub-goal")] == [
        "- sub-goal polite Be polite"
    ], "what only a verdict decides leaves no trace in the order of actions"
    assert main([*words, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, json_schema("graph-discover"))
    told = [(e["dependency"], e["sub_goal"], e["first"], e["both"], e["alone"]) for e in document["edges"]]
    assert told == [("order", "policy", 4, 4, 0), ("policy", "refund", 4, 4, 4)]
    assert load_graph(target).metadata["draft"] is True
    assert main(["graph", "check", str(target)]) == 0


def test_a_draft_among_the_graphs_scores_nothing_and_is_named(
    world: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scored = ["score", str(world / "ledgers"), "--graphs", str(world / "graphs"), "--json"]
    assert main(scored) == 0
    before = json.loads(capsys.readouterr().out)["agents"]
    out = str(world / "graphs" / "next.plan.yaml")
    assert main(["graph", "discover", *scored[1:4], "-o", out]) == 0
    capsys.readouterr()
    assert main(scored) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["agents"] == before
    assert "graph-draft" in [finding["code"] for finding in document["findings"]]


def test_the_same_runs_give_the_same_draft_in_any_order_of_files(world: Path) -> None:
    files = sorted(map(str, (world / "ledgers").glob("*.jsonl")))
    texts = set()
    for number, order in enumerate((files, files[::-1])):
        target = world / f"d{number}" / "d.plan.yaml"
        target.parent.mkdir()
        assert main(["graph", "discover", *order, "-o", str(target)]) == 0
        texts.add(target.read_bytes())
    assert len(texts) == 1


def test_a_picture_in_another_format_is_refused_before_anything_is_written(
    world: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = world / "x.png"
    assert main(["graph", "draw", OLD.format(w=world), "-o", str(picture)]) == 2
    said = capsys.readouterr().err
    assert "only SVG is drawn" in said
    assert "ends in .svg" in said
    assert not picture.exists()


def test_a_picture_and_the_list_of_schemas_are_documents_with_a_schema(
    world: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = world / "a.svg"
    assert main(["graph", "draw", OLD.format(w=world), "-o", str(target), "--json"]) == 0
    drawn = json.loads(capsys.readouterr().out)
    jsonschema.validate(drawn, json_schema("graph-draw"))
    assert (drawn["bytes"], drawn["run_id"]) == (target.stat().st_size, None)
    assert main(["schema", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    jsonschema.validate(listed, json_schema("schemas"))
    assert listed["names"] == list(SCHEMAS)
