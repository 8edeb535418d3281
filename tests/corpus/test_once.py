"""What is worked out when it is first asked for."""

from __future__ import annotations

from threading import Barrier, Thread

import pytest

from untaken.caching import Once


def test_of_many_who_ask_at_the_same_time_one_works_it_out_and_all_get_the_same() -> None:
    together, made, got = Barrier(8), list[object](), list[object]()

    def make() -> object:
        made.append(object())
        return made[-1]

    once = Once(make)

    def ask() -> None:
        together.wait(10)
        got.append(once())

    assert not once.known
    threads = [Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert once.known
    assert len(made) == 1
    assert got == made * 8


def test_what_could_not_be_worked_out_is_tried_again() -> None:
    tries = iter([ZeroDivisionError, None])

    def make() -> int:
        if error := next(tries):
            raise error
        return 5

    once = Once(make)
    with pytest.raises(ZeroDivisionError):
        once()
    assert not once.known
    assert once() == 5
