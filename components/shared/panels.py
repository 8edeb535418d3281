"""One broken part of a page does not break the page: it says what went wrong in its place."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Final, ParamSpec, TypeVar

import streamlit as st

from components.shared import text
from untaken.errors import Finding, UntakenError, disk_trouble

LOG: Final = logging.getLogger("untaken.app")
"""Where the traceback of what nobody foresaw goes: the server's log, never a page."""

Given = ParamSpec("Given")
Answer = TypeVar("Answer")


@contextmanager
def failing_alone() -> Iterator[None]:
    """What fails inside is said in words, with its code and what to do; what follows is drawn."""
    try:
        yield
    except UntakenError as error:  # a database that is locked or damaged, a file that went away
        show(error.finding())
    except OSError as error:
        LOG.exception("disk error")
        show(disk_trouble(error).finding())
    except Exception:  # Streamlit's own stops and reruns are none, and pass
        LOG.exception("a part of a page failed")
        hint = "Reload the page. If it happens again, report it with the log of the server."
        show(Finding(code="panel-failed", message="This part of the page could not be drawn", hint=hint))


def panel(draw: Callable[Given, Answer]) -> Callable[Given, Answer | None]:
    """Marks a part of a page: where it fails it says so, answers ``None``, and the rest is drawn."""

    @wraps(draw)
    def drawn(*args: Given.args, **named: Given.kwargs) -> Answer | None:
        with failing_alone():
            return draw(*args, **named)
        return None

    return drawn


def show(found: Finding) -> None:
    """What went wrong, with its code and what to do, in place of what it broke."""
    st.error(text.label(f"{found.message} [{found.code}]. {found.hint}", 600), icon=":material/error:")
