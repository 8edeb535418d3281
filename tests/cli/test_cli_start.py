"""A command loads what it needs, and no more: people wait for its first line."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from programs import run_python

import untaken
from untaken.cli import main, parser
from untaken.cli.grammar import PLACES
from untaken.cli.verbs import EXAMPLES, PURPOSES, VERBS

ROOT = Path(__file__).parents[2]
PAGES = sorted((*(ROOT / "notebooks").glob("*.py"), *(ROOT / "docs").rglob("*.md")))
SLOW = {"pandas", "numpy", "scipy", "scipy.stats", "networkx", "sqlalchemy", "prompt_toolkit"}
RANKING = {"numpy", "scipy"}
"""What a score needs to say where the ranking over shared tasks orders agents otherwise."""
COMMANDS = [
    (["verify", "sample_runs/ledgers", "--json"], SLOW),
    (["score", "sample_runs/ledgers", "--graphs", "sample_runs/graphs", "--json"], SLOW - RANKING),
]


@pytest.mark.parametrize(("words", "slow"), COMMANDS, ids=[words[0] for words, _ in COMMANDS])
def test_a_command_loads_no_library_that_it_does_not_need(words: list[str], slow: set[str]) -> None:
    program = f"import sys, untaken.cli as c; c.main({words!r}); print(list(sys.modules), file=sys.stderr)"
    done = run_python(program, check=False)
    assert "'untaken.cli'" in done.stderr
    assert {library for library in slow if f"'{library}'" in done.stderr} == set()


def test_help_loads_no_slow_library_and_no_room_of_the_engine() -> None:
    loaded = loaded_by(["--help"], ["--version"], [], ["no-such-verb"])
    assert "untaken.cli" in loaded
    assert loaded & {*SLOW, "yaml", "zstandard"} == set()
    rooms = ("analysis", "facts", "judging", "ledger", "plans", "scoring", "traces", "views", "workspace")
    assert loaded & {f"untaken.{room}" for room in rooms} == set()


def verbs(of: argparse.ArgumentParser, *, above: str = "") -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Every verb that does something, with the words that lead to it."""
    inner = [a for a in of._actions if isinstance(a, argparse._SubParsersAction)]
    if not inner:
        yield above, of
    for name, one in (item for action in inner for item in action.choices.items()):
        yield from verbs(one, above=f"{above} {name}".strip())


LEAVES = dict(verbs(parser()))


def loaded_by(*commands: list[str]) -> set[str]:
    """The libraries and rooms of the engine that these commands load."""
    called = "; ".join(f"c.main({words!r})" for words in commands)
    program = f"import sys, untaken.cli as c; {called}; print(*sys.modules, file=sys.stderr)"
    done = run_python(program, check=False)
    return {name for name in done.stderr.split() if name.startswith("untaken.") or "." not in name}


def test_the_command_line_of_the_expression_library_loads_for_who_imports_it() -> None:
    program = (
        "from untaken.plans import check_expression; check_expression('state.a == 1')\n"
        "import cel.cli; print(cel.cli.__file__, cel.compile('1 + 1').execute({}))"
    )
    assert run_python(program).stdout.endswith("cli.py 2\n")


def test_the_package_loads_nothing_until_a_name_is_used() -> None:
    program = "import sys; before = set(sys.modules); import untaken; print(*set(sys.modules) - before)"
    loaded = set(run_python(program).stdout.split())
    assert {name for name in loaded if name.startswith("untaken")} == {"untaken", "untaken.lazy_imports"}
    assert SLOW & loaded == set()


@pytest.mark.parametrize("verb", LEAVES)
def test_the_help_of_a_verb_ends_in_examples_that_are_valid_commands(verb, capsys) -> None:
    assert main([*verb.split(), "--help"]) == 0
    shown = capsys.readouterr().out
    for example in EXAMPLES[verb]:
        assert f"  $ {example}\n" in shown
        command = re.sub(r"^eval .*?(untaken .*)\)\"$| > .*", r"\1", example)
        assert parser([verb.split(maxsplit=1)[0]]).parse_args(shlex.split(command)[1:]).run is not None


def test_without_a_verb_every_verb_is_listed_by_what_it_is_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    shown = capsys.readouterr().out
    assert [purpose for purpose in PURPOSES if f"\n{purpose}\n" not in shown] == []
    lines = [rf"^  {verb} +{re.escape(VERBS[verb])}$" for verb in VERBS]
    assert [line for line in lines if not re.search(line, shown, re.M)] == []
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"untaken {untaken.__version__}\n"


@pytest.mark.parametrize("verb", LEAVES)
def test_a_verb_that_writes_a_file_takes_o(verb: str) -> None:
    options = LEAVES[verb]._option_string_actions
    places = [options[name] for name in {"--html", "--to", "--out"} & set(options)]
    assert all("-o" in action.option_strings for action in places if action.metavar in PLACES)


@pytest.mark.parametrize("page", [Path("README.md"), *(p.relative_to(ROOT) for p in PAGES)], ids=str)
def test_the_verbs_that_notebooks_and_pages_name_are_there(page: Path) -> None:
    known = {*LEAVES, *VERBS}
    named = re.findall(r"`untaken ([a-z]+)(?: ([a-z]+))?", (ROOT / page).read_text("utf-8"))
    wrong = [name for name in named if not known & {name[0], " ".join(name).strip()}]
    assert wrong == []


WRONG = {
    "option of a verb": ("score x --graphs y --rnus", "usage: untaken score", "did you mean --runs?"),
    "option of an inner verb": ("graph export x --too yaml", "usage: untaken graph export", "mean --to?"),
    "option cut short": ("score x --graph y", "usage: untaken score", "did you mean --graphs?"),
    "verb": ("scoer x", "usage: untaken", "did you mean score?"),
    "inner verb": ("modes assing", "usage: untaken modes", "did you mean assign?"),
    "choice": ("export x --to parket", "usage: untaken export", "did you mean parquet?"),
    "nothing like it": ("verify x --zzz", "usage: untaken verify", "unrecognized arguments: --zzz\n"),
    "too many words": ("schema a b", "usage: untaken schema", "unrecognized arguments: b\n"),
}


@pytest.mark.parametrize(("words", "usage", "answer"), WRONG.values(), ids=WRONG)
def test_a_wrong_option_is_answered_with_the_usage_of_its_verb(words, usage, answer, capsys) -> None:
    assert main(words.split()) == 2
    printed = capsys.readouterr().err
    assert printed.startswith(usage)
    assert answer in printed


DOCUMENTED = (ROOT / "docs" / "cli.md").read_text("utf-8")


@pytest.mark.parametrize("verb", LEAVES)
def test_a_verb_and_its_options_are_documented(verb: str) -> None:
    assert f"## untaken {verb}\n" in DOCUMENTED
    section = DOCUMENTED.split(f"## untaken {verb}\n", 1)[1].split("\n## ", 1)[0]
    options = [o for action in LEAVES[verb]._actions for o in action.option_strings if o.startswith("--")]
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


def test_the_output_shown_is_what_the_program_prints(tmp_path, monkeypatch, capsys) -> None:
    (tmp_path / "sample_runs").symlink_to(ROOT / "sample_runs")
    monkeypatch.chdir(tmp_path)
    blocks = BLOCK.findall(DOCUMENTED)
    assert len(blocks) > 8
    for words, shown in blocks:
        main(shlex.split(words))
        printed = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
        assert holds(shown.splitlines(), printed), words
