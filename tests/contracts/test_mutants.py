"""`make mutants` makes changes that compile, and finds the tests that have to notice them."""

from __future__ import annotations

import ast

import pytest

from scripts import mutants

FILES = ["untaken/ledger/run.py", "untaken/stats/ranks.py", "untaken/analysis/fix_first/advice.py"]


@pytest.mark.parametrize("path", FILES)
def test_every_mutant_is_another_program_that_compiles(path: str) -> None:
    source = (mutants.ROOT / path).read_bytes()
    found = list(mutants.mutants(path))
    programs = {ast.dump(ast.parse(mutants.mutated(source, mutant))) for mutant in found}
    assert found
    assert ast.dump(ast.parse(source)) not in programs


def test_a_mutant_is_tried_by_the_tests_of_its_room_those_of_its_name_first() -> None:
    assert mutants.tests_of("untaken/ledger/run.py")[0] == "tests/ledger/test_run_digest.py"
    assert all(mutants.tests_of(f"{room}/x.py") for room in mutants.ROOMS)


def test_places_are_drawn_from_all_that_decides_what_users_read() -> None:
    wanted = ("scoring", "counterfactual", "analysis", "ledger", "plans", "facts")
    files = [file for name in wanted for file in (mutants.ROOT / "untaken" / name).rglob("[!_]*.py")]
    rooms = {mutants.room_of(file.relative_to(mutants.ROOT).as_posix()) for file in files}
    assert len(rooms) >= len(wanted)
    assert rooms <= {*mutants.SAMPLED}


def test_a_room_that_is_named_is_drawn_from_alone() -> None:
    drawn = mutants.chosen(["untaken/traces"], 9, 1)
    assert [mutants.room_of(mutant.path) for mutant in drawn] == ["untaken/traces"] * 9


def test_what_holds_anyway_is_left_alone() -> None:
    source = (mutants.ROOT / "untaken/stats/kappa.py").read_bytes()
    assert b"strict=" in source
    before = {source[: mutant.begin][-7:] for mutant in mutants.mutants("untaken/stats/kappa.py")}
    assert b"strict=" not in before
