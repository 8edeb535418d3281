"""The options of each verb on the page of the command line, as the parser declares them.

The page in ``docs/`` names them; ``--help`` and the site explain each. An option that several verbs share
is explained once, in a section of its own.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from untaken.cli import parser

SHARED: Final = "Options of many verbs"
LINK: Final = "#options-of-many-verbs"
OFTEN: Final = 3
"""Verbs that share an option before the page explains it once for all of them."""
NAME: Final = re.compile(r"`(-[^` ]+)")
BLOCK: Final = re.compile(r"\nOptions:(?: .*\n|\n\n(?:- .*\n)*)")


def with_options(page: str, full: bool) -> str:
    """The page with the options of now: in a verb's section at ``Options:``, or below its first paragraph."""
    declared = {name: dict(_options(verb)) for name, verb in verbs(parser())}
    often = Counter(item for options in declared.values() for item in options.items())
    shared = {option: said for (option, said), count in reversed(often.most_common()) if count >= OFTEN}
    blocks = {
        name: _list(_explained(options, shared)) if full else _line(options.values())
        for name, options in declared.items()
    }
    blocks[SHARED] = _list(shared[name] for name in sorted(shared)) if full else ""
    head, *sections = re.split(r"^## ", page, flags=re.MULTILINE)
    return "## ".join([head, *(_renewed(each, blocks.get(each.partition("\n")[0], "")) for each in sections)])


def verbs(
    of: argparse.ArgumentParser, above: str = "untaken"
) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Every verb with the words that lead to it."""
    for action in of._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, inner in action.choices.items():
                yield from list(verbs(inner, f"{above} {name}")) or [(f"{above} {name}", inner)]


def _options(verb: argparse.ArgumentParser) -> Iterator[tuple[str, str]]:
    """Each option by its first long name, and what the page says about it."""
    for action in verb._actions:
        names = sorted(
            (name for name in action.option_strings if name not in ("--help", "-h")), key=len, reverse=True
        )
        if names and names[0] != "--json":
            yield names[0], f"{_names(names, _value(action))}: {(action.help or '').replace('%%', '%')}"


def _value(action: argparse.Action) -> str:
    if action.nargs == 0:
        return ""
    choices = "|".join(map(str, action.choices or ()))
    value = action.metavar or choices or action.dest.upper()
    value = " ".join(value) if isinstance(value, tuple) else value
    return f" {value}{'…' if action.nargs in ('+', '*') else ''}"


def _names(names: list[str], value: str) -> str:
    first, *others = names
    return ", ".join([f"`{first}{value}`", *(f"`{name}`" for name in others)])


def _explained(options: dict[str, str], shared: dict[str, str]) -> Iterator[str]:
    """The verb's own options, then the names of shared ones."""
    known = [f"`{option}`" for option, said in options.items() if shared.get(option) == said]
    yield from (said for option, said in options.items() if shared.get(option) != said)
    if known:
        yield f"[shared]({LINK}): {', '.join(known)}"


def _line(options: Iterable[str]) -> str:
    names = ", ".join(f"`{name}`" for said in options for name in NAME.findall(said.partition("`: ")[0]))
    return f"\nOptions: {names}\n" if names else ""


def _list(items: Iterable[str]) -> str:
    lines = "".join(f"- {item}\n" for item in items)
    return f"\nOptions:\n\n{lines}" if lines else ""


def _renewed(section: str, block: str) -> str:
    if BLOCK.search(section) or not block:
        return BLOCK.sub(lambda _: block, section)
    heading, first, rest = re.split(r"\n\n", f"{section.rstrip()}\n\n", maxsplit=2)
    return f"{heading}\n\n{first}\n{block}\n{rest}"
