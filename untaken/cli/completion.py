"""``untaken completion``: scripts that complete verbs, options and their values in bash, zsh and fish."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from shlex import quote
from typing import Final, NamedTuple

from untaken.cli.console import Console
from untaken.cli.grammar import Verbs, verb


class CompletionLevel(NamedTuple):
    """What can follow some verbs, ``untaken`` first."""

    path: str
    verbs: tuple[tuple[str, str], ...]  # with their help
    options: tuple[tuple[str, str, bool], ...]  # with their help, and whether they take a value
    values: tuple[tuple[str, tuple[str, ...]], ...]  # of the options that take one of a fixed list


def add_to(verbs: Verbs) -> None:
    """Adds the verb."""
    parser = verb(verbs, "completion", completion, document=False)
    parser.add_argument("shell", choices=tuple(SHELLS), help="the shell to complete in")


def completion(args: argparse.Namespace, console: Console) -> int:
    """Prints the script; it is made from the grammar, so that it offers what this version knows."""
    from untaken.cli import parser  # noqa: PLC0415 (it loads us)

    console.write(SHELLS[args.shell](list(_levels(parser(), "untaken"))))
    return 0


def _levels(of: argparse.ArgumentParser, path: str) -> Iterator[CompletionLevel]:
    # argparse has no public way to list what a parser takes.
    inner = [a for a in of._actions if isinstance(a, argparse._SubParsersAction)]
    spelled = [(option, action) for action in of._actions for option in action.option_strings]
    yield CompletionLevel(
        path=path,
        verbs=tuple((c.dest, str(c.help or "")) for action in inner for c in action._choices_actions),
        # In argparse a % of the help is written twice, and flags take 0 values.
        options=tuple((o, str(a.help or "").replace("%%", "%"), a.nargs != 0) for o, a in spelled),
        values=tuple((o, tuple(map(str, a.choices))) for o, a in spelled if a.choices),
    )
    for action in inner:
        for name, parser in action.choices.items():
            yield from _levels(parser, f"{path} {name}")


def _deeper(levels: list[CompletionLevel]) -> str:
    return "|".join(f'"{level.path}"' for level in levels[1:])


def _bash(levels: list[CompletionLevel]) -> str:
    verbs = "\n".join(_case(x.path, " ".join(n for n, _ in x.verbs)) for x in levels if x.verbs)
    options = "\n".join(_case(x.path, " ".join(o for o, *_ in x.options)) for x in levels)
    values = "\n".join(_case(f"{x.path} {o}", " ".join(given)) for x in levels for o, given in x.values)
    return f"""# bash completion of untaken: eval "$(untaken completion bash)"
_untaken() {{
  local at=untaken word words="" current="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}"
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$at $word" in {_deeper(levels)}) at="$at $word" ;; esac
  done
  case "$at $before" in
{values}
  esac
  if [ -z "$words" ]; then
    case "$current" in
      -*) case "$at" in
{options}
      esac ;;
      *) case "$at" in
{verbs}
      esac ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _untaken untaken
"""


def _case(at: str, words: str) -> str:
    return f'    "{at}") words={quote(words)} ;;'


def _zsh(levels: list[CompletionLevel]) -> str:
    def described(pairs: list[tuple[str, str]]) -> str:
        return " ".join(quote(f"{name}:{text}") for name, text in pairs)

    verbs = "\n".join(f'    "{x.path}") offered=({described(list(x.verbs))}) ;;' for x in levels if x.verbs)
    options = "\n".join(
        f'    "{x.path}") offered=({described([(o, text) for o, text, _ in x.options])}) ;;' for x in levels
    )
    values = "\n".join(
        f'    "{x.path} {o}") compadd -- {" ".join(map(quote, given))}; return ;;'
        for x in levels
        for o, given in x.values
    )
    return f"""#compdef untaken
# zsh completion of untaken: eval "$(untaken completion zsh)"
_untaken() {{
  local at=untaken word
  local -a offered
  for word in "${{(@)words[2,CURRENT-1]}}"; do
    case "$at $word" in ({_deeper(levels)}) at="$at $word" ;; esac
  done
  case "$at $words[CURRENT-1]" in
{values}
  esac
  if [[ "$words[CURRENT]" == -* ]]; then
    case "$at" in
{options}
    esac
  else
    case "$at" in
{verbs}
    esac
  fi
  if (( $#offered )); then _describe untaken offered; else _files; fi
}}
compdef _untaken untaken
"""


def _fish(levels: list[CompletionLevel]) -> str:
    def lines() -> Iterator[str]:
        for level in levels:
            at = f"complete -c untaken -n {quote(f'__untaken_at {level.path}')}"
            for name, text in level.verbs:
                yield f"{at} -f -a {name} -d {quote(text)}"
            values = dict(level.values)
            for option, text, takes in level.options:
                spelled = f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}"
                given = f" -f -a {quote(' '.join(values[option]))}" if option in values else ""
                yield f"{at} {spelled}{' -r' if takes else ''}{given} -d {quote(text)}"

    paths = " ".join(quote(level.path) for level in levels[1:])
    return f"""# fish completion of untaken: untaken completion fish > ~/.config/fish/completions/untaken.fish
function __untaken_at
  set -l words (commandline -opc)
  set -l at untaken
  for word in $words[2..-1]
    contains -- "$at $word" {paths}; and set at "$at $word"
  end
  test "$at" = "$argv"
end
{chr(10).join(lines())}
"""


SHELLS: Final[dict[str, Callable[[list[CompletionLevel]], str]]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}
