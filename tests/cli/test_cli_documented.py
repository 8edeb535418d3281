"""Every verb and every option is in docs/cli.md, with output that the program really prints."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from untaken.cli import main, parser

ROOT = Path(__file__).parents[2]
DOCUMENTED = (ROOT / "docs" / "cli.md").read_text("utf-8")


def verbs(
    of: argparse.ArgumentParser, *, above: str = "untaken"
) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Every verb with the words that lead to it."""
    for action in of._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, inner in action.choices.items():
                deeper = list(verbs(inner, above=f"{above} {name}"))
                yield from deeper or [(f"{above} {name}", inner)]


@pytest.mark.parametrize(
    ("name", "verb"), list(verbs(parser())), ids=lambda v: v if isinstance(v, str) else ""
)
def test_a_verb_and_its_options_are_documented(name: str, verb: argparse.ArgumentParser) -> None:
    assert f"## {name}\n" in DOCUMENTED
    section = DOCUMENTED.split(f"## {name}\n", 1)[1].split("\n## ", 1)[0]
    options = [o for action in verb._actions for o in action.option_strings if o.startswith("--")]
    common = {"--help", "--json"}
    assert [o for o in options if o not in common and f"`{o}" not in section] == []


BLOCK = re.compile(r"```console\n\$ untaken ([^\n]*)\n(.*?)```", re.DOTALL)


def holds(shown: list[str], printed: list[str]) -> bool:
    """Whether the lines shown are the lines printed; a line of ``…`` matches any number of them."""
    if not shown:
        return not printed
    if shown[0] == "…":
        return any(holds(shown[1:], printed[i:]) for i in range(len(printed) + 1))
    return bool(printed) and shown[0] == printed[0] and holds(shown[1:], printed[1:])


def test_the_output_shown_is_what_the_program_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "sample_runs").symlink_to(ROOT / "sample_runs")
    monkeypatch.chdir(tmp_path)
    blocks = BLOCK.findall(DOCUMENTED)
    assert len(blocks) > 8
    for words, shown in blocks:
        main(shlex.split(words))
        printed = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
        assert holds(shown.splitlines(), printed), words
