"""A language model on the command line: who is asked, where replies are kept, and what it cost."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager

from untaken.cli.console import Console, plain
from untaken.cli.grammar import Parser, count
from untaken.errors import UntakenError
from untaken.judging import SETTING, ModelAccess, ReplyStore
from untaken.numbers import counted

REPLIES = "untaken-replies"


def takes_model(parser: Parser, *, unless: str = f"by default {SETTING}") -> None:
    """``--model``, ``--replies``, ``--offline`` and ``--budget``; `unless`: which model without the first."""
    parser.takes_one("--model", "M", f"provider:name, http://…/v1#name, or local; {unless}")
    parser.takes_one("--replies", "DIR", f"store of replies ({REPLIES})")
    parser.takes_flag("--offline", "use recorded replies only; send no requests")
    parser.takes_one("--budget", "N", "send at most N requests", type=count)


@contextmanager
def model_of(args: argparse.Namespace, console: Console) -> Iterator[ModelAccess]:
    """Access to the model that the options name; then what it cost is said.

    Raises:
        UntakenError: ``model-not-named``; ``model-silent`` where there were questions, and no answer to any.
    """
    replies = ReplyStore(REPLIES if args.replies is None else args.replies)
    with ModelAccess(args.model, replies, budget=args.budget, offline=args.offline) as model:
        yield model
    spent = model.spent
    console.warn(  # on stderr: it is no part of the result
        f"{plain(model.name)}: {counted(spent.requests, 'request')}, {spent.input_tokens:,} tokens in, "
        f"{spent.output_tokens:,} out; {spent.from_store} of {counted(spent.answered, 'answer')} "
        "from the reply store"
    )
    if spent.unanswered and not spent.answered:
        raise UntakenError(
            "model-silent",
            f"{counted(spent.unanswered, 'question')} and no answer: {spent.why}",
            hint="Check the model, its address and its key; then run the command again.",
        )
