"""What a conversion writes: the same bytes, all or nothing, with an account that adds up and says where."""

from __future__ import annotations

import gzip
import json
import struct
import zipfile
from pathlib import Path

import foreign_files
import pytest
import zstandard
from foreign_files import (
    FILES,
    SHEETS,
    codes,
    converted,
    devai_human,
    put,
)
from trace_records import RECORDS

from untaken.errors import UntakenError
from untaken.facts.scaling.places import find_ledgers
from untaken.ledger import heads_path, read_ledger
from untaken.numbers import counted
from untaken.plans import load_graphs
from untaken.traces import Conversion, convert, formats, importers, sniff, sniff_path
from untaken.traces.output import file_stem


def written(folder: Path) -> dict[str, bytes]:
    return {
        p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()
    }


def told(done: Conversion, code: str) -> list[str]:
    """The messages of a finding."""
    return [finding.message for finding in done.findings if finding.code == code]


def sources(folder: Path, format: str) -> Path:
    for name, content in FILES[format].items():
        put(folder / name, content)
    return folder


@pytest.mark.parametrize("format", FILES)
def test_the_same_sources_give_the_same_bytes(tmp_path: Path, format: str) -> None:
    source = sources(tmp_path / "in", format)
    convert(format, [source], tmp_path / "a")
    convert(format, [source], tmp_path / "b")
    again = convert(format, [source], tmp_path / "b")
    first = written(tmp_path / "a")
    assert first == written(tmp_path / "b")
    folders = {"graphs"} if again.graphs else set()
    assert {name.split("/")[0] for name in first} == {"ledgers", "loss.json"} | folders
    assert not [name for name in first if name.split("/")[-1].startswith(".") or name.endswith(".lock")]


@pytest.mark.parametrize("format", FILES)
def test_progress_counts_up_to_its_total_and_one_format_is_not_called_mixed(tmp_path, format) -> None:
    seen: list[tuple[int, int, str]] = []
    source = sources(tmp_path / "in", format)
    done = convert(None, [source], tmp_path / "out", progress=lambda *step: seen.append(step))
    assert [step[:2] for step in seen] == [(number, len(seen)) for number in range(len(seen))]
    assert codes(done)["format-mixed"] == 0


def test_what_was_written_before_is_no_source(tmp_path: Path) -> None:
    folder = sources(tmp_path, "devai")
    first = convert("devai", [folder], tmp_path / "out")
    again = convert("devai", [folder], tmp_path / "out")
    assert [loss.name for loss in first.losses] == [loss.name for loss in again.losses] == sorted(SHEETS)


def test_formats_converted_into_one_folder_share_the_report(tmp_path: Path) -> None:
    for format in FILES:
        convert(format, [sources(tmp_path / format, format)], tmp_path / "out")
    report = json.loads((tmp_path / "out" / "loss.json").read_text(encoding="utf-8"))
    assert report["schema"] == "untaken.loss/1"
    assert [one["format"] for one in report["conversions"]] == sorted(FILES)
    assert not load_graphs(tmp_path / "out" / "graphs").findings
    runs = [run for path in (tmp_path / "out" / "ledgers").glob("*.jsonl") for run in read_ledger(path)]
    assert len(runs) == sum(one["runs"] for one in report["conversions"])
    assert {run.integrity.verdict for run in runs} == {"INTACT"}


def test_a_mixed_folder_is_converted_file_by_file(tmp_path: Path) -> None:
    mixed = ("tau-bench", "codex", "openai-messages")
    for format in mixed:
        sources(tmp_path / "in" / format, format)
        convert(format, [tmp_path / "in" / format], tmp_path / "apart")
    put(tmp_path / "in" / "notes.json", {"hello": 1})
    seen: list[tuple[int, int, str]] = []
    done = convert(None, [tmp_path / "in"], tmp_path / "out", progress=lambda *step: seen.append(step))
    assert done.format == ", ".join(mixed)
    assert {p.name: p.read_bytes() for p in done.ledgers} == {
        p.name: p.read_bytes() for p in (tmp_path / "apart" / "ledgers").glob("*.jsonl")
    }
    assert [step[:2] for step in seen] == [(n, len(seen)) for n in range(len(seen))]
    report = json.loads(done.loss_report.read_text(encoding="utf-8"))
    assert [one["format"] for one in report["conversions"]] == sorted(mixed)
    assert told(done, "format-not-recognised") == ["notes.json is of no known format; left out"]


def test_a_file_that_fits_two_formats_is_named(tmp_path: Path) -> None:
    both = {**FILES["swe-agent"]["m__x/1.traj"], **FILES["langsmith"]["t.json"]}
    put(tmp_path / "in" / "both.json", both)
    sources(tmp_path / "in", "codex")
    done = convert(None, [tmp_path / "in"], tmp_path / "out")
    assert done.format == "swe-agent, codex"
    assert told(done, "format-ambiguous") == ["both.json may be swe-agent or langsmith; read as swe-agent"]


TALK_FILE = {"messages": [{"role": "user", "content": "Go."}, {"role": "assistant", "content": "Done."}]}


@pytest.mark.parametrize("format", ["codex", "openai-messages", "otel"])
def test_what_is_no_trace_beside_traces_of_one_format_is_named_and_left_out(tmp_path, format) -> None:
    sources(tmp_path / "in", format)
    want = convert(format, [tmp_path / "in"], tmp_path / "apart")
    put(tmp_path / "in" / "notes.jsonl", {"hello": 1})
    put(tmp_path / "README.md", "# Traces\n\nRecorded on Monday.\n")
    done = convert(None, [tmp_path / "in", tmp_path / "README.md"], tmp_path / "out")
    assert [p.read_bytes() for p in done.ledgers] == [p.read_bytes() for p in want.ledgers]
    assert [loss.name for loss in done.losses] == [loss.name for loss in want.losses]
    assert told(done, "format-not-recognised") == [
        "notes.jsonl is of no known format; left out",
        "README.md is of no known format; left out",
    ]
    assert codes(done)["nothing-added"] == 0


def lying_archive(path: Path, members: dict[str, bytes], liar: str, size: int) -> Path:
    """A zip archive whose directory states another size for one of its members."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    data = bytearray(path.read_bytes())
    entry = data.rindex(liar.encode()) - 46  # its entry in the directory; the name follows 46 bytes
    assert data[entry : entry + 4] == b"PK\x01\x02"
    struct.pack_into("<I", data, entry + 24, size)
    path.write_bytes(data)
    return path


def test_a_member_that_lies_about_its_size_is_refused_with_the_reason(tmp_path: Path) -> None:
    talk = json.dumps(TALK_FILE).encode()
    alone = lying_archive(tmp_path / "a.zip", {"chat.json": talk}, "chat.json", 10)
    with pytest.raises(UntakenError, match=r"a\.zip/chat\.json: the member is damaged: Bad CRC-32") as caught:
        convert(None, [alone], tmp_path / "out")
    assert caught.value.code == "format-not-recognised"
    many = {"chat.json": talk, **{f"{n}.jsonl": stored(n) for n in ("codex", "openai-messages")}}
    done = convert(None, [lying_archive(tmp_path / "b.zip", many, "chat.json", 10)], tmp_path / "out")
    assert done.runs == 2
    assert [(f.code, f.severity) for f in done.findings if "chat.json" in f.message] == [
        ("unreadable-file", "error")
    ]


def stored(format: str) -> bytes:
    """A file of a format, as one line of JSON for each of its records."""
    content = next(iter(FILES[format].values()))
    return content.encode() if isinstance(content, str) else json.dumps(content).encode()


@pytest.mark.parametrize("span_first", [True, False])
def test_a_file_whose_records_mix_two_formats_is_named(tmp_path: Path, span_first: bool) -> None:
    (span,) = list(FILES["otel"].values())[:1]
    lines = [span if isinstance(span, str) else json.dumps(span), json.dumps(TALK_FILE)]
    put(tmp_path / "mix.jsonl", "\n".join(lines if span_first else lines[::-1]))
    done = convert(None, [tmp_path / "mix.jsonl"], tmp_path / "out")
    other = {"otel": "openai-messages", "openai-messages": "otel"}[done.format]
    assert told(done, "format-mixed") == [
        f"mix.jsonl also holds records that look like {other}; read as {done.format}"
    ]


@pytest.mark.parametrize(
    "old", ["", "[]", "{}", '{"schema": 3}', '{"schema": "untaken.loss/1", "conversions": [1]}']
)
def test_a_report_that_cannot_be_read_is_replaced(tmp_path: Path, old: str) -> None:
    put(tmp_path / "out" / "loss.json", old)
    convert("tau-bench", [sources(tmp_path / "in", "tau-bench")], tmp_path / "out")
    report = json.loads((tmp_path / "out" / "loss.json").read_text(encoding="utf-8"))
    assert [one["format"] for one in report["conversions"]] == ["tau-bench"]


def test_a_cancelled_conversion_leaves_nothing(tmp_path: Path) -> None:
    source = sources(tmp_path / "in", "devai")
    put(tmp_path / "out" / "kept.txt", "mine")

    def cancel(done: int, total: int, name: str) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        convert("devai", [source], tmp_path / "out", progress=cancel)
    assert written(tmp_path / "out") == {"kept.txt": b"mine"}
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["kept.txt"]


def test_old_heads_never_outlive_their_ledger(tmp_path: Path) -> None:
    source = sources(tmp_path / "in", "devai")
    conversion = convert("devai", [source], tmp_path / "out")
    put(source / "judgment/Crew/human_as_a_judge/01_Boat.json", devai_human(False, False, False))
    again = convert("devai", [source], tmp_path / "out")
    assert again.ledgers == conversion.ledgers
    for ledger in again.ledgers:
        assert {run.integrity.verdict for run in read_ledger(ledger)} == {"INTACT"}


ERRORS = [
    ("nonsense", "out", "format-unknown"),
    ("devai", "in/instances/01_Boat.json", "output-not-a-folder"),
]


@pytest.mark.parametrize(("format", "out", "code"), ERRORS, ids=["unknown format", "a file as output"])
def test_what_cannot_be_done_is_an_error_with_a_next_step(tmp_path, format, out, code) -> None:
    source = sources(tmp_path / "in", "devai")
    with pytest.raises(UntakenError) as caught:
        convert(format, [source], tmp_path / out)
    assert caught.value.code == code
    assert caught.value.hint


def test_no_run_at_all_is_named(tmp_path: Path) -> None:
    conversion, runs = converted("tau2-bench", tmp_path / "out", sources(tmp_path / "in", "tau-bench"))
    assert (runs, codes(conversion)["nothing-added"]) == ([], 1)


def test_every_value_is_kept_or_dropped(tmp_path: Path) -> None:
    for format in FILES:
        conversion = convert(format, [sources(tmp_path / format, format)], tmp_path / "out")
        for loss in conversion.losses:
            assert loss.fields
            assert all(field.held == field.kept + field.dropped for field in loss.fields)
            assert all(field.kept in (0, field.held) for field in loss.fields)
            words = f"{counted(loss.records, 'record')}, {counted(loss.runs, 'run')}; "
            assert loss.lines()[0].startswith(words)
            assert all((tmp_path / "out" / "ledgers" / name).is_file() for name in loss.ledgers)


DEVICES = ("con", "prn", "aux", "nul", "com1", "lpt9")
FORMS = ("{}", "{}.json", "{}.tar.gz", "{}.", "{} ", "x/../{}", "{}.a b")
KEPT = ("gpt-4o-airline", "openhands", "auxiliary", "con-1", "run.aux", "nulls", "com10")
CHANGED = ("../../etc/passwd", "a b", "", ".hidden", "ends.", "x" * 300, "é\u202e\x00", "OpenHands")
STEMS = [
    *((text, True) for text in KEPT),
    *((text, False) for text in CHANGED),
    *(
        (form.format(name), False)
        for form in FORMS
        for device in DEVICES
        for name in (device, device.upper())
    ),
]


@pytest.mark.parametrize(("text", "kept"), STEMS)
def test_file_names_are_safe_and_none_is_that_of_a_device(text: str, kept: bool) -> None:
    stem = file_stem(text)
    assert stem
    assert len(stem) <= 140
    assert all(c.isascii() and (c.isalnum() or c in "._-") for c in stem)
    assert stem[0].isalnum()
    assert stem[-1] != "."
    assert (stem == text) is kept
    assert stem.split(".")[0].lower() not in DEVICES


def test_texts_that_differ_never_share_a_file_name() -> None:
    texts = ["a/b", "a-b", "A-B", "a b", "a_b", "a//b", "ab", "AB", "a-b-", "-a-b"]
    assert len({file_stem(text).casefold() for text in texts}) == len(texts)


def test_each_format_says_what_it_is() -> None:
    names = [info.name for info in formats()]
    assert names == list(importers())
    assert set(names) == {"native", *FILES, *RECORDS}
    assert all(info.title and info.what.endswith(".") and info.extensions for info in formats())


@pytest.mark.parametrize("format", [name for name in FILES if name != "agentrx"])  # its runs are tau-bench's
def test_formats_are_recognised_by_content(tmp_path: Path, format: str) -> None:
    folder = sources(tmp_path / "in", format)
    for name in FILES[format]:
        start = (folder / name).read_bytes()
        assert sniff("upload.bin", start) == format
        assert sniff("upload.bin", start[:2000]) == format
    assert sniff_path(folder) == format
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        for name in FILES[format]:
            archive.write(folder / name, name)
    assert sniff_path(tmp_path / "all.zip") == format


def test_native_ledgers_are_copied_byte_for_byte_with_their_heads(tmp_path: Path) -> None:
    first = convert("tau-bench", [sources(tmp_path / "in", "tau-bench")], tmp_path / "a")
    again, runs = converted("native", tmp_path / "b", tmp_path / "a")
    assert [p.read_bytes() for p in again.ledgers] == [p.read_bytes() for p in first.ledgers]
    heads, before = ([heads_path(p).read_bytes() for p in done.ledgers] for done in (again, first))
    assert heads == before
    assert [p.read_bytes() for p in again.graphs] == [p.read_bytes() for p in first.graphs]
    assert len(runs) == 3
    assert sniff_path(first.ledgers[0]) == sniff_path(first.graphs[0]) == "native"


PACKED = [("a.jsonl.zst", zstandard.compress), ("a.jsonl.gz", gzip.compress), ("a.txt", bytes)]


@pytest.mark.parametrize(("name", "packed"), PACKED)
def test_a_ledger_is_known_by_its_lines_however_it_is_packed_and_named(tmp_path, name, packed) -> None:
    (ledger,) = convert("tau-bench", [sources(tmp_path / "in", "tau-bench")], tmp_path / "a").ledgers
    file = put(tmp_path / "b" / name, packed(ledger.read_bytes()))
    again = convert(None, [file], tmp_path / "c")
    assert (again.format, again.runs, again.ledgers[0].read_bytes()) == ("native", 3, file.read_bytes())


def test_traces_beside_ledgers_are_named_and_the_ledgers_keep_their_heads(tmp_path: Path) -> None:
    mixed = convert("tau-bench", [sources(tmp_path / "in", "tau-bench")], tmp_path / "in" / "a")
    _, others = find_ledgers([tmp_path / "in"])
    assert {(finding.code, finding.severity) for finding in others} == {("not-a-ledger", "warning")}
    both = convert(None, [tmp_path / "in"], tmp_path / "out")
    kept = {heads_path(path).read_bytes() for path in both.ledgers if heads_path(path).exists()}
    assert {heads_path(path).read_bytes() for path in mixed.ledgers} <= kept
    assert len(both.ledgers) > len(mixed.ledgers)


def test_native_files_that_are_broken_are_named(tmp_path: Path) -> None:
    put(tmp_path / "in" / "a.jsonl", "not a ledger\n")
    put(tmp_path / "in" / "b.plan.yaml", "schema: untaken.plan/1\nid: x\nsub_goals: [{id: a, deps: [b]}]\n")
    conversion, runs = converted("native", tmp_path / "out", tmp_path / "in")
    assert (runs, conversion.graphs) == ([], ())
    assert {finding.where.file for finding in conversion.findings} == {"a.jsonl", "b.plan.yaml"}


def test_traces_in_a_hidden_folder_alone_are_told_by_the_folder_and_not_by_the_files(tmp_path: Path) -> None:
    put(tmp_path / "in" / ".agent" / "chat.json", TALK_FILE)
    put(tmp_path / "in" / ".git" / "HEAD", "ref: refs/heads/main")
    with pytest.raises(UntakenError, match="it holds no file") as caught:
        convert(None, [tmp_path / "in"], tmp_path / "out")
    assert str(tmp_path / "in" / ".agent") in caught.value.hint
    assert convert(None, [tmp_path / "in" / ".agent"], tmp_path / "out").runs == 1


def test_the_first_three_dropped_values_are_named_with_record_and_path(tmp_path: Path) -> None:
    records = [foreign_files.tau_record(task_id=n) for n in range(5)]
    for record in records[1:]:
        record["surprise"] = {"deep": [1, {"odd key": "x"}]}
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "robot-airline.json").write_text(json.dumps(records))
    done = convert("tau-bench", [tmp_path / "in"], tmp_path / "out")
    report = json.loads(done.loss_report.read_text("utf-8"))
    (file,) = report["conversions"][0]["files"]
    field = file["fields"]["[].surprise.deep[].odd key"]
    assert (field["dropped"], field["dropped_at"]) == (
        4, [f"record {n}: surprise.deep[1].odd key" for n in (2, 3, 4)]
    )  # fmt: skip
    kept = [one for one in file["fields"].values() if not one["dropped"]]
    assert kept
    assert all(one["dropped_at"] == [] for one in kept)


def test_the_first_three_records_without_a_value_are_named(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for n in range(2):
        messages = [{"role": "user", "content": f"ticket {n}"}, {"role": "assistant", "content": "done"}]
        (tmp_path / "in" / f"{n}.json").write_text(json.dumps({"messages": messages}))
    lines = [json.dumps({"messages": [{"role": "user", "content": f"line {n}"}]}) for n in range(5)]
    (tmp_path / "in" / "many.jsonl").write_text("\n".join(lines))
    done = convert("openai-messages", [tmp_path / "in"], tmp_path / "out")
    by_name = {loss.name: loss for loss in done.losses}
    assert by_name["many.jsonl"].defaulted["RUN_FINISHED.cost"] == 5
    first = by_name["many.jsonl"].defaulted_at["RUN_FINISHED.cost"]
    runs = [run.run_id for path in done.ledgers for run in read_ledger(path)]
    assert len(first) == 3
    assert len(set(first)) == 3
    assert set(first) <= {f"run {run_id}" for run_id in runs}
    assert by_name["1.json"].lines()[0].startswith("1 record, 1 run; 4 of 4 values kept")
    assert len(by_name["1.json"].defaulted_at["RUN_FINISHED.cost"]) == 1
    words = "\n".join(by_name["many.jsonl"].lines())
    assert f"not recorded, default used: RUN_FINISHED.cost (5; first: {', '.join(first)})" in words


def test_a_hostile_name_in_a_place_is_bounded_and_escaped(tmp_path: Path) -> None:
    record = foreign_files.tau_record()
    record["\x1b[2J" + "x" * 10_000] = 1
    (tmp_path / "robot-airline.json").write_text(json.dumps([record]))
    done = convert("tau-bench", [tmp_path / "robot-airline.json"], tmp_path / "out")
    (loss,) = done.losses
    places = [place for field in loss.fields for place in field.dropped_at]
    assert places
    assert all(len(place) < 300 and "\x1b" not in place for place in places)
