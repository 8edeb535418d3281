"""The words that several verbs share."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TypeAlias

from untaken.cli.verbs import VERBS, examples

if TYPE_CHECKING:
    from untaken.cli.console import Console

Run: TypeAlias = "Callable[[argparse.Namespace, Console], int]"
Verbs: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

MOST_NAMED = 5
MISSING_WORDS = {"fail": "count as not completed", "drop": "are left out"}


class Parser(argparse.ArgumentParser):
    """A parser whose help ends in examples, and that answers a wrong option with its own usage."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"formatter_class": argparse.RawDescriptionHelpFormatter, **options})

    def format_help(self) -> str:
        """The help of argparse, with the examples of this verb."""
        shown = "".join(f"  $ {example}\n" for example in examples(self.prog))
        return super().format_help() + (f"\nexamples:\n{shown}" if shown else "")

    def parse_known_args(self, *args: Any, **options: Any) -> Any:
        """Parses like argparse, but stops at words left over: the parent parser would print its own usage."""
        found, left_over = super().parse_known_args(*args, **options)
        if left_over:
            known = [option for action in self._actions for option in action.option_strings]
            near = get_close_matches(left_over[0].partition("=")[0], known, n=1)
            suggestion = f"; did you mean {near[0]}?" if near else ""
            self.error(f"unrecognized arguments: {' '.join(left_over)}{suggestion}")
        return found, left_over


def verb(verbs: Verbs, name: str, run: Run, does: str = "") -> argparse.ArgumentParser:
    """A verb with ``--json``; what it does is said in `VERBS`, or, for one of a group, by `does`."""
    does = does or VERBS[name]
    parser = verbs.add_parser(name, help=does, description=f"{does[0].upper()}{does[1:]}.")
    parser.add_argument(
        "--json", action="store_true", help="print one JSON document on stdout and nothing else"
    )
    parser.set_defaults(run=run)
    return parser


def takes_ledgers(parser: argparse.ArgumentParser, *, few: str = "+") -> None:
    """``PATH…``."""
    parser.add_argument(
        "paths",
        nargs=few,
        metavar="PATH",
        help="ledger, or folder with .jsonl, .jsonl.gz or .jsonl.zst files; or its URL, e.g. s3://…",
    )


class TakesMany(argparse.Action):
    """An option with one value or several; remembers that it was the last, as it may have taken the paths."""

    def __call__(
        self,
        _parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        _option: str | None = None,
    ) -> None:
        """Keeps the values."""
        setattr(namespace, self.dest, values)
        namespace.greedy = self.dest


def takes_many(parser: argparse.ArgumentParser, name: str, metavar: str, words: str, **more: Any) -> None:
    """An option with one value or several."""
    settings = {"nargs": "+", "default": [], "action": TakesMany, **more}
    parser.add_argument(name, metavar=metavar, help=words, **settings)


def takes_each(parser: argparse.ArgumentParser, name: str, metavar: str, words: str) -> None:
    """An option that can be repeated."""
    parser.add_argument(name, metavar=metavar, help=words, action="append", default=[])


def takes_missing(parser: argparse.ArgumentParser, words: str = "as for untaken score") -> None:
    """``--missing``."""
    parser.add_argument("--missing", choices=tuple(MISSING_WORDS), default="fail", help=words)


def takes_top(parser: argparse.ArgumentParser, default: int, of: str = "of each table") -> None:
    """``--top``."""
    words = f"{of} (default {default}; 0 for all)"
    parser.add_argument("--top", type=int, default=default, metavar="N", help=words)


def takes_resamples(parser: argparse.ArgumentParser) -> None:
    """``--resamples`` and ``--seed``."""
    parser.add_argument("--resamples", type=int, default=10_000, help="task resamples (default 10000)")
    parser.add_argument("--seed", type=int, default=0, help="random seed (default 0)")


def takes_graphs(parser: argparse.ArgumentParser) -> None:
    """``PATH…``, ``--graphs`` and the two rules every rate depends on (the paths: `inputs.paths_of`)."""
    takes_ledgers(parser, few="*")
    takes_cluster(parser)
    takes_many(parser, "--graphs", "PATH", "plan graph, or folder of plan graphs", required=True)
    takes_missing(parser, "sub-goals without evidence count as not completed (default), or are left out")
    words = "whose recorded verdicts count, e.g. 'human:*'; '!judge:m' leaves one out; default: all"
    takes_many(parser, "--verdicts", "GLOB", words)
    takes_least_kappa(parser)


def takes_cluster(parser: argparse.ArgumentParser) -> None:
    """``--cluster``; `running` opens it."""
    parser.add_argument(
        "--cluster",
        metavar="WORKERS",
        help="who shares the work: a number of local processes, or a Dask scheduler, e.g. tcp://10.0.0.1:8786",
    )


def takes_least_kappa(parser: argparse.ArgumentParser, *, default: float | None = None) -> None:
    """``--min-kappa``."""
    parser.add_argument(
        "--min-kappa",
        type=float,
        default=default,
        metavar="KAPPA",
        help="leave out judges whose agreement with people is below this"
        if default is None
        else f"a judge below this is unreliable (default {default})",
    )


def rules_in_words(missing: str, verdicts: list[str]) -> str:
    """The rules in force, to stand beside the rates."""
    named = [glob for glob in verdicts if not glob.startswith("!")]
    left_out = [glob[1:] for glob in verdicts if glob.startswith("!")]
    whose = ", ".join(named) if named else "all"
    if left_out:
        more = f" and {len(left_out) - MOST_NAMED} more" if len(left_out) > MOST_NAMED else ""
        whose += f" but {', '.join(left_out[:MOST_NAMED])}{more}"
    return f"Sub-goals without evidence {MISSING_WORDS[missing]}; verdicts counted: {whose}"
