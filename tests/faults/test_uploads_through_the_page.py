"""Uploads through the page of the served app: what they cost its memory, and what hostile ones say.

`--slow` tries all of them and a file of 512 MiB.
"""

from __future__ import annotations

import gzip
import io
import json
import random
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import zstandard
from builders import a_run
from served_page import ServedPage, served_app
from test_disk_trouble import mounted

from untaken import limits
from untaken.workspace import Workspace
from untaken.workspace.intake import take_in

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
MOST_MIB = 1024
"""The promise: what the server, and a process that reads an upload, takes at most."""
SHOWN = 10
"""Reasons that a card says; further ones are in the table of files."""
RANDOM = random.Random(20).randbytes(40_000)
LEDGER = a_run("r1").say("<b>hi</b>").call("search").finish().ledger()
CHAT = json.dumps(
    [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "done"}] * 50
).encode()
OWN_PARENT = b'{"traceId":"aa","spanId":"1","parentSpanId":"1","name":"chat"}'
SPAN = b'{"resourceSpans":[{"scopeSpans":[{"spans":[%b]}]}]}' % OWN_PARENT
MESSAGE = b'{"type":"user","uuid":"a","parentUuid":"a","sessionId":"s","message":{}}\n'
CYCLE = b"schema: untaken.plan/1\nid: a\nsub_goals: [{id: a, deps: [b]}, {id: b, deps: [a]}]"
ITSELF = b'{"schema": "untaken.plan/1", "id": "a", "sub_goals": [{"id": "a", "deps": ["a"]}]}'
BAD_SAMPLES = (("header.json", b'{"eval": {}}'), ("samples/../../x.json", b"[" * 9_999))


def archive(*members: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", method) as opened:
        for name, content in members:
            opened.writestr(name, content)
    return target.getvalue()


def edited(content: bytes, mark: bytes, at: int, value: bytes) -> bytes:
    """An archive with bytes replaced `at` a distance from the first `mark`."""
    place = content.index(mark) + at
    return content[:place] + value + content[place + len(value) :]


ONE = archive(("a.json", CHAT))
CENTRAL = b"PK\x01\x02"
HOSTILE: list[tuple[str, Callable[[], bytes]]] = [
    ("empty.json", lambda: b""),
    ("cut.json", lambda: CHAT[:-30]),
    ("random.jsonl", lambda: RANDOM),
    ("picture.jsonl", lambda: b"\x89PNG\r\n\x1a\n" + RANDOM),
    ("lying-size.zip", lambda: edited(ONE, CENTRAL, 24, (5).to_bytes(4, "little"))),
    ("bomb.zip", lambda: archive(("a.json", bytes(64 << 20)))),
    ("torn.jsonl", lambda: LEDGER[:60]),
    ("cycle.plan.yaml", lambda: CYCLE),
    ("../../etc/passwd.json", lambda: b"root:x:0:0"),
    ("<img src=x onerror=alert(1)>.json", lambda: b"{"),
    ("bomb.jsonl.gz", lambda: gzip.compress(bytes(256 << 20), 1)),
    ("deep.json", lambda: b"[" * 200_000),
    ("newlines.plan.yaml", lambda: b"\n" * 300_000),
    # the rest is slow
    ("blank.json", lambda: b" \n\t" * 10_000),
    ("nul.json", lambda: b"\0"),
    ("document.json", lambda: b"%PDF-1.7\n" + RANDOM),
    ("program.jsonl", lambda: b"\x7fELF" + RANDOM),
    ("page.json", lambda: b"<!doctype html><script>alert(1)</script>"),
    ("xml.json", lambda: b"<?xml version='1.0'?><!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><a>&b;</a>"),
    ("prose.jsonl", lambda: b"nothing but words\n" * 5_000),
    ("unclosed.json", lambda: b'[{"role":"user","content":"' + b'\\"' * 100_000),
    ("deep-objects.json", lambda: b'{"a":' * 200_000),
    ("brackets.jsonl", lambda: b"[" * 65 + b'"' + b'\\"[' * 100_000),
    ("numbers.json", lambda: b"[" + b"9" * 1_000_000 + b"]"),
    ("infinity.json", lambda: b"[NaN, Infinity, -Infinity, 1e999]"),
    ("twice.json", lambda: b'{"a": 1, "a": 2}'),
    ("surrogate.json", lambda: b'{"messages": "\\ud800"}'),
    ("wide.json", lambda: "{}".encode("utf-16")),
    ("latin.json", lambda: b'{"caf\xe9": 1}'),
    ("many-keys.json", lambda: json.dumps({f"k{n}": n for n in range(200_000)}).encode()),
    ("junk.jsonl", lambda: LEDGER + b"junk\n" * 200_000),
    ("lines.jsonl", lambda: LEDGER + b"\n" * 1_000_000),
    ("long.jsonl", lambda: LEDGER + b"x" * (20 << 20)),
    ("flipped.jsonl", lambda: LEDGER.replace(b"search", b"Search")),
    ("swapped.jsonl", lambda: b"\n".join(LEDGER.splitlines()[::-1]) + b"\n"),
    ("tail.jsonl", lambda: LEDGER.split(b"\n", 1)[1]),
    ("bad.heads.json", lambda: b"[]"),
    ("deep.heads.json", lambda: b'{"a":' * 10_000),
    ("twice.plan.yaml", lambda: b"schema: untaken.plan/1\nid: a\nid: b\n"),
    ("aliases.plan.yaml", lambda: b"a: &a [x]\nb: &b [*a,*a,*a]\nc: [*b,*b,*b]\n" + b"d: [*b]\n" * 1000),
    ("tag.plan.yaml", lambda: b"!!python/object/apply:os.system ['true']"),
    ("many.plan.yaml", lambda: b"id: a\nsub_goals:\n" + b"".join(b"- {id: g%d}\n" % n for n in range(6_000))),
    ("deep.plan.yaml", lambda: b"a: " + b"[" * 10_000),
    ("flow.mmd", lambda: b"graph TD\na -" + b"." * 100_000),
    ("arrows.mmd", lambda: b"graph TD\n" + b"a-->b-->" * 50_000),
    ("self.plan.json", lambda: ITSELF),
    ("traversal.zip", lambda: archive(("../../evil.json", b"{"), ("/etc/evil.json", b"{"))),
    ("nested.zip", lambda: archive(("inner.zip", ONE))),
    ("encrypted.zip", lambda: edited(ONE, CENTRAL, 8, b"\x01\x00")),
    ("method.zip", lambda: edited(ONE, CENTRAL, 10, (97).to_bytes(2, "little"))),
    ("truncated.zip", lambda: ONE[:-20]),
    ("checksum.zip", lambda: edited(ONE, CENTRAL, 16, b"\0\0\0\0")),
    ("far.zip", lambda: edited(ONE, CENTRAL, 42, b"\xff\xff\xff\x7f")),
    ("nothing.zip", archive),
    ("crowd.zip", lambda: archive(*((f"{n}", b"") for n in range(limits.ARCHIVE_MEMBERS + 1)))),
    ("junk.zip", lambda: b"PK\x03\x04" + RANDOM),
    ("truncated.json.gz", lambda: gzip.compress(CHAT)[:-12]),
    ("twice.json.gz", lambda: gzip.compress(gzip.compress(CHAT))),
    ("bomb.json.zst", lambda: zstandard.ZstdCompressor(1).compress(bytes(256 << 20))),
    ("truncated.json.zst", lambda: zstandard.ZstdCompressor().compress(RANDOM)[:-40]),
    ("window.json.zst", lambda: b"\x28\xb5\x2f\xfd\x00\xf8" + RANDOM),
    ("bad.eval", lambda: archive(("header.json", b"{"), ("samples/1.json", RANDOM))),
    ("bad-samples.eval", lambda: archive(*BAD_SAMPLES)),
    ("loop.json", lambda: SPAN * 3 + SPAN[:-20]),
    ("parents.jsonl", lambda: MESSAGE * 3 + MESSAGE[:-20]),
    ("wrong.png", lambda: b"GIF89a" + RANDOM),
    ("=cmd|' /C calc'!A0.json", lambda: b"{"),
    ("x" * 3_000 + ".json", lambda: b"{"),
    ("line\nbreak\u202e.json", lambda: b"{"),
]  # fmt: skip
QUICK = 13


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    folder = tmp_path_factory.mktemp("workspace")
    with served_app(folder, port=8971, log=tmp_path_factory.mktemp("log") / "log.txt") as served:
        yield served


@pytest.fixture
def page(server: tuple[subprocess.Popen[bytes], str]) -> Iterator[ServedPage]:
    opened = ServedPage(server[1], "data")
    yield opened
    opened.close()


def peak_mib(process: subprocess.Popen[bytes]) -> int:
    """The most memory that the process had so far."""
    lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) >> 10 for line in lines if line.startswith("VmHWM"))


class Zeros(io.RawIOBase):
    """A stream of so many zeros."""

    def __init__(self, size: int) -> None:
        self._left = size

    def read(self, size: int = -1) -> bytes:
        given = min(self._left, size)
        self._left -= given
        return bytes(given)


def test_a_large_upload_never_enters_the_memory_of_the_server(server, page, request) -> None:
    size = (512 if request.config.getoption("--slow") else 96) << 20
    before = peak_mib(server[0])
    page.put("large.jsonl", Zeros(size), size)  # type: ignore[arg-type]
    assert peak_mib(server[0]) - before < 32


def test_hostile_uploads_are_named_with_a_reason_and_the_next_good_one_works(server, page, request) -> None:
    chosen = HOSTILE if request.config.getoption("--slow") else HOSTILE[:QUICK]
    assert len(HOSTILE) >= 60
    for start in range(0, len(chosen), SHOWN):
        part = [(name, make()) for name, make in chosen[start : start + SHOWN]]
        page.upload(part)
        assert not [element for kind, element in page.elements if kind == "exception"]
        reasons = [text for text in page.words("text") if text[:1] in "✗⚠"]
        shown = [name for name, _ in part if not any(_named(name, reason) for reason in reasons)]
        assert shown == [], "uploads without a reason"
    good = a_run("good").call("search").finish().ledger()
    page.upload([("good.jsonl", good)])
    assert "1 of 1 file added." in page.words("alert")
    assert peak_mib(server[0]) < MOST_MIB


def test_a_disk_that_fills_up_while_a_file_is_sent_is_named_and_the_server_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with mounted(tmp_path / "small", "-t", "tmpfs", "-o", "size=3m", "tmpfs") as small:
        monkeypatch.setenv("TMPDIR", str(small))
        with served_app(tmp_path / "workspace", port=8973, log=(log := tmp_path / "log.txt")) as (_, address):
            page = ServedPage(address, "data")
            status, said = page.answer_to("large [1].jsonl", Zeros(8 << 20), 8 << 20)  # type: ignore[arg-type]
            assert status == 507
            assert "No space left on device [disk-full]" in said
            assert "Free some space" in said
            page.drawn()  # by itself
            shown = page.words("alert")[0].replace("\\", "")
            assert "large [1].jsonl was not received" in shown
            assert "No space left on device [disk-full]. Free some space" in shown
            page.upload([("good.jsonl", LEDGER)])
            assert "1 of 1 file added." in page.words("alert")
            page.close()
        assert "Traceback" not in log.read_text()


def _named(name: str, reason: str) -> bool:
    """Whether a reason speaks of an upload: by the first letters of its name that are printed."""
    return re.split(r"[^ -~]", name)[0][:12] in reason


@pytest.mark.parametrize(("name", "make"), HOSTILE[:QUICK], ids=[name for name, _ in HOSTILE[:QUICK]])
def test_what_is_wrong_with_a_hostile_file_comes_with_the_next_step(name, make, tmp_path) -> None:
    with Workspace(tmp_path) as workspace:
        rows = take_in(workspace, [(name, make())])
    faults = [found for row in rows for found in row.findings if found.severity == "error"]
    assert faults
    assert [found.message for found in faults if not found.hint] == []
