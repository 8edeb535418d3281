"""The pytest plugin, in separate pytest runs: one test per agent and requirement, described in words."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import desk
import pytest

from untaken.cli import main

pytest_plugins = "pytester"
ROOT = Path(__file__).parents[2]
REQUIRE = "--untaken-require=critical_completion>=0.9"


@pytest.fixture(scope="module", autouse=True)
def loaded(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What a gate loads: a pytest inside this one would forget it at its end, and numpy loads only once."""
    at = tmp_path_factory.mktemp("loaded")
    desk.write_folder(at)
    main(f"gate {at}/ledgers --graphs {at}/graphs --require coverage>=0.1 --resamples 9".split())


@pytest.fixture
def folder(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The desk's ledgers and graph, where pytest is run; warnings are errors there too."""
    monkeypatch.setenv("PYTHONWARNINGS", "error")
    desk.write_folder(pytester.path / "runs")
    return pytester.path


GRAPHS = "--untaken-graphs=runs/graphs"
GATE = ("runs/ledgers", GRAPHS, REQUIRE)


def checked(pytester: pytest.Pytester, *words: str) -> pytest.RunResult:
    """One run of pytest inside this one."""
    return pytester.runpytest_inprocess("-W", "error", "-p", "no:cacheprovider", *words)


def test_each_agent_and_requirement_is_a_test(folder: Path, pytester: pytest.Pytester) -> None:
    done = checked(pytester, *GATE, "--untaken-require=coverage>=0.1", "-v")
    done.assert_outcomes(passed=5, failed=4)
    assert done.ret == pytest.ExitCode.TESTS_FAILED
    verdicts = {"careful": "PASSED", "lucky": "FAILED", "stray": "FAILED"}
    lines = [f"untaken::critical_completion>=0.9?{agent}? {how}*" for agent, how in verdicts.items()]
    done.stdout.fnmatch_lines_random(["untaken::records PASSED*", *lines])
    assert "Traceback" not in done.stdout.str()


def test_the_message_in_the_junit_file_says_what_is_missed_where_to_look_and_what_to_do(
    folder: Path, pytester: pytest.Pytester
) -> None:
    checked(pytester, "--untaken-ledgers=runs/ledgers", GRAPHS, REQUIRE, "--junitxml=j.xml")
    cases = {c.get("name"): c for c in ElementTree.parse(folder / "j.xml").iter("testcase")}
    assert {c.get("classname") for c in cases.values()} == {"untaken"}
    failure = cases["critical_completion>=0.9[lucky]"].find("failure")
    for words in (
        "lucky, critical_completion>=0.9: 0.000 is not at least 0.9, by 0.900",
        "most often missed: Check policy ★ (4 of 4 runs)",
        "look at: lucky-10, lucky-11, lucky-20",
        "4 runs of 2 tasks",
        "untaken app",
    ):
        assert words in (failure.text or "")
    assert "is not at least 0.9" in (failure.get("message") or "")
    properties = cases["critical_completion>=0.9[careful]"].iter("property")
    told = {p.get("name"): p.get("value") for p in properties}
    assert (told["verdict"], told["value"], told["n_runs"]) == ("met", "1.0", "4")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--untaken-agent=stray",), "stray, critical_completion>=0.9: unscored, not a pass: *"),
        (("--untaken-agent=careful", "--untaken-on=interval"), "*unscored, not a pass: no interval*"),
    ],
    ids=["unscored", "the interval of few runs"],
)
def test_an_unscored_requirement_fails_with_its_reason(words, says, folder, pytester) -> None:
    ledgers = "runs/ledgers/careful-10.jsonl" if "--untaken-on=interval" in words else "runs/ledgers"
    done = checked(pytester, ledgers, GRAPHS, REQUIRE, *words)
    done.assert_outcomes(passed=1, failed=1)
    done.stdout.fnmatch_lines([says])


def test_a_broken_ledger_fails_the_test_of_the_records(folder: Path, pytester: pytest.Pytester) -> None:
    ledger = folder / "runs" / "ledgers" / "lucky-10.jsonl"
    ledger.write_bytes(ledger.read_bytes().replace(b"by_mail", b"by_phone", 1))
    done = checked(pytester, *GATE, "--untaken-agent=careful")
    done.assert_outcomes(passed=1, failed=1)
    done.stdout.fnmatch_lines(["the records cannot be trusted:", "*lucky-10*ledger-altered*"])


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("runs/ledgers --untaken-graphs=runs/graphs --untaken-require=nonsense>1", "*metric-unknown*"),
        ("runs/ledgers --untaken-require=coverage>=0.1", "*--untaken-graphs*"),
        ("--untaken-graphs=runs/graphs --untaken-require=coverage>=0.1", "*--untaken-ledgers*"),
        ("runs/graphs --untaken-graphs=runs/graphs --untaken-require=coverage>=0.1", "*no-ledgers*"),
    ],
)
def test_what_cannot_be_carried_out_is_a_usage_error(words, says, folder, pytester) -> None:
    done = checked(pytester, *words.split())
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines([says])


def test_it_works_beside_other_tests_and_can_be_selected(folder: Path, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_other="def test_other(): pass")
    gate = ("--untaken-ledgers=runs/ledgers", "--untaken-graphs=runs/graphs", REQUIRE)
    checked(pytester, *gate, "--untaken-agent=careful").assert_outcomes(passed=3)
    checked(pytester, *gate, "-k", "lucky").assert_outcomes(failed=1, deselected=5)


@pytest.mark.parametrize("words", [(), ("-p", "no:untaken")])
def test_a_pytest_run_without_requirements_is_left_alone(words, folder, pytester) -> None:
    pytester.makepyfile(
        test_other="import sys\n"
        "def test_other(): assert not {'untaken.analysis.gate', 'numpy'} & set(sys.modules)"
    )
    done = pytester.runpytest_subprocess("-W", "error", "-p", "no:cacheprovider", *words)
    done.assert_outcomes(passed=1)


def test_a_program_that_has_imported_untaken_may_still_run_pytest(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_other="def test_other(): pass")
    program = "import sys, untaken, pytest; sys.exit(pytest.main(['-W', 'error', '-p', 'no:cacheprovider']))"
    command = [
        sys.executable,
        "-W",
        "error",
        "-c",
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); {program}",
    ]
    done = subprocess.run(command, cwd=pytester.path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
