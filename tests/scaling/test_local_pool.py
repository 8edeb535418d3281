"""Worker processes: lost chunks are done again, and results keep their order."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from multiprocessing import active_children
from pathlib import Path

import pytest

from untaken.errors import UntakenError
from untaken.facts.scaling.pool import LocalPool, chunks


def shout(shared: bytes, chunk: bytes) -> bytes:
    return shared + chunk.upper()


def die(_shared: bytes, _chunk: bytes) -> bytes:
    os.kill(os.getpid(), signal.SIGKILL)
    return b""


def refuse(_shared: bytes, chunk: bytes) -> bytes:
    raise UntakenError("threshold-invalid", chunk.decode(), hint="no")


def die_once(shared: bytes, chunk: bytes) -> bytes:
    """The first one to get the last chunk ends without an answer."""
    if chunk == b"5":
        try:
            (Path(shared.decode()) / "seen").touch(exist_ok=False)
        except FileExistsError:
            return chunk
        os.kill(os.getpid(), signal.SIGKILL)
    return chunk


def sleep(_shared: bytes, chunk: bytes) -> bytes:
    time.sleep(float(chunk))
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
    assert list(pool.map(shout, [], b"")) == []


def test_an_error_of_the_work_is_raised_here_in_its_own_words(pool: LocalPool) -> None:
    with pytest.raises(UntakenError) as error:
        list(pool.map(refuse, [b"too low"], b""))
    assert (error.value.code, error.value.message, error.value.hint) == ("threshold-invalid", "too low", "no")


def test_a_chunk_that_costs_one_worker_after_the_other_is_given_up(pool: LocalPool) -> None:
    with pytest.raises(UntakenError) as error:
        list(pool.map(die, [b"a"], b""))
    assert error.value.code == "worker-lost"
    assert list(pool.map(shout, [b"a"], b"")) == [b"A"], "the pool is still of use"


@pytest.mark.parametrize("which", [0, 1])
def test_nobody_waits_for_a_worker_that_is_killed_after_the_last_answer(pool: LocalPool, which: int) -> None:
    answers = pool.map(shout, [b"a", b"b", b"c", b"d"], b"")
    assert [next(answers) for _ in range(4)] == [b"A", b"B", b"C", b"D"]
    time.sleep(0.2)  # until both wait for work
    active_children()[which].kill()
    assert list(answers) == []
    assert not active_children()


def test_a_chunk_that_is_lost_with_its_worker_is_done_again(pool: LocalPool, tmp_path: Path) -> None:
    asked = [b"%d" % number for number in range(6)]
    assert list(pool.map(die_once, asked, str(tmp_path).encode())) == asked


def test_where_nobody_wants_more_answers_the_workers_end(pool: LocalPool) -> None:
    answers = pool.map(sleep, [b"0", b"600", b"600"], b"")
    assert next(answers) == b"0"
    answers.close()
    assert active_children() == []


SPLITS = [
    ([1] * 16, 1, [2] * 8),
    ([100, 1, 1, 1], 1, [1, 3]),
    ([], 4, []),
    ([0, 0, 0], 2, [3]),
    ([5, 5, 5, 5], 4, [1, 1, 1, 1]),
]


@pytest.mark.parametrize(("sizes", "workers", "want"), SPLITS)
def test_chunks_hold_about_equally_many_bytes_in_order(sizes, workers, want) -> None:
    made = list(chunks(list(range(len(sizes))), sizes, workers=workers))
    assert [len(chunk) for chunk in made] == want
    assert [item for chunk in made for item in chunk] == list(range(len(sizes)))
