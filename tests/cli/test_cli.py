"""The command line: what is printed, and how it ends."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import desk
import jsonschema
import pytest
from builders import a_graph, a_run

from untaken.cli import main
from untaken.cli.console import Console, plain
from untaken.plans import save_graph
from untaken.views import SCHEMAS, json_schema
from untaken.views.documents import dump
from untaken.workspace import Workspace

Patch = pytest.MonkeyPatch
Capture = pytest.CaptureFixture[str]


def document(words: list[str], capsys: Capture, want: int) -> dict[str, Any]:
    """What a command prints under ``--json``."""
    assert main([*words, "--json"]) == want
    return dict(json.loads(capsys.readouterr().out))


def test_nothing_is_appended_to_a_ledger_in_which_anything_is_broken_or_where_one_is_compressed(
    tmp_path: Path, capsys: Capture
) -> None:
    mixed, sound, packed = tmp_path / "a.jsonl", tmp_path / "b.jsonl", tmp_path / "c.jsonl.gz"
    altered = desk.careful(2).ledger().replace(b'"search"', b'"sealed"', 1)
    mixed.write_bytes(desk.careful(1).ledger() + altered)
    sound.write_bytes(desk.careful(3).ledger())
    packed.write_bytes(gzip.compress(desk.careful(4).ledger()))
    before = mixed.read_bytes(), sound.read_bytes()
    assert main(["counterfactual", str(tmp_path), "--append"]) == 2
    assert "ledger-compressed" in capsys.readouterr().err
    assert (mixed.read_bytes(), sound.read_bytes()) == before
    packed.unlink()
    found = document(["counterfactual", str(tmp_path), "--append"], capsys, 1)
    assert mixed.read_bytes() == before[0]
    assert b"EVALUATION_SUMMARY" in sound.read_bytes()
    assert [f["file"] for f in found["findings"] if f["code"] == "insights-not-appended"] == [str(mixed)]


def test_all_schemas_are_schemas_and_ledger_lines_fit_theirs() -> None:
    for name in SCHEMAS:
        jsonschema.Draft202012Validator.check_schema(json_schema(name))
    for line in desk.careful(1).lines:
        jsonschema.validate(json.loads(line), json_schema("event"))


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("plain", "plain"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\rb", "a\\rb"),
        ("a\nb", "a\\nb"),
        ("a\u202eb", "a\\u202eb"),
        ("tab\t", "tab\\t"),
        ("τ-bench – ü 漢", "τ-bench – ü 漢"),
    ],
)
def test_untrusted_text_cannot_steer_the_terminal(text: str, want: str) -> None:
    assert plain(text) == want


def test_a_reader_that_leaves_is_no_fault(world: Path) -> None:
    words = [sys.executable, "-m", "untaken", "schema", "event"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    assert (process.wait(), process.stderr.read()) == (0, b"")
    process.stderr.close()


HOSTILE = "a\x1b[31mb\x9b2Jc\x7fd\u202ee\u2028f\x07"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_document_has_no_character_that_steers_a_terminal_and_says_the_same() -> None:
    text = dump({"name": HOSTILE, HOSTILE: ["ü", "注文"]})
    assert all(char.isprintable() or char == "\n" for char in text)
    assert json.loads(text) == {"name": HOSTILE, HOSTILE: ["ü", "注文"]}
    assert "注文" in text


def test_an_exported_text_is_spelled_out_on_a_terminal_and_as_it_is_in_a_file() -> None:
    shown, kept = Terminal(), io.StringIO()
    for out in (shown, kept):
        Console(out=out, err=io.StringIO()).write(f"id,title\n1,{HOSTILE}\n")
    assert all(char.isprintable() or char == "\n" for char in shown.getvalue())
    assert shown.getvalue().startswith("id,title\n1,a\\x1b[31mb")
    assert kept.getvalue() == f"id,title\n1,{HOSTILE}\n"


ADDRESSES = (
    "s3://AKIA0001:SECRETKEY@bucket/runs",
    "http://ann:SECRETKEY@127.0.0.1:9/runs.jsonl?sig=SECRETKEY",
    "postgresql://ann:SECRETKEY@localhost/untaken",
)


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("verb", ["score", "score --json", "convert -o out", "review --workspace"])
def test_no_message_tells_what_is_secret_in_an_address(address, verb, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*verb.split(), address]) == 2
    out, err = capsys.readouterr()
    assert "SECRETKEY" not in out + err
    assert address.partition("@")[2].partition("?")[0] in err


@pytest.mark.skipif(sys.platform != "linux", reason="no /dev/fd here")
@pytest.mark.parametrize("verb", [["verify"], ["convert", "-o", "out"]], ids=["ledgers", "traces"])
def test_the_output_of_a_command_as_a_file_is_named_a_pipe_with_what_to_do(
    verb: list[str], tmp_path: Path, capsys: Capture, monkeypatch: Patch
) -> None:
    """As a shell writes ``<(…)``: it can be read only once."""
    monkeypatch.chdir(tmp_path)
    reader, writer = os.pipe()
    try:
        os.write(writer, desk.careful(1).ledger())
        os.close(writer)
        assert main([*verb, f"/dev/fd/{reader}"]) == 2
    finally:
        os.close(reader)
    said = capsys.readouterr().err
    assert "this is a pipe" in said
    assert "Write what it gives to a file" in said


def test_the_document_of_a_report_names_the_file_by_its_digest(world: Path, capsys: Capture) -> None:
    file = world / "r.html"
    words = f"report {world}/ledgers --graphs {world}/graphs --html {file} --json"
    assert main(words.split()) == 0
    found = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, json_schema("report"))
    page = file.read_bytes()
    assert (found["sha256"], found["bytes"]) == (hashlib.sha256(page).hexdigest(), len(page))
    assert found["digest"].encode() in page
    assert found["runs"] == 13


def test_a_long_table_says_how_to_get_the_rest(tmp_path: Path, capsys: Capture) -> None:
    runs = [a_run(f"r{i}", agent=f"a{i:02}").call("look").finish(success=i % 2 == 0) for i in range(21)]
    (tmp_path / "l.jsonl").write_bytes(b"".join(run.ledger() for run in runs))
    save_graph(a_graph("look"), tmp_path / "g.plan.yaml")
    words = ["rank", str(tmp_path / "l.jsonl"), "--graphs", str(tmp_path), "--resamples", "0"]
    main(words)
    assert "the first 200 of 210 pairs; --json lists them all" in capsys.readouterr().out
    pairs = document(words, capsys, 0)["pairs"]
    assert sum(pair["metric"] == "success_rate" for pair in pairs) == 210


def test_facts_give_the_ranking_of_their_ledgers(tmp_path: Path, capsys: Capture) -> None:
    made = (a_run(f"r{i}", agent=f"a{i % 3}", task=f"t{i % 4}").call("look") for i in range(48))
    runs = [run.finish(success=i % 5 < 3).ledger() for i, run in enumerate(made)]
    (tmp_path / "l.jsonl").write_bytes(b"".join(runs))
    save_graph(a_graph("look", tasks=["*"]), tmp_path / "g.plan.yaml")
    ledgers, out = [str(tmp_path / "l.jsonl"), "--graphs", str(tmp_path)], str(tmp_path / "facts")
    assert main(["export", *ledgers, "--to", "parquet", "-o", out]) == 0
    capsys.readouterr()
    of_runs, of_facts = (
        document(["rank", *words, "--resamples", "200"], capsys, 0) for words in (ledgers, [out])
    )
    of_runs |= {"contradictions": [], "findings": []}
    del of_runs["rule"]  # what another rule would change is not in facts
    assert len(of_runs["pairs"]) > 3
    assert of_runs["pass_k"]
    assert of_facts == of_runs


@pytest.mark.parametrize("option", [["--labels"], ["--missing", "drop"], ["--verdicts", "human:*"]])
def test_facts_take_no_option_that_needs_runs(option: list[str], tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "facts.json").write_text("{}")
    assert main(["rank", str(tmp_path), *option]) == 2
    assert option[0] in capsys.readouterr().err


@pytest.mark.parametrize(
    ("filed", "warned"),
    [(["--mode", "Paid twice", "--new"], False), ([], True)],
    ids=["every note is filed", "no mode at all"],
)
def test_a_taxonomy_without_modes_is_warned_of_only_where_it_is(
    filed: list[str], warned: bool, tmp_path: Path, capsys: Capture, monkeypatch: Patch
) -> None:
    monkeypatch.setenv("UNTAKEN_MODEL", "http://127.0.0.1:9/v1#m")
    with Workspace(tmp_path / "w") as store:
        store.add("0.jsonl", a_run("r0").call("look").finish(success=False).ledger())
    where = ["--workspace", str(tmp_path / "w")]
    note = ["--run", "r0", "--by", "ann", "--note", "paid twice for one order"]
    assert main(["modes", "assign", *where, *note, *filed]) == 0
    capsys.readouterr()
    assert main(["modes", "suggest", *where, "--offline", "--replies", str(tmp_path / "replies")]) == 0
    assert ("no active mode" in capsys.readouterr().err) is warned


MARKUP = "</title><script>alert(1)</script>&\\u0007"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def marked_world(tmp_path: Path) -> Path:
    """The desk, and a plan of it with hostile words."""
    folder = desk.write_folder(tmp_path / "marked_world")
    hostile = desk.GRAPH.replace(b"title: Check policy", f'title: "{MARKUP}"'.encode())
    (folder / "hostile.plan.yaml").write_bytes(hostile)
    return folder


def drawn(marked_world: Path, name: str, *more: str) -> str:
    target = marked_world / "a.svg"
    assert main(["graph", "draw", str(marked_world / name), "-o", str(target), *more]) == 0
    return target.read_text("utf-8")


def test_hostile_titles_stay_words_and_the_file_needs_nothing_from_elsewhere(marked_world: Path) -> None:
    text = drawn(marked_world, "hostile.plan.yaml")
    tree = ElementTree.fromstring(text)
    tags = {node.tag.removeprefix(SVG) for node in tree.iter()}
    assert tags == {"svg", "title", "desc", "style", "rect", "g", "path", "text"}
    assert "<script" not in text
    assert "</title><script>" in "".join(node.text or "" for node in tree.iter(f"{SVG}text"))
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "url(" not in text
