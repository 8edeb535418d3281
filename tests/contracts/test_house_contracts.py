"""The house rules that a tool can check: who imports whom, and how long things get."""

from __future__ import annotations

import ast
import re
import tomllib
from argparse import Namespace
from collections.abc import Iterable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import programs
import pytest
from programs import run_python

from untaken.cli.app import _settings
from untaken.cli.verbs import VERBS
from untaken.counterfactual import THRESHOLD

ROOT = Path(__file__).parents[2]
CODE = [
    *ROOT.glob("app.py"),
    *(
        p
        for room in ("untaken", "components", "pages", "sample_runs", "scripts")
        for p in (ROOT / room).rglob("*.py")
    ),
]
FILE_LINES = 500
BODY_LINES = 60
PAGE_LINES = 120


def functions(nodes: Iterable[ast.AST]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (n for n in nodes if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef))


def body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    body = function.body
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) and len(body) > 1:
        body = body[1:]
    return (body[-1].end_lineno or 0) - body[0].lineno + 1


def imported(nodes: Iterable[ast.AST]) -> set[str]:
    names = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return names


PROGRAMS = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in CODE}


@pytest.fixture(scope="module")
def syntax() -> dict[str, tuple[ast.AST, ...]]:
    return {path: programs.nodes(ROOT / path) for path in PROGRAMS}


def test_files_and_functions_stay_readable(syntax: dict[str, tuple[ast.AST, ...]]) -> None:
    long = [path for path, text in PROGRAMS.items() if len(text.splitlines()) > FILE_LINES]
    long += [
        f"{path}: {f.name}: {body_lines(f)} lines"
        for path, nodes in syntax.items()
        for f in functions(nodes)
        if body_lines(f) > BODY_LINES
    ]
    assert long == []


def test_every_function_says_what_it_returns(syntax: dict[str, tuple[ast.AST, ...]]) -> None:
    silent = [
        f"{path}: {f.name}" for path, nodes in syntax.items() for f in functions(nodes) if f.returns is None
    ]
    assert silent == []


def test_a_page_is_short_and_neither_computes_nor_reads_files() -> None:
    allowed = ("streamlit", "components", "untaken", "__future__", "pages")
    pages = sorted((ROOT / "pages").glob("*.py"))
    assert pages
    for page in pages:
        nodes = programs.nodes(page)
        assert len(page.read_text("utf-8").splitlines()) <= PAGE_LINES, page.name
        foreign = {name for name in imported(nodes) if name.split(".")[0] not in allowed}
        assert foreign == set(), page.name
        opened = [n.lineno for n in nodes if isinstance(n, ast.Call) and getattr(n.func, "id", "") == "open"]
        assert opened == [], page.name


def test_csv_is_written_in_one_place(syntax: dict[str, tuple[ast.AST, ...]]) -> None:
    writers = ("to_csv", "writer", "DictWriter")
    found = {
        path: node.attr
        for path, nodes in syntax.items()
        for node in nodes
        if isinstance(node, ast.Attribute)
        and (node.attr == "to_csv" or (node.attr in writers and ast.unparse(node.value) == "csv"))
    }
    assert found == {"untaken/csv_export.py": "to_csv"}


def test_the_servers_own_csv_download_is_off() -> None:
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))
    assert config["client"]["disableDataExport"] is True
    settings = _settings(Namespace(workspace=None, demo=True))  # wherever the server is started
    assert settings["STREAMLIT_CLIENT_DISABLE_DATA_EXPORT"] == "true"


def test_one_script_at_a_time_has_the_state_of_a_session() -> None:
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))
    assert config["runner"]["fastReruns"] is False
    settings = _settings(Namespace(workspace=None, demo=True))  # wherever the server is started
    assert settings["STREAMLIT_RUNNER_FAST_RERUNS"] == "false"


def test_no_click_ends_in_a_search_through_every_object_for_garbage() -> None:
    """It took three quarters of a click on the samples; Python's own collector runs as elsewhere."""
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))
    assert config["runner"]["postScriptGC"] is False


def test_the_router_is_short() -> None:
    assert len((ROOT / "app.py").read_text("utf-8").splitlines()) <= 60


def test_notebooks_import_the_engine_and_the_figures_only() -> None:
    notebooks = sorted((ROOT / "notebooks").glob("*.py"))
    assert notebooks
    for notebook in notebooks:
        names = imported(programs.nodes(notebook))
        rooms = {n for n in names if n.split(".")[0] in ("components", "pages", "app", "streamlit")}
        assert rooms == set(), notebook.name


def loads_nothing(program: str) -> bool:
    """Whether a program loads nothing that it should not, and prints an empty list of it."""
    return run_python(program).stdout.strip() == "[]"


def test_the_engine_loads_without_any_screen() -> None:
    """At run time, not only by reading imports: every engine module, then look at what was loaded."""
    assert loads_nothing(
        "import importlib, pkgutil, sys, untaken\n"
        "for m in pkgutil.walk_packages(untaken.__path__, 'untaken.'):\n"
        "    if not m.name.endswith('__main__'): importlib.import_module(m.name)\n"
        "print(sorted({'streamlit', 'plotly', 'pyvis', 'IPython', 'components'} & set(sys.modules)))"
    )


def test_the_engine_has_twelve_rooms_on_the_ground_of_statistics() -> None:
    rooms = {path.parent.name for path in (ROOT / "untaken").glob("*/__init__.py")}
    assert len(rooms - {"_app", "stats"}) == 12, sorted(rooms)


def test_a_room_is_entered_by_its_door() -> None:
    """Others import a name from `untaken.<room>`, or the module `untaken.<room>.<module>` as a whole."""
    past = [
        f"{path}: {module}"
        for path in PROGRAMS
        if path.startswith(("untaken/", "components/", "pages/", "app.py"))
        for module in imported(programs.nodes(ROOT / path))
        if (parts := module.split("."))[0] == "untaken" and len(parts) > 2
        if path.split("/")[:2] != parts[:2]
    ]
    assert past == ["untaken/pytest_plugin.py: untaken.cli.pytest_gate"], past


def test_every_name_taken_from_a_room_is_there(syntax: dict[str, tuple[ast.AST, ...]]) -> None:
    """A door that loads what is asked of it looks to a type checker as if it had any name."""
    taken = {
        (node.module or "", alias.name): path
        for path, nodes in syntax.items()
        for node in nodes
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("untaken")
        for alias in node.names
    }
    missing = [
        f"{path}: {module}.{name}" for (module, name), path in taken.items() if not is_there(module, name)
    ]
    assert missing == []
    assert len(taken) > 1000


def is_there(module: str, name: str) -> bool:
    found = import_module(module)
    return hasattr(found, name) or (hasattr(found, "__path__") and find_spec(f"{module}.{name}") is not None)


def test_figures_load_without_streamlit() -> None:
    loaded = "sorted({'streamlit'} & set(sys.modules))"
    assert loads_nothing(f"import sys; from untaken.figures import themed; print({loaded})")


def test_drawing_a_plan_loads_neither_other_figures_nor_their_rooms() -> None:
    assert loads_nothing(
        "import sys; from untaken.figures import plan_figure\n"
        "print(sorted(m for m in sys.modules if m.endswith(('figures.causality', 'figures.criteria'))"
        " or m.startswith(('untaken.simulator', 'untaken.judging.criteria', 'untaken.workspace'))))"
    )


def test_figures_without_the_app_extra_say_what_to_install() -> None:
    program = "import sys; sys.modules['plotly'] = None; from untaken.figures import plan_figure"
    done = run_python(program, check=False)
    assert "app-extra-missing" in done.stderr or "pip install 'untaken[app]'" in done.stderr, done.stderr


def test_import_contracts_hold() -> None:
    program = "from importlinter.cli import lint_imports_command as run; run(['--no-cache'])"
    done = run_python(program, check=False)
    assert done.returncode == 0, done.stdout


def test_the_threshold_of_a_delta_is_declared_once_and_the_documents_say_it() -> None:
    written = re.compile(r"[±+]0\.1\b(?!\d)|threshold: float = [\d.]|default is 0\.1\b")
    folders = (ROOT / name for name in ("untaken", "components", "pages"))
    repeated = [
        f"{path.relative_to(ROOT)}: {found.group()}"
        for folder in folders
        for path in folder.rglob("*.py")
        for found in written.finditer(path.read_text("utf-8"))
    ]
    assert repeated == []
    assert f"delta > {THRESHOLD:g}" in (ROOT / "docs" / "concepts.md").read_text("utf-8")


VERB_OF_A_PAGE = {
    "annotate": "graph",
    "compare": "compare",
    "criteria": "criteria",
    "data": "convert",
    "decisions": "counterfactual",
    "failure_modes": "modes",
    "memory": "memory",
    "overview": "triage",
    "rankings": "rank",
    "review": "review",
    "run": "score",
    "audit": "graph",
    "versions": "compare",
    "what_if_not": "crafter",
}


def test_every_page_has_a_folder_of_components_and_a_verb() -> None:
    pages = {path.stem for path in (ROOT / "pages").glob("*.py")}
    folders = {path.parent.name for path in (ROOT / "components").glob("*/__init__.py")}
    assert pages == VERB_OF_A_PAGE.keys()
    assert folders - pages == {"figures", "plan", "shared", "transcript"}
    assert pages <= folders
    assert VERBS.keys() >= set(VERB_OF_A_PAGE.values())


def test_every_verb_is_a_file_of_its_name() -> None:
    assert {path.stem for path in (ROOT / "untaken" / "cli").glob("*.py")} >= VERBS.keys()


def test_a_metric_is_named_in_its_declaration_alone() -> None:
    name = re.compile(r"\"completion_with_deps(_all)?\"")
    program = [path for path in CODE if path.parts[len(ROOT.parts)] != "sample_runs"]
    named = {str(path.relative_to(ROOT)) for path in program if name.search(path.read_text("utf-8"))}
    assert named == {"untaken/analysis/ranking/metrics.py"}
