"""What the program never does, and what it is set to: nothing that runs text, nothing that calls out."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import programs
import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("untaken", "components", "pages")
PROGRAM = [
    *sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py")),
    *(ROOT / "app.py", ROOT / "server.py"),
]
AROUND = [
    path
    for room in ("tests", "scripts", "benchmarks", "sample_runs", "notebooks")
    for path in sorted((ROOT / room).rglob("*.py"))
]
MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "code", "codeop", "telnetlib"}
RUNS_TEXT = {
    *("eval", "exec", "compile", "__import__", "os.system", "os.popen", "yaml.load", "yaml.unsafe_load"),
    *("yaml.full_load", "builtins.eval", "builtins.exec", "pd.read_pickle", "pandas.read_pickle", "pd.eval"),
    *("numpy.fromfile", "subprocess.getoutput", "subprocess.getstatusoutput"),
}
MENTION = re.compile(
    r"[pP]ickle|dill|marshal|shelve|telnetlib|codeop|(?:import|from).*\bcode\b|__import__|shell|unsafe_allow_html"
    r"|(?:eval|exec|system|popen|load|fromfile|getoutput|getstatusoutput)\(|(?<![.\w])compile\("
)
"""A file without these words has none of the faults."""
CACHES = {"cache", "lru_cache", "cache_data", "cache_resource"}


def dotted(node: ast.expr) -> str:
    """A name with dots; what is called is nothing else in `RUNS_TEXT`."""
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else "…"


def faults(path: Path) -> Iterator[str]:
    if not MENTION.search(path.read_text("utf-8")):
        return
    for node in programs.nodes(path):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        yield from (name for name in names if name.partition(".")[0] in MODULES)
        if isinstance(node, ast.Call):
            called = dotted(node.func)
            yield from [called] if called in RUNS_TEXT else []
            yield from (
                f"{called}({keyword.arg}=True)"
                for keyword in node.keywords
                if (keyword.arg in ("shell", "allow_pickle") and ast.unparse(keyword.value) != "False")
                or (keyword.arg == "unsafe_allow_html" and path.parent.name == "pages")
            )


def test_nothing_in_the_repository_runs_text_or_loads_objects() -> None:
    found = {path.relative_to(ROOT).as_posix(): list(faults(path)) for path in PROGRAM}
    assert {path: some for path, some in found.items() if some} == {}
    assert {path.relative_to(ROOT).as_posix(): found for path in AROUND if (found := [*faults(path)])} == {}


def test_the_rule_finds_what_it_forbids(tmp_path: Path) -> None:
    path = tmp_path / "bad.py"
    path.write_text("import pickle\nfrom marshal import loads\neval('1')\nyaml.load(x)\nrun(x, shell=True)\n")
    assert list(faults(path)) == ["pickle", "marshal", "eval", "yaml.load", "run(shell=True)"]
    for fault in (*(f"from {name} import x" for name in MODULES), *(f"x = {name}(1)" for name in RUNS_TEXT)):
        path.write_text(fault)
        assert [*faults(path)], fault


def test_the_server_is_set_to_loopback_without_telemetry_and_details() -> None:
    settings = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))
    assert settings["server"]["address"] == "127.0.0.1"
    assert settings["server"]["allowedHosts"] == ["localhost", "127.0.0.1"]
    assert settings["server"].get("enableXsrfProtection", True)
    assert settings["server"].get("enableCORS", True)
    assert settings["server"]["enableStaticServing"] is False
    assert settings["browser"]["gatherUsageStats"] is False
    assert settings["client"]["showErrorDetails"] in ("type", "none", False)


def cached(path: Path) -> Iterator[tuple[ast.FunctionDef, ast.expr]]:
    """Functions that remember their answers, with the decorator that makes them."""
    for node in programs.nodes(path):
        for decorator in node.decorator_list if isinstance(node, ast.FunctionDef) else ():
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            if ast.unparse(called).rpartition(".")[2] in CACHES:
                assert isinstance(node, ast.FunctionDef)
                yield node, decorator


SCREEN = ("components", "pages")
OF_SESSION = {"selected", "rules", "group_name", "reviewer", "author", "is_dark", "workspace"}
STATE = {"st.session_state", "st.query_params", "st.user", "st.context", "st.secrets"}


@pytest.fixture(scope="module")
def every() -> list[tuple[Path, ast.FunctionDef, ast.expr]]:
    return [
        (path, *found) for path in PROGRAM if "cache" in path.read_text("utf-8") for found in cached(path)
    ]


def test_there_are_cached_functions(every: list[tuple[Path, ast.FunctionDef, ast.expr]]) -> None:
    assert len(every) > 30


def of_a_session(function: ast.FunctionDef) -> set[str]:
    """What a function reads or calls that differs from session to session."""
    nodes = list(ast.walk(function))
    read = {ast.unparse(node) for node in nodes if isinstance(node, ast.Attribute)}
    called = {ast.unparse(node.func).rpartition(".")[2] for node in nodes if isinstance(node, ast.Call)}
    return read & STATE | called & OF_SESSION


def test_a_cached_function_knows_nothing_of_a_session(
    every: list[tuple[Path, ast.FunctionDef, ast.expr]],
) -> None:
    on_screen = [(path, function) for path, function, _ in every if set(SCREEN) & set(path.parts)]
    assert len(on_screen) > 10
    assert [f"{p.stem}.{f.name}: {used}" for p, f in on_screen if (used := of_a_session(f))] == []


def is_bounded(function: ast.FunctionDef, decorator: ast.expr) -> bool:
    arguments = [*function.args.args, *function.args.kwonlyargs, function.args.vararg, function.args.kwarg]
    bounds = (
        {k.arg: ast.unparse(k.value) for k in decorator.keywords} if isinstance(decorator, ast.Call) else {}
    )
    bound = bounds.get("maxsize") or bounds.get("max_entries")
    return bound not in (None, "None") or not any(arguments)


def test_every_cache_is_bounded(every: list[tuple[Path, ast.FunctionDef, ast.expr]]) -> None:
    assert [f"{path.stem}.{f.name}" for path, f, decorator in every if not is_bounded(f, decorator)] == []
