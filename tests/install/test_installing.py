"""A wheel is built and installed for real; what serves, draws and scores is the installed package."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import tarfile
import time
import urllib.request
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest
from environments import Environment, environment

from scripts.ledger_wheel import build

ROOT = Path(__file__).parents[2]
MADE = shutil.ignore_patterns(
    ".git",
    ".venv",
    "__pycache__",
    "*.egg-info",
    "build",
    "dist",
    ".*_cache",
    ".hypothesis",
    ".untaken",
    "*.ipynb_checkpoints",
)
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", "{python}", "install"]
UV = ["uv", "pip", "install", "--offline", "--python", "{python}"]
SERVED_SECONDS = 120


@pytest.fixture(scope="session")
def archives(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The sdist of this checkout, and the wheel built from that sdist."""
    folder = tmp_path_factory.mktemp("archives")
    backend = {}
    if int(version("setuptools").split(".")[0]) < 77:  # older than pyproject.toml asks for
        target = str(folder / "backend")
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--target", target, "setuptools>=77"]
        subprocess.run(pip, check=True)
        backend = {"PYTHONPATH": target}
    shutil.copytree(ROOT, folder / "checkout", ignore=MADE)
    _build("sdist", folder / "checkout", folder, backend)
    (sdist,) = folder.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "unpacked", filter="data")
    (source,) = (folder / "unpacked").iterdir()
    _build("wheel", source, folder, backend)
    (wheel,) = folder.glob("*.whl")
    return sdist, wheel


def _build(kind: str, source: Path, into: Path, variables: dict[str, str]) -> None:
    program = f"import sys; from setuptools import build_meta; build_meta.build_{kind}(sys.argv[1])"
    done = subprocess.run(
        [sys.executable, "-c", program, str(into)],
        cwd=source,
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="session")
def with_app(archives: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Environment:
    folder = tmp_path_factory.mktemp("with-app") / "venv"
    return environment(folder, archives[1], installer=PIP, extras=("app",))


@pytest.fixture(scope="session")
def bare(archives: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return environment(tmp_path_factory.mktemp("bare") / "venv", archives[1], installer=PIP)


def _files(*folders: str) -> set[str]:
    return {
        path.relative_to(ROOT).as_posix()
        for folder in folders
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and ".untaken" not in path.parts
    }


def test_the_wheel_holds_the_engine_and_the_app_and_adds_one_name(archives: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(archives[1]) as wheel:
        names = {name for name in wheel.namelist() if ".dist-info/" not in name}
    app = {"app.py", "server.py", ".streamlit/config.toml", *_files("pages", "components", "sample_runs")}
    engine = {name for name in _files("untaken") if not name.startswith("untaken/_app/")}
    assert names == engine | {f"untaken/_app/{name}" for name in app}


def test_the_recorder_has_a_wheel_of_its_own_that_shares_no_file(
    archives: tuple[Path, Path], tmp_path: Path
) -> None:
    build(tmp_path)
    (small,) = (set(zipfile.ZipFile(one).namelist()) for one in tmp_path.glob("*.whl"))
    assert not small & set(zipfile.ZipFile(archives[1]).namelist())
    assert {name.partition("/")[0] for name in small if ".dist-info/" not in name} == {"untaken_ledger"}


def test_the_sdist_holds_what_it_takes_to_test_and_read_the_program(archives: tuple[Path, Path]) -> None:
    with tarfile.open(archives[0]) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    wanted = _files(
        "tests", "docs", "notebooks", "benchmarks", "scripts", "pages", "components", "sample_runs"
    )
    top = {
        "app.py",
        "Makefile",
        "constraints.txt",
        "requirements.txt",
        "README.md",
        "CHANGELOG.md",
        "LICENSE",
    }
    assert (wanted | top | {".ci/run", ".streamlit/config.toml"}) - names == set()


def test_an_installed_app_serves_a_demonstration_in_a_folder_that_is_gone_at_its_end(
    with_app: Environment, tmp_path: Path
) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = tmp_path / "log.txt"
    with log.open("wb") as out:
        command = [with_app.command, "app", "--demo", "--port", str(port)]
        server = subprocess.Popen(command, cwd=tmp_path, env=with_app.variables, stdout=out, stderr=out)
    try:
        assert _healthy(port, server), log.read_text("utf-8")
        label, folder, *_ = log.read_text("utf-8").split()
        assert (label, Path(folder).is_dir()) == ("Workspace:", True)
    finally:
        server.terminate()
        server.wait(60)
    assert not Path(folder).exists()
    assert [path.name for path in tmp_path.iterdir()] == ["log.txt"]  # a demonstration leaves nothing behind


def _healthy(port: int, server: subprocess.Popen[bytes]) -> bool:
    deadline = time.monotonic() + SERVED_SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=5) as answer:
                return answer.status == 200
        except OSError:
            time.sleep(0.2)
    return False


PAGE = """
import sys
from streamlit.testing.v1 import AppTest
from untaken.app_folder import app_folder
sys.path.insert(0, str(app_folder()))
page = AppTest.from_file(str(app_folder() / "app.py"), default_timeout=300).run()
assert not page.exception, page.exception
print(page.title[0].value, any("full-workflow" in str(chart.proto) for chart in page.get("plotly_chart")))
"""


def test_an_installed_app_shows_the_sample_runs(with_app: Environment, tmp_path: Path) -> None:
    done = with_app.python(PAGE, cwd=tmp_path, UNTAKEN_DEMO="1")
    assert done.stdout.splitlines()[-1:] == ["Overview True"], (done.stdout, done.stderr)


FIGURES = """
import sys
from untaken import evaluate_corpus, load_graph, rank_agents, read_ledger
from untaken.app_folder import app_folder
from untaken.figures import plan_figure, rank_flow
graph = load_graph(app_folder() / "sample_runs" / "graphs" / "refund-desk.plan.yaml")
runs = read_ledger(app_folder() / "sample_runs" / "ledgers" / "full-workflow.jsonl")
score = next(iter(evaluate_corpus(runs, [graph]).scores.values()))
print(len(plan_figure(graph, score).data) > 0, {"streamlit", "components"} & set(sys.modules))
"""


def test_a_notebook_draws_figures_from_an_installed_package(with_app: Environment, tmp_path: Path) -> None:
    (tmp_path / "components.py").write_text("raise SystemExit('a module of the user')\n")
    done = with_app.python(FIGURES, cwd=tmp_path)
    assert done.stdout.strip() == "True set()", done.stderr


MISSING = {
    "the app": ("app", "untaken[app]"),
    "the judge": ("judge {runs} --graphs {graphs} --model openai:gpt-5", "untaken[judge]"),
    "Crafter": ("crafter run --policy random -o out", "untaken[crafter]"),
}


@pytest.mark.parametrize(("words", "extra"), MISSING.values(), ids=MISSING)
def test_a_bare_installation_names_the_extra_to_install(
    bare: Environment, tmp_path: Path, words: str, extra: str
) -> None:
    samples = bare.library / "untaken" / "_app" / "sample_runs"
    places = {"runs": samples / "ledgers", "graphs": samples / "graphs"}
    done = bare.run(*(word.format(**places) for word in words.split()), cwd=tmp_path)
    assert (done.returncode, f"pip install '{extra}'" in done.stderr) == (2, True), done.stderr


def test_a_bare_installation_scores_runs(bare: Environment, tmp_path: Path) -> None:
    samples = bare.library / "untaken" / "_app" / "sample_runs"
    done = bare.run("score", str(samples / "ledgers"), "--graphs", str(samples / "graphs"), cwd=tmp_path)
    assert (done.returncode, "full-workflow" in done.stdout) == (0, True), done.stderr


def test_a_bare_installation_draws_plans_without_graphviz_or_pyarrow(
    bare: Environment, tmp_path: Path
) -> None:
    assert not {"pyarrow", "pygraphviz"} & {path.name for path in bare.library.iterdir()}
    graph = bare.library / "untaken" / "_app" / "sample_runs" / "graphs" / "refund-desk.plan.yaml"
    done = bare.run("graph", "draw", str(graph), "-o", "plan.svg", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "plan.svg").read_text("utf-8").count('class="edge') >= 7


IMPORTS = {
    "figures": ("from untaken.figures import rank_flow", "untaken[app]"),
    "PostgreSQL": ("from untaken import Workspace; Workspace.open_folder('made')", "untaken[postgres]"),
}


@pytest.mark.parametrize(("program", "extra"), IMPORTS.values(), ids=IMPORTS)
def test_python_without_an_extra_names_it(
    bare: Environment, tmp_path: Path, program: str, extra: str
) -> None:
    (tmp_path / "made").mkdir()
    done = bare.python(program, cwd=tmp_path, UNTAKEN_STORE="postgresql+psycopg://me@127.0.0.1/untaken")
    assert f"pip install '{extra}'" in done.stderr


@pytest.mark.skipif(shutil.which("uv") is None, reason="uv is not installed")
def test_uv_installs_the_wheel_too(archives: tuple[Path, Path], tmp_path: Path) -> None:
    made = environment(tmp_path / "venv", archives[1], installer=UV)
    done = made.run("formats", cwd=tmp_path)
    assert (done.returncode, "tau-bench" in done.stdout) == (0, True), done.stderr
