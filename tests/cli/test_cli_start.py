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


def test_the_help_of_no_verb_loads_a_slow_library() -> None:
    program = "import sys; from untaken.cli import parser; parser(); print(*sys.modules)"
    done = run_python(program)
    assert SLOW.isdisjoint(done.stdout.split())


def verbs(of: argparse.ArgumentParser, *, above: str = "") -> Iterator[str]:
    """Every verb that does something, with the words that lead to it."""
    inner = [a for a in of._actions if isinstance(a, argparse._SubParsersAction)]
    if not inner:
        yield above
    for name, one in (item for action in inner for item in action.choices.items()):
        yield from verbs(one, above=f"{above} {name}".strip())


LEAVES = list(verbs(parser()))


def test_every_verb_has_the_file_of_its_name() -> None:
    assert [verb for verb in VERBS if not (ROOT / "untaken" / "cli" / f"{verb}.py").is_file()] == []
    assert {verb.split()[0] for verb in LEAVES} == set(VERBS)


def loaded_by(*commands: list[str]) -> set[str]:
    """The libraries and rooms of the engine that these commands load."""
    called = "; ".join(f"c.main({words!r})" for words in commands)
    program = f"import sys, untaken.cli as c; {called}; print(*sys.modules, file=sys.stderr)"
    done = run_python(program, check=False)
    return {name for name in done.stderr.split() if name.startswith("untaken.") or "." not in name}


def test_help_loads_no_library_and_no_room_of_the_engine() -> None:
    loaded = loaded_by(["--help"], ["--version"], [], ["no-such-verb"])
    assert "untaken.cli" in loaded
    assert loaded & {*SLOW, "msgspec", "yaml", "zstandard"} == set()
    assert {name for name in loaded if not name.startswith("untaken.cli")} & {
        f"untaken.{room}" for room in ("answers", "html", "ledger", "plans", "store", "corpus")
    } == set()


def test_the_help_of_a_verb_loads_neither_numpy_nor_a_database() -> None:
    loaded = loaded_by(*([verb, "--help"] for verb in ("verify", "score", "judge", "completion")))
    assert "untaken.cli.judge" in loaded
    assert loaded & {"numpy", "sqlalchemy"} == set()


def test_score_loads_no_answer_but_its_own() -> None:
    loaded = loaded_by(["score", "no-such-file"])
    assert "untaken.views.scores" in loaded
    others = ("analysis.comparing", "simulator", "plans.editing", "scoring.transcript")
    assert loaded & {f"untaken.{room}" for room in others} == set()


def test_a_verb_that_prints_no_document_loads_none_of_the_answers() -> None:
    loaded = loaded_by(["formats"])
    assert "untaken.traces" in loaded
    assert loaded & {"untaken.views", "untaken.judging.criteria", "untaken.analysis.ranking"} == set()


def test_adjusting_p_values_exact_tests_and_rank_correlation_load_no_slow_statistics() -> None:
    program = (
        "import sys; from untaken.stats.exact import fisher_p, sign_p; from untaken.stats.multiple import *; "
        "from untaken.stats.correlation import kendall_p; assert kendall_p(range(9), range(9)) < 0.01; "
        "print(benjamini_hochberg([0.1, 0.2]), sign_p(3, 1), fisher_p(1, 1, 0, 1)); print(*sys.modules)"
    )
    done = run_python(program)
    results, loaded = done.stdout.splitlines()
    assert results == "[0.2, 0.2] 0.3125 1.0"
    assert "scipy.stats" not in loaded.split()


def test_the_command_line_of_the_expression_library_loads_for_who_imports_it() -> None:
    program = (
        "from untaken.plans import check_expression; check_expression('state.a == 1')\n"
        "import cel.cli; print(cel.cli.__file__, cel.compile('1 + 1').execute({}))"
    )
    assert run_python(program).stdout.endswith("cli.py 2\n")


def test_the_package_loads_nothing_until_a_name_is_used() -> None:
    program = "import sys; before = set(sys.modules); import untaken; print(*set(sys.modules) - before)"
    done = run_python(program)
    assert {name for name in done.stdout.split() if name.startswith("untaken")} == {
        "untaken",
        "untaken.lazy_imports",
    }
    assert SLOW & set(done.stdout.split()) == set()


@pytest.mark.parametrize("verb", LEAVES)
def test_the_help_of_a_verb_ends_in_examples_that_are_valid_commands(
    verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*verb.split(), "--help"]) == 0
    shown = capsys.readouterr().out
    for example in EXAMPLES[verb]:
        assert f"  $ {example}\n" in shown
        command = re.sub(r"^eval .*?(untaken .*)\)\"$| > .*", r"\1", example)
        assert parser([verb.split(maxsplit=1)[0]]).parse_args(shlex.split(command)[1:]).run is not None


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"untaken {untaken.__version__}\n"


def test_without_a_verb_every_verb_is_listed_by_what_it_is_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    shown = capsys.readouterr().out
    assert [purpose for purpose in PURPOSES if f"\n{purpose}\n" not in shown] == []
    assert [
        verb for verb in VERBS if not re.search(rf"^  {verb} +{re.escape(VERBS[verb])}$", shown, re.M)
    ] == []


@pytest.mark.parametrize("verb", LEAVES)
def test_a_verb_that_writes_a_file_takes_o(verb: str) -> None:
    of = parser([verb.split(maxsplit=1)[0]])
    for name in verb.split():
        of = next(a for a in of._actions if isinstance(a, argparse._SubParsersAction)).choices[name]
    writes = {"--html", "--to", "--out"} & set(of._option_string_actions)
    places = [of._option_string_actions[name] for name in writes]
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
def test_a_wrong_option_is_answered_with_the_usage_of_its_verb(
    words: str, usage: str, answer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words.split()) == 2
    printed = capsys.readouterr().err
    assert printed.startswith(usage)
    assert answer in printed
