"""A language model on the command line: who is asked, where replies are kept, and what it cost."""

from __future__ import annotations

import argparse

from untaken.asking import ModelAccess, ReplyStore
from untaken.asking.access import SETTING
from untaken.cli.console import Console, plain
from untaken.cli.grammar import Parser, count
from untaken.present.numbers import counted

REPLIES = "untaken-replies"


def takes_model(parser: Parser, *, unless: str = f"by default {SETTING}") -> None:
    """``--model``, ``--replies``, ``--offline`` and ``--budget``; `unless`: which model without the first."""
    parser.takes_one("--model", "M", f"provider:name, http://…/v1#name, or local; {unless}")
    parser.takes_one("--replies", "DIR", f"store of replies ({REPLIES})")
    parser.takes_flag("--offline", "use recorded replies only; send no requests")
    parser.takes_one("--budget", "N", "send at most N requests", type=count)


def model_of(args: argparse.Namespace) -> ModelAccess:
    """Access to the model that the options name.

    Raises:
        UntakenError: ``model-not-named``.
    """
    replies = ReplyStore(REPLIES if args.replies is None else args.replies)
    return ModelAccess(args.model, replies, budget=args.budget, offline=args.offline)


def print_cost(model: ModelAccess, console: Console) -> None:
    """Prints the cost of a command to stderr: it is no part of the result."""
    spent = model.spent
    console.warn(
        f"{plain(model.name)}: {counted(spent.requests, 'request')}, {spent.input_tokens:,} tokens in, "
        f"{spent.output_tokens:,} out; {spent.from_store} of {counted(spent.answered, 'answer')} "
        "from the reply store"
    )
