"""Every small mutation of ledgers of twenty events: the exact verdict, and the first bad line.

A mutation is known by what it did, so the verdict that it must have is known too, by rules as short as these:
with heads whatever changed is seen, at the line that was changed or at the one after it whose link breaks;
without heads what a chain cannot prove is UNANCHORED, and says so. Never is a damaged run INTACT.
`--slow` tries ten times as many ledgers.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise

import pytest
from builders import RunBuilder, a_run
from msgspec.structs import replace

from untaken.ledger import Head, Integrity, verify_ledger

EVENTS = 20
PREV = re.compile(rb'"prev":"[0-9a-f]{64}"')
SEQ = re.compile(rb'"seq":\d+')
BROKEN = {"TRUNCATED", "ALTERED", "MALFORMED"}
Verify = Callable[[bytes, dict[str, Head] | None], list[Integrity]]


def verify(data: bytes, heads: dict[str, Head] | None) -> list[Integrity]:
    return verify_ledger(data, heads=heads)


def a_ledger(seed: int) -> RunBuilder:
    """Twenty events of every kind, with numbers, other alphabets, empty and nested values in them."""
    chance = random.Random(seed)
    words = ["ok", "", "größer", "東京", "a\\b", '"', "😀", "x" * 40, "line\nbreak"]
    run = a_run("r", agent=f"agent {seed}", task="t")
    while len(run.lines) < EVENTS - 1:
        left = EVENTS - 1 - len(run.lines)
        match chance.randrange(4):
            case 0 if left >= 2:
                run.call("look", ok=chance.random() < 0.5, n=chance.randrange(10**9), at=chance.random())
            case 1:
                run.plan(*chance.sample(["a", "b", "c"], 2))
            case 2:
                run.select("careful", "eager")
            case _:
                run.say(chance.choice(words))
    return run.finish(success=chance.random() < 0.5)


@dataclass(frozen=True, kw_only=True)
class Mutation:
    """A damaged ledger, and the expected verdict on its run.

    Attributes:
        verdicts: those it may have with heads; `without`: those without.
        line: the first bad line; ``None`` where no one line is.
    """

    desc: str
    lines: list[bytes]
    verdicts: set[str]
    without: set[str]
    line: int | None = None

    @property
    def data(self) -> bytes:
        return b"".join(line + b"\n" for line in self.lines)


def rehashed(lines: list[bytes], start: int) -> list[bytes]:
    """The lines with their links made right again from `start` on, as by a forger who knows the format."""
    out = lines[:start]
    for n, line in enumerate(lines[start:], start):
        prev = sha256(out[-1]).hexdigest() if out else "0" * 64
        out.append(PREV.sub(b'"prev":"%s"' % prev.encode(), SEQ.sub(b'"seq":%d' % n, line, count=1), count=1))
    return out


def edited(line: bytes) -> bytes:
    """The line with other words in it that are as valid."""
    return line.replace(b'"ts":"2026', b'"ts":"2027', 1)


def structural(lines: list[bytes]) -> Iterator[Mutation]:
    """Deletions, duplications, swaps, insertions, cuts and re-hashes, at every line."""
    last = len(lines) - 1
    altered, cut, chain_only = {"ALTERED"}, {"TRUNCATED"}, {"UNANCHORED"}
    for n in range(len(lines)):
        at_end = n == last
        rest = lines[:n] + lines[n + 1 :]
        yield Mutation(
            desc=f"line {n + 1} deleted",
            lines=rest,
            verdicts=cut if at_end else altered,
            without=chain_only if at_end else altered,
            line=None if at_end else n + 1,
        )
        twice = lines[: n + 1] + lines[n:]
        yield Mutation(desc=f"line {n + 1} twice", lines=twice, verdicts=altered, without=altered, line=n + 2)
        yield Mutation(
            desc=f"line {n + 1} edited",
            lines=[*lines[:n], edited(lines[n]), *lines[n + 1 :]],
            verdicts=altered,
            without=chain_only if at_end else altered,
            line=n + 1 if at_end else n + 2,
        )
        yield Mutation(
            desc=f"line {n + 1} edited, all hashed again",
            lines=rehashed([*lines[:n], edited(lines[n]), *lines[n + 1 :]], n),
            verdicts=altered,
            without=chain_only,
            line=len(lines),
        )
        if n:
            yield Mutation(desc=f"cut before line {n + 1}", lines=lines[:n], verdicts=cut, without=chain_only)
            if not at_end:
                yield Mutation(
                    desc=f"line {n + 1} deleted, all hashed again",
                    lines=rehashed(rest, n),
                    verdicts=cut,
                    without=chain_only,
                )
    for a in range(len(lines)):
        for b in range(a + 1, len(lines)):
            swapped = list(lines)
            swapped[a], swapped[b] = swapped[b], swapped[a]
            yield Mutation(
                desc=f"lines {a + 1} and {b + 1} swapped",
                lines=swapped,
                verdicts=altered,
                without=altered,
                line=a + 1,
            )


def found_of(data: bytes, heads: dict[str, Head] | None, check: Verify) -> Integrity:
    """The verdict on the run, or on the file where no line of it names the run any more."""
    verdicts = check(data, heads)
    return next((one for one in verdicts if one.run_id == "r"), verdicts[0])


SEEDS = range(30)


@pytest.fixture(scope="module")
def ledgers(request: pytest.FixtureRequest) -> list[RunBuilder]:
    return [a_ledger(seed) for seed in (SEEDS if request.config.getoption("--slow") else SEEDS[:3])]


def test_every_change_of_lines_has_its_verdict_and_its_first_bad_line(ledgers: list[RunBuilder]) -> None:
    for run in ledgers:
        tried = list(structural(run.lines))
        assert len(tried) > 280
        for mutation in tried:
            found = found_of(mutation.data, {"r": run.head}, verify)
            assert (found.verdict in mutation.verdicts, found.line) == (True, mutation.line), mutation.desc
            assert found_of(mutation.data, None, verify).verdict in mutation.without, mutation.desc


def line_of(data: bytes, at: int) -> int:
    return data.count(b"\n", 0, at) + 1


def test_every_flipped_bit_is_seen_at_its_line_or_at_the_one_after(ledgers, request) -> None:
    step = 1 if request.config.getoption("--slow") else 5  # prime to 8: every bit of a byte is met
    for run in ledgers[: max(1, len(ledgers) // 3)]:
        data = run.ledger()
        for bit in range(0, len(data) * 8, step):
            flipped = bytearray(data)
            flipped[bit // 8] ^= 1 << bit % 8
            where = line_of(data, bit // 8)
            with_heads = verify_ledger(bytes(flipped), heads={"r": run.head})
            assert any(one.verdict in BROKEN for one in with_heads), bit
            first = min(one.line or len(run.lines) for one in with_heads if one.verdict in BROKEN)
            assert first in (where, where + 1), (bit, first, where)
            alone = verify_ledger(bytes(flipped))
            assert all(one.verdict != "INTACT" for one in alone), bit
            if where < len(run.lines):
                assert any(one.verdict in BROKEN for one in alone), bit


def test_every_cut_is_seen(ledgers: list[RunBuilder]) -> None:
    run = ledgers[0]
    data = run.ledger()
    for size in range(len(data) - 1):  # without its last newline nothing is lost
        found = verify_ledger(data[:size], heads={"r": run.head})
        assert {one.verdict for one in found} & BROKEN, size
        ends_a_line = data[size - 1 : size] == b"\n" or data[size : size + 1] == b"\n"
        if ends_a_line and size:
            assert [(one.verdict, one.line) for one in found] == [("TRUNCATED", None)], size


def forgets_heads(data: bytes, heads: dict[str, Head] | None) -> list[Integrity]:
    """A checker that calls a chain intact because there is a head, whatever it says."""
    found = verify_ledger(data)
    return [replace(one, verdict="INTACT") if heads and not one.broken else one for one in found]


def skips_links(data: bytes, heads: dict[str, Head] | None) -> list[Integrity]:
    """A checker that counts lines and never looks at a link."""
    (head,) = heads.values() if heads else [None]
    count = data.count(b"\n")
    if head is None or count == head.events:
        return [Integrity(run_id="r", verdict="INTACT" if head else "UNANCHORED", reason="")]
    return [Integrity(run_id="r", verdict="TRUNCATED" if count < head.events else "ALTERED", reason="")]


def one_line_late(data: bytes, heads: dict[str, Head] | None) -> list[Integrity]:
    """A checker that names the line after the first bad one."""
    found = verify_ledger(data, heads=heads)
    return [replace(one, line=one.line and one.line + 1) for one in found]


@pytest.mark.parametrize("broken", [forgets_heads, skips_links, one_line_late], ids=lambda f: f.__name__)
def test_the_harness_catches_a_broken_checker(broken: Verify) -> None:
    run = a_ledger(0)
    missed = 0
    for mutation in structural(run.lines):
        found = found_of(mutation.data, {"r": run.head}, broken)
        missed += found.verdict not in mutation.verdicts or found.line != mutation.line
    assert missed


def malformed(seed: int) -> bytes:
    """A ledger with a few lines of nonsense in it."""
    chance = random.Random(seed)
    lines = list(a_ledger(seed).lines)
    for _ in range(chance.randrange(1, 6)):
        at = chance.randrange(len(lines))
        line = lines[at]
        lines[at] = chance.choice(
            [
                line[: len(line) // chance.randrange(2, 9)],
                line[len(line) // chance.randrange(2, 9) + 1 :],
                line.replace(b":", b"::", 1),
                line.replace(b'"r"', b'"\xed\xa0\x80"'),
                line[:-1] + b',"type":"MESSAGE"}',
                line[:-1] + b',"n":NaN}',
                line[:-1] + b',"n":1e999}',
                line[:-1] + b',"n":' + b"[" * 300 + b"]" * 300 + b"}",
                chance.randbytes(chance.randrange(80)).replace(b"\n", b""),
                b"",
                b"null",
                b"[" * chance.randrange(1, 5000),
                b'{"type":"RUN_STARTED"}',
            ]
        )
    return b"".join(line + b"\n" for line in lines)


def test_generated_malformed_ledgers_give_findings_and_never_a_crash(request: pytest.FixtureRequest) -> None:
    heads = {"r": a_ledger(0).head}
    for seed in range(1200 if request.config.getoption("--slow") else 120):
        data = malformed(seed)
        found = verify_ledger(data, heads=heads)
        assert {one.verdict for one in found} & BROKEN, seed
        assert all(one.reason for one in found), seed


def test_reading_takes_less_memory_than_four_times_the_file() -> None:
    import tracemalloc

    lines = b"".join(malformed(seed) for seed in range(40))
    data = lines * (4_000_000 // len(lines))
    verify_ledger(data[:1000])
    tracemalloc.start()
    verify_ledger(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * len(data)


def test_mutations_differ_from_the_ledger_they_were_made_of() -> None:
    run = a_ledger(1)
    assert all(mutation.lines != run.lines for mutation in structural(run.lines))
    assert len(run.lines) == EVENTS
    assert all(sha256(a).hexdigest().encode() in b for a, b in pairwise(run.lines))
