"""Python's garbage collector is left as it was found, whatever happens in between."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from threading import Barrier, Thread

import pytest

from untaken.garbage import SELDOM, seldom_collected


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


def test_thresholds_are_raised_inside_and_restored_after_an_error() -> None:
    gc.set_threshold(321, 7, 5)

    def fails() -> None:
        with seldom_collected():
            assert gc.get_threshold() == SELDOM
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    assert gc.get_threshold() == (321, 7, 5)


def test_a_block_inside_a_block_restores_nothing_early() -> None:
    gc.set_threshold(321, 7, 5)
    with seldom_collected():
        with seldom_collected():
            pass
        assert gc.get_threshold() == SELDOM
    assert gc.get_threshold() == (321, 7, 5)


def test_a_collector_that_is_off_stays_off() -> None:
    gc.set_threshold(0, 7, 5)
    with seldom_collected():
        assert gc.get_threshold() == (0, 7, 5)


def test_of_threads_that_overlap_the_last_restores_the_thresholds() -> None:
    gc.set_threshold(321, 7, 5)
    both_inside, first_out = Barrier(2), Barrier(2)

    def long() -> None:
        with seldom_collected():
            both_inside.wait()
            first_out.wait()
            assert gc.get_threshold() == SELDOM

    other = Thread(target=long)
    other.start()
    with seldom_collected():
        both_inside.wait()
    first_out.wait()
    other.join()
    assert gc.get_threshold() == (321, 7, 5)
