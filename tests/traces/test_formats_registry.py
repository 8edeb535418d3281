"""Formats are recognised by what a file holds, wherever it is in it; other packages add their own."""

from __future__ import annotations

import gzip
import io
import json
import sys
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trace_pieces import claude_line
from trace_records import RECORDS, written

from untaken.errors import UntakenError
from untaken.ledger import read_ledger
from untaken.traces import Sample, convert, formats, importers, recognise, recognise_files, sample_of, sniff
from untaken.traces.registry import installed_importers
from untaken.traces.sample import OUTLINED_RECORDS
from untaken.traces.sample import RECORDS as SAMPLED
from untaken.traces.sources import HEAD_BYTES
from untaken.workspace import Workspace
from untaken.workspace.intake import take_in

ROOT = Path(__file__).parents[2]
HEADER = {"shop_log": 1, "agent": "robot", "order": "o-7", "at": "2026-03-01T10:00:00Z"}
CALLED = {"tool": "refund", "args": {"order": 7}, "answer": "done", "failed": False}
STEP = {"at": "2026-03-01T10:00:05Z", **CALLED}
SHOP_LOG = "\n".join(json.dumps(line) for line in (HEADER, STEP, {"solved": True})).encode()


class Head(NamedTuple):
    desc: str
    content: bytes
    shape: str
    records: tuple[Any, ...]


HEADS = [
    Head("an object", b'{"a": 1}', "object", ({"a": 1},)),
    Head("an object over several lines", b'{\n "a": [1,\n 2]\n}\n', "object", ({"a": [1, 2]},)),
    Head("a list", b'[{"a": 1}, {"b": 2}]', "array", ({"a": 1}, {"b": 2})),
    Head("lines", b'{"a": 1}\n{"b": 2}\n', "lines", ({"a": 1}, {"b": 2})),
    Head("an object that is cut", b'{"a": 1, "b": {"c": [1, "x', "object", ({"a": 1, "b": {"c": [1]}},)),
    Head("a key that is cut", b'{"a": 1, "b', "object", ({"a": 1},)),
    Head("a long text that is cut", b'[{"a": 1, "b": "x' + b"y" * 70_000, "array", ({"a": 1, "b": ""},)),
    Head("a list that is cut", b'[{"a": 1}, {"b": 2, "c": ', "array", ({"a": 1}, {"b": 2})),
    Head("a last line that is cut", b'{"a": 1}\n{"b": 2, "c', "lines", ({"a": 1}, {"b": 2})),
    Head("a comma too many", b'[{"a": 1}, {"b": 2},]', "array", ({"a": 1}, {"b": 2})),
    Head("a broken element", b'[{"a": }, {"b": 2}]', "array", ({"b": 2},)),
    Head("a number without end", b'[{"a": ' + b"1" * 5000 + b'}, {"b": 2}]', "array", ({"b": 2},)),
    Head("brackets in a text", b'{"a": "}]{[", "b": "\\"}"}', "object", ({"a": "}]{[", "b": '"}'},)),
    Head("a broken line", b'{"a": }\n{"b": 2}\n{"c": 3}', "lines", ({"b": 2}, {"c": 3})),
    Head("words after the value", b'{"a": 1} and so on', "object", ({"a": 1},)),
    Head("a byte-order mark", b'\xef\xbb\xbf{"a": 1}', "object", ({"a": 1},)),
    Head("gzip", gzip.compress(b'{"a": 1}'), "object", ({"a": 1},)),
    Head("prose that quotes JSON", b'It says {"a": 1}', "text", ()),
    Head("deeper than any trace", b'{"a":' * 40_000, "object", ()),
    Head("nothing", b" \n", "empty", ()),
    Head("a picture", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "binary", ()),
]


@pytest.mark.parametrize("case", HEADS, ids=lambda case: case.desc)
def test_a_sample_holds_the_records_as_far_as_they_go(case: Head) -> None:
    sample = sample_of("x", case.content)
    assert sample.shape == case.shape
    if case.records:
        assert sample.records == case.records


@given(content=st.binary(max_size=300) | st.text('{}[],":\\a1 \n', max_size=300).map(str.encode))
def test_any_bytes_give_a_sample(content: bytes) -> None:
    sample = sample_of("x", content)
    assert len(sample.records) <= SAMPLED
    assert sample.first is not None


@given(
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    ),
    cut=st.integers(0, 400),
)
def test_a_cut_document_is_read_up_to_the_cut_and_never_beyond(value: Any, cut: int) -> None:
    whole = {"value": value, "after": 1}
    written = json.dumps(whole)[:cut].encode()
    for record in sample_of("x", written).records:
        assert record.keys() <= whole.keys()
        assert record.get("after", 1) == 1


@pytest.mark.parametrize(
    "unit", ["{", "[", '{"a":', '"', '{"a" ', "{]", "[}\n", '{"a":1}', "\\", '{"schema":\n']
)
def test_hostile_text_costs_about_one_pass(unit: str) -> None:
    sample = sample_of("x", (unit * 64_000).encode())
    assert len(sample.records) <= SAMPLED


def test_a_zip_archive_lists_its_members() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("header.json", "{}")
        archive.writestr("samples/1.json", "{}")
    sample = sample_of("x.eval", packed.getvalue())
    assert (sample.shape, sample.members) == ("zip", ("header.json", "samples/1.json"))


def documented_module() -> str:
    """The importer that `docs/formats.md` leads to."""
    return (ROOT / "docs" / "shop_log.py").read_text("utf-8")


def installed(folder: Path, name: str, module: str, points: str) -> None:
    """Puts a package with entry points where Python finds it."""
    (folder / f"{name}.py").write_text(module, encoding="utf-8")
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[untaken.formats]\n{points}\n", encoding="utf-8")


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of installed packages; the registry is read again before and after."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    installed_importers.cache_clear()
    yield folder
    installed_importers.cache_clear()
    sys.modules.pop("shop_log", None)


@pytest.fixture
def shop(plugins: Path) -> Path:
    installed(plugins, "shop_log", documented_module(), "shop-log = shop_log:IMPORTER")
    return plugins


def test_the_documented_importer_is_found_and_converts(shop: Path, tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").write_bytes(SHOP_LOG)
    assert formats()[-1].name == sniff("upload.bin", SHOP_LOG) == "shop-log"
    done = convert(None, [tmp_path / "one.jsonl"], tmp_path / "out")
    [run] = read_ledger(done.ledgers[0])
    assert (done.format, run.agent, run.task_id, run.success) == ("shop-log", "robot", "o-7", True)
    assert [action.tool for action in run.actions] == ["refund"]
    assert [finding.code for finding in done.findings] == []
    [loss] = done.losses
    assert sum(field.held for field in loss.fields) == sum(field.kept for field in loss.fields) == 10


def test_the_documented_importer_takes_uploads(shop: Path, tmp_path: Path) -> None:
    with Workspace(tmp_path / "w") as workspace:
        rows = take_in(workspace, [("log.txt", SHOP_LOG), ("bad.jsonl", b'{"shop_log": 1, "age')])
        assert [(row.kind, row.runs) for row in rows] == [("shop-log", 1), ("shop-log", 0)]


BROKEN_PLUGINS = [
    ("raises", "raise ImportError('no such thing')", "plug:IMPORTER", "no such thing"),
    ("is no importer", "IMPORTER = 3", "plug:IMPORTER", "it is a int"),
    ("is not there", "", "plug:IMPORTER", "IMPORTER"),
    ("takes a name in use", "from untaken.traces.devai import *\nfrom msgspec.structs import replace\n"
     "IMPORTER = replace(IMPORTER, passes=7)", "plug:IMPORTER", "'devai' exists already"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("desc", "module", "value", "why"), BROKEN_PLUGINS, ids=[b[0] for b in BROKEN_PLUGINS]
)
def test_a_broken_plug_in_is_named_and_left_out(plugins, desc, module, value, why) -> None:
    before = list(importers())
    installed_importers.cache_clear()
    installed(plugins, "plug", module, f"plug = {value}")
    sys.modules.pop("plug", None)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert list(importers()) == before
    assert why in str(said[0].message)
    assert importers()["devai"].passes == 1


COMPANIONS = "from msgspec.structs import replace\nfrom shop_log import IMPORTER as SHOP\n" + (
    "IMPORTER = replace(SHOP, info=replace(SHOP.info, name='trial'), companions=('agent/*', 'notes.txt'))\n"
)


def test_companions_of_a_recognised_file_are_of_its_format(plugins: Path) -> None:
    installed(plugins, "shop_log", documented_module(), "")
    installed(plugins, "trial", COMPANIONS, "trial = trial:IMPORTER")
    tau = json.dumps([{"task_id": 1, "reward": 1, "info": {}, "traj": []}]).encode()
    files = {
        "a/log.jsonl": SHOP_LOG, "a/notes.txt": b"fine", "a/agent/deep/trace.json": tau, "a/other.json": tau,
        "b/agent/trace.json": tau, "b/notes.txt": b"fine",
    }  # fmt: skip
    want = ["trial", "trial", "trial", "tau-bench", "tau-bench", None]
    assert recognise_files(sample_of(name, content) for name, content in files.items()) == want
    sys.modules.pop("trial", None)


def test_sources_of_no_known_format_are_refused(tmp_path: Path) -> None:
    for name, content in {"a.json": "{}", "b.json": "[]"}.items():
        (tmp_path / name).write_text(content)
    words = r"2 files ignored: a.json \(a JSON object\), b.json \(a JSON list\)"
    with pytest.raises(UntakenError, match=words) as refused:
        convert(None, [tmp_path], tmp_path / "out")
    assert refused.value.code == "format-not-recognised"


def test_of_a_chat_list_only_what_it_says_counts() -> None:
    """Names quoted inside a message are text, not members."""
    said = json.dumps(
        {"role": "user", "content": json.dumps({"problem": 1, "correct_ans": 2, "messages": []})}
    )
    assert sniff("x.json", said.encode()) is None
    assert isinstance(sample_of("x", said.encode()), Sample)


HALVES: dict[str, list[dict[str, Any]]] = {
    "atif": [{"steps": [{"step_id": 1, "source": "user"}]}],
    "braintrust": [{"span_id": "s", "root_span_id": "s"}, {"span_id": "s", "span_parents": []}],
    "browser-use": [{"history": [{"model_output": {}, "result": []}]}],
    "chatgpt": [{"mapping": {"1": {"message": {}}}}, {"mapping": {"1": {"children": []}}}],
    "claude-code": [
        *({"type": "system", "subtype": "init"}, {"subtype": "init", "session_id": "s"}),
        *({"type": "user", "message": {}, sign: "s"} for sign in ("parentUuid", "session_id", "uuid")),
    ],
    "cline": [{"ts": 1, "type": "say"}, {"say": "text"}],
    "codex": [{"type": "session_meta", "payload": {}}, {"type": "session_meta", "timestamp": ""}],
    "copilot-cli": [{"type": "session.start", "data": {}}, {"data": {"sessionId": "s"}}],
    "goose": [{"working_dir": "/"}, {"message_count": 1}],
    "harbor": [{"trial_name": "t"}, {"task_name": "t"}, {"verifier_result": {}}],
    "inspect": [{"eval": {"task": "t"}}, {"eval": {"model": "m"}}, {"task": "t", "model": "m"}],
    "langfuse": [
        *({"type": "SPAN", "level": "DEFAULT"}, {"type": "SPAN", "traceId": "t"}),
        *({"level": "DEFAULT", "traceId": "t"}, {"observations": [{"type": "SPAN"}]}),
        {"observations": [{"startTime": "2026-01-01T00:00:00Z"}]},
    ],
    "langsmith": [{"run_type": "llm"}, {"dotted_order": "1", "trace_id": "t"}],
    "mlflow": [{"info": {"trace_id": "t"}, "data": {}}, {"info": {}, "data": {"spans": []}}],
    "openai-agents": [
        *({"object": "trace"}, {"workflow_name": "desk"}),
        *({"object": "trace.span"}, {"span_data": {"type": "agent"}}),
    ],
    "opencode": [{"info": {"id": "ses_1"}}, {"messages": []}, {"part": {}, "sessionID": "ses_1"}],
    "pi": [
        *({"type": "session", "id": "s", "timestamp": ""}, {"id": "s", "timestamp": "", "cwd": "/"}),
        *({"type": "message", "parentId": "e"}, {"parentId": "e", "message": {"role": "user"}}),
        *({"type": "message_end"}, {"type": "agent_end"}),
    ],
    "vscode-chat": [{"requests": []}, {"responderUsername": "x"}],
    "weave": [{"op_name": "o", "trace_id": "t"}, {"trace_id": "t", "started_at": ""}],
}
"""Documents with some of the signs of a format."""


@pytest.mark.parametrize(("format", "document"), [(f, one) for f, some in HALVES.items() for one in some])
def test_some_of_the_signs_of_a_format_are_not_enough(format: str, document: dict[str, Any]) -> None:
    assert recognise(sample_of("x.json", json.dumps(document).encode())) != format


FILES = [
    (format, name) for format, files in RECORDS.items() for name in files if format not in ("aider", "cursor")
]
LISTS = [(format, name) for format, name in FILES if isinstance(RECORDS[format][name], list)]
LONG = 'He said: "x"\\n' * HEAD_BYTES
"""Longer than what is read of a file first, with quotes and escapes in it."""


def alone(format: str, name: str) -> str | None:
    return recognise(sample_of(name, written(name, RECORDS[format][name])))


@pytest.mark.parametrize(("format", "name"), FILES, ids=str)
def test_a_long_text_first_hides_no_format(format: str, name: str) -> None:
    content = RECORDS[format][name]
    first, *rest = content if isinstance(content, list) else [content]
    late: Any = [{"about": LONG, **first}, *rest]
    late = late if isinstance(content, list) else late[0]
    assert recognise(sample_of(name, written(name, late))) == alone(format, name)


@pytest.mark.parametrize("others", [{"note": "x"}, {"type": "summary", "summary": "x"}], ids=str)
@pytest.mark.parametrize(("format", "name"), LISTS, ids=str)
def test_many_other_records_first_hide_no_format(format: str, name: str, others: dict[str, Any]) -> None:
    late = [others] * (SAMPLED * 4) + RECORDS[format][name]
    assert recognise(sample_of(name, written(name, late))) == alone(format, name)


def test_a_file_of_no_format_is_read_through_once_and_not_without_end() -> None:
    lines = [{"note": "x"}] * (OUTLINED_RECORDS + 10) + [claude_line(0, "user", "Go.")]
    sample = sample_of("s.jsonl", "".join(json.dumps(each) + "\n" for each in lines).encode())
    assert recognise(sample) is None
    outline = sample.outline()
    assert outline is sample.outline()
    assert len(outline.records) <= SAMPLED
