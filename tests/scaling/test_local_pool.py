"""Worker processes: lost chunks are done again, late ones twice, and results keep their order."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from untaken.errors import UntakenError
from untaken.scaling import pool as pools
from untaken.scaling.chunks import chunks
from untaken.scaling.pool import LocalPool


def shout(shared: bytes, chunk: bytes) -> bytes:
    return shared + chunk.upper()


def die(_shared: bytes, _chunk: bytes) -> bytes:
    os.kill(os.getpid(), signal.SIGKILL)
    return b""


def refuse(_shared: bytes, chunk: bytes) -> bytes:
    raise UntakenError("threshold-invalid", chunk.decode(), hint="no")


def hang_once(shared: bytes, chunk: bytes) -> bytes:
    """The first one to get the last chunk never answers."""
    flag = Path(shared.decode()) / "seen"
    if chunk == b"5":
        try:
            flag.touch(exist_ok=False)
        except FileExistsError:
            return chunk
        time.sleep(600)
    return chunk


@pytest.fixture(scope="module")
def pool() -> Iterator[LocalPool]:
    pool = LocalPool(2)
    yield pool
    pool.close()


def test_answers_come_in_the_order_of_the_chunks(pool: LocalPool) -> None:
    asked = [bytes([letter]) for letter in b"abcdefgh"]
    assert list(pool.map(shout, asked, b">")) == [b">" + letter.upper() for letter in asked]
    assert list(pool.map(shout, [b"a"], b"<")) == [b"<A"], "another call shares something else"
    assert list(pool.map(shout, [])) == []


def test_an_error_of_the_work_is_raised_here_in_its_own_words(pool: LocalPool) -> None:
    with pytest.raises(UntakenError) as error:
        list(pool.map(refuse, [b"too low"]))
    assert (error.value.code, error.value.message, error.value.hint) == ("threshold-invalid", "too low", "no")


def test_a_chunk_that_costs_one_worker_after_the_other_is_given_up(pool: LocalPool) -> None:
    with pytest.raises(UntakenError) as error:
        list(pool.map(die, [b"a"]))
    assert error.value.code == "worker-lost"
    assert list(pool.map(shout, [b"a"])) == [b"A"], "the pool is still of use"


def test_a_late_chunk_is_given_to_an_idle_worker(
    pool: LocalPool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pools, "STRAGGLES_SECONDS", 0.05)
    monkeypatch.setattr(pools, "LOOK_SECONDS", 0.05)
    asked = [b"%d" % number for number in range(6)]
    assert list(pool.map(hang_once, asked, str(tmp_path).encode())) == asked


SPLITS = [
    ([1] * 16, 1, [2] * 8),
    ([100, 1, 1, 1], 1, [1, 3]),
    ([], 4, []),
    ([0, 0, 0], 2, [3]),
    ([5, 5, 5, 5], 4, [1, 1, 1, 1]),
]


@pytest.mark.parametrize(("sizes", "workers", "want"), SPLITS)
def test_chunks_hold_about_equally_many_bytes_in_order(
    sizes: list[int], workers: int, want: list[int]
) -> None:
    made = list(chunks(list(range(len(sizes))), sizes, workers=workers))
    assert [len(chunk) for chunk in made] == want
    assert [item for chunk in made for item in chunk] == list(range(len(sizes)))
