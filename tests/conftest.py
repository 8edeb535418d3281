"""What every test may ask for."""

from __future__ import annotations

import gc
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from untaken.errors import UntakenError
from untaken.judging.asking.local import serving, weights_file

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # or each process that a test starts compiles the package
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # workers share the cores: more threads only wait
gc.disable()  # until the tests are there: they are many objects, and none goes
COLLECTED = 50_000
"""New objects until garbage is looked for: Python's 700 costs an eighth of what tests take."""
REPOSITORY = Path(__file__).resolve().parent.parent


def in_memory() -> dict[str, str]:
    """Where tests write, if the system has a large folder in memory: waiting for a disk shows nothing."""
    folder = "/dev/shm"
    if sys.platform != "linux" or "TMPDIR" in os.environ or not os.access(folder, os.W_OK):
        return {}
    about = os.statvfs(folder)
    usable = about.f_bavail * about.f_frsize > 4 << 30 and not about.f_flag & os.ST_NOEXEC
    return {"TMPDIR": folder} if usable else {}


os.environ |= in_memory()
tempfile.tempdir = None  # pytest has asked for a place before


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Folder of public records, no part of the repository; tests that need it skip where it is absent."""
    folder = Path(os.environ.get("UNTAKEN_REAL_DATA") or REPOSITORY.parent / "shared" / "data")
    if not (folder / "reference.json").is_file():
        pytest.skip(
            f"no real records at {folder}; set UNTAKEN_REAL_DATA to the folder that holds reference.json"
        )
    return folder


@pytest.fixture(scope="session")
def packaged_model() -> None:
    """The small language model that comes with the extra; tests that need it skip where it is absent."""
    pytest.importorskip("xllamacpp", reason="the extra untaken[local-llm] is not installed")
    try:
        weights_file()
    except UntakenError as error:
        pytest.skip(f"{error.message}; {error.hint}")


@pytest.fixture(scope="session")
def local(packaged_model: None) -> Iterator[str]:
    """Address of the packaged model, served meanwhile."""
    with serving() as address:
        yield address


def pytest_addoption(parser: pytest.Parser) -> None:
    """``make test-slow``: the tests marked as slow, and ten times as many faults and hostile inputs."""
    parser.addoption("--slow", action="store_true", help="try ten times as much, and what is marked as slow")
    parser.addoption("--store", action="store_true", help="store what verbs print: make golden")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Without ``--slow`` what is marked so is counted as deselected."""
    if config.getoption("--slow"):
        return
    slow = [item for item in items if item.get_closest_marker("slow")]
    config.hook.pytest_deselected(items=slow)
    items[:] = [item for item in items if not item.get_closest_marker("slow")]


def pytest_configure(config: pytest.Config) -> None:
    """A busy machine is no failed claim; make test tries fewer examples of a property than test-slow."""
    examples = 400 if config.getoption("--slow") else 25
    hypothesis.settings.register_profile("untaken", deadline=None, max_examples=examples)
    hypothesis.settings.load_profile("untaken")


def pytest_collection_finish() -> None:
    """Thousands of tests are many objects, and they stay: no search for garbage looks at them again."""
    gc.freeze()
    gc.set_threshold(COLLECTED)
    gc.enable()


class ByFile(LoadScopeScheduling):
    """The tests of a file stay on one worker, and so do all of a browser or of programs as syntax: what they
    share is made once. Stored sessions share nothing."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.split("::", maxsplit=1)[0]
        if "/golden/" in file:
            return nodeid
        return next((kind for kind in ("browser", "contracts") if f"/{kind}/" in file), file)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling:
    """Files in their order: the browser's tests, which take longest, come early, and short ones come last."""
    config.option.loadscopereorder = False
    return ByFile(config, log)


MAIN = sys.modules["__main__"]


def pytest_runtest_teardown() -> None:
    """The app's tests replace ``__main__`` with a script; a process started later would run it."""
    sys.modules["__main__"] = MAIN


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One line a reason, where pytest prints one a place."""
    reports = terminalreporter.stats.get("skipped", ())
    reasons = Counter(str(r.longrepr[2]).removeprefix("Skipped: ") for r in reports if r.longrepr)
    if reasons:
        terminalreporter.section("skipped tests by reason")
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"{count:5}  {reason}")
