"""Ledgers with one defect each: the verdict wanted, and the first bad line named."""

from __future__ import annotations

import re
from collections.abc import Callable
from hashlib import sha256

import pytest
from builders import RunBuilder, a_run

from untaken.errors import UntakenError
from untaken.ledger import Message, RunFinished, RunStarted, read_ledger, verify_ledger

Lines = list[bytes]
PREV = rb'"prev":"[0-9a-f]{64}"'
ZEROED = b'"prev":"' + b"0" * 64 + b'"'
BEFORE, AFTER = b'"order":17', b'"order":18'
FAILED, SUCCEEDED = b'"success":false', b'"success":true'


def good() -> RunBuilder:
    """Nine lines: start, plan, decision, two calls with what came back, finish."""
    return (
        a_run("r1", task="refund-17")
        .plan("order", "eligibility")
        .select("careful", "eager")
        .call("search", ok=True, order=17)
        .call("refund", ok=True, order=17)
        .say("done")
        .finish(success=False)
    )


def rehashed(lines: Lines, start: int) -> Lines:
    """The lines with `seq` and `prev` made right again from `start` on: a forger who knows the format."""
    out = lines[:start]
    for n, line in enumerate(lines[start:], start):
        prev = sha256(out[-1]).hexdigest() if out else "0" * 64
        numbered = re.sub(rb'"seq":\d+', b'"seq":%d' % n, line, count=1)
        out.append(re.sub(PREV, b'"prev":"%s"' % prev.encode(), numbered, count=1))
    return out


def swap(lines: Lines, a: int, b: int) -> Lines:
    out = list(lines)
    out[a], out[b] = out[b], out[a]
    return out


def edit(lines: Lines, n: int, old: bytes, new: bytes) -> Lines:
    assert old in lines[n]
    return [*lines[:n], lines[n].replace(old, new, 1), *lines[n + 1 :]]


def extra(kind: type, **fields: object) -> Callable[[Lines], Lines]:
    """The run with one more event, correctly chained."""
    return lambda lines: good().add(kind, **fields).lines


LAST = 8
FORGED = {"success": True, "steps": 0}

# What was done, how, the verdict wanted with heads, the line wanted, the verdict wanted without heads.
TAMPERED: list[tuple[str, Callable[[Lines], Lines], str, int | None, str]] = [
    ("nothing", lambda x: x, "INTACT", None, "UNANCHORED"),
    ("outcome flipped", lambda x: edit(x, LAST, FAILED, SUCCEEDED), "ALTERED", 9, "UNANCHORED"),
    ("argument edited", lambda x: edit(x, 3, BEFORE, AFTER), "ALTERED", 5, "ALTERED"),
    ("space added", lambda x: edit(x, 3, b":", b": "), "ALTERED", 5, "ALTERED"),
    ("time moved", lambda x: edit(x, 1, b"00:01Z", b"00:02Z"), "ALTERED", 3, "ALTERED"),
    ("first line deleted", lambda x: x[1:], "ALTERED", 1, "ALTERED"),
    ("middle line deleted", lambda x: x[:4] + x[5:], "ALTERED", 5, "ALTERED"),
    ("last line deleted", lambda x: x[:-1], "TRUNCATED", None, "UNANCHORED"),
    ("all but the first line deleted", lambda x: x[:1], "TRUNCATED", None, "UNANCHORED"),
    ("two lines swapped", lambda x: swap(x, 3, 5), "ALTERED", 4, "ALTERED"),
    ("last two lines swapped", lambda x: swap(x, 7, 8), "ALTERED", 8, "ALTERED"),
    ("line doubled", lambda x: x[:4] + x[3:], "ALTERED", 5, "ALTERED"),
    ("last line doubled", lambda x: [*x, x[-1]], "ALTERED", 10, "ALTERED"),
    ("whole run doubled", lambda x: x + x, "ALTERED", 10, "ALTERED"),
    ("line deleted, all hashed again", lambda x: rehashed(x[:4] + x[5:], 4), "TRUNCATED", None, "UNANCHORED"),
    ("edited, hashed again", lambda x: rehashed(edit(x, 3, BEFORE, AFTER), 3), "ALTERED", 9, "UNANCHORED"),
    ("valid event added", extra(Message, role="user", content="x"), "ALTERED", 10, "MALFORMED"),
    ("seq skipped", lambda x: edit(x, 5, b'"seq":5', b'"seq":6'), "ALTERED", 6, "ALTERED"),
    ("prev zeroed", lambda x: [re.sub(PREV, ZEROED, y) for y in x], "ALTERED", 2, "ALTERED"),
    ("prev in capitals", lambda x: edit(x, 2, x[2][70:90], x[2][70:90].upper()), "MALFORMED", 3, "MALFORMED"),
    ("first prev invented", lambda x: edit(x, 0, b"0" * 64, b"1" * 64), "ALTERED", 1, "ALTERED"),
    ("renamed", lambda x: [y.replace(b'"r1"', b'"r2"') for y in x], "TRUNCATED", None, "missing"),
    ("line torn", lambda x: [*x[:5], x[5][:40], *x[6:]], "MALFORMED", 6, "MALFORMED"),
    ("last line torn", lambda x: [*x[:-1], x[-1][:60]], "MALFORMED", 9, "MALFORMED"),
    ("two lines joined", lambda x: [*x[:5], x[5] + x[6], *x[7:]], "MALFORMED", 6, "MALFORMED"),
    ("key doubled", lambda x: edit(x, 8, FAILED, SUCCEEDED + b"," + FAILED), "MALFORMED", 9, "MALFORMED"),
    ("NaN for a cost", lambda x: edit(x, 8, b"0.5", b"NaN"), "MALFORMED", 9, "MALFORMED"),
    ("unknown type", lambda x: edit(x, 3, b"TOOL_CALL", b"TOOL_CULT"), "MALFORMED", 4, "MALFORMED"),
    ("bad UTF-8", lambda x: edit(x, 7, b"done", b"d\xffne"), "MALFORMED", 8, "MALFORMED"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("desc", "tamper", "want", "line", "without"), TAMPERED, ids=[case[0] for case in TAMPERED]
)
def test_tampering_has_the_verdict_wanted_and_names_the_line(desc, tamper, want, line, without) -> None:
    run = good()
    data = b"".join(one + b"\n" for one in tamper(run.lines))
    found = {one.run_id: one for one in verify_ledger(data, heads={"r1": run.head})}["r1"]
    assert (found.verdict, found.line) == (want, line)
    assert found.reason
    assert (found.column is None) is (want != "MALFORMED")
    alone = {one.run_id: one.verdict for one in verify_ledger(data)}  # only the chain can tell
    assert alone.get("r1", "missing") == without


@pytest.mark.parametrize(
    ("desc", "tamper", "want", "_line", "_without"), TAMPERED[1:], ids=[case[0] for case in TAMPERED[1:]]
)
def test_strict_reading_raises_and_lenient_reading_marks_the_run(desc, tamper, want, _line, _without) -> None:
    run = good()
    data = b"".join(one + b"\n" for one in tamper(run.lines))
    with pytest.raises(UntakenError) as caught:
        read_ledger(data, heads={"r1": run.head})
    assert caught.value.hint
    read, findings = read_ledger(data, strict=False, heads={"r1": run.head})
    assert findings
    for one in (one for one in read if one.run_id == "r1"):
        assert one.integrity.broken
        assert list(one.events) == run.events[: len(one.events)] or want == "ALTERED" or "again" in desc


MISPLACED = [
    ("no RUN_STARTED", lambda: _from(Message, role="user", content="hi"), 1),
    ("RUN_STARTED twice", lambda: a_run("r1").add(RunStarted, agent="a", task_id="t"), 2),
    ("RUN_FINISHED twice", lambda: a_run("r1").finish().add(RunFinished, **FORGED), 3),
    ("a tool call after the end", lambda: a_run("r1").finish().call("search"), 3),
    ("a message after a note after the end", lambda: a_run("r1").finish().verdict("a", True).say("x"), 4),
]  # fmt: skip


def _from(kind: type, **fields: object) -> RunBuilder:
    run = a_run("r1")
    run.events.clear()
    run.lines.clear()
    return run.add(kind, **fields)


@pytest.mark.parametrize(("desc", "build", "line"), MISPLACED, ids=[case[0] for case in MISPLACED])
def test_an_event_out_of_place_is_malformed_though_the_chain_holds(desc, build, line) -> None:
    run = build()
    (found,) = verify_ledger(run.ledger(), heads={"r1": run.head})
    assert (found.verdict, found.line) == ("MALFORMED", line)


def test_a_verdict_may_follow_the_end() -> None:
    run = a_run("r1").finish().verdict("a", True)
    assert verify_ledger(run.ledger(), heads={"r1": run.head})[0].verdict == "INTACT"
