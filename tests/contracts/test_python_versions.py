"""Every Python that the project names reads a line alike."""

from __future__ import annotations

import ast

import programs
from programs import ROOT

INLINED = ast.ListComp | ast.SetComp | ast.DictComp


def confused(function: ast.AST, known: set[str]) -> set[str]:
    """Names of the module that a function uses beside a comprehension that gives them another meaning."""
    within: set[ast.AST] = set()
    given: set[str] = set()
    for one in ast.walk(function):
        if isinstance(one, INLINED):
            targets = [name for part in one.generators for name in ast.walk(part.target)]
            given |= {name.id for name in targets if isinstance(name, ast.Name)}
            within |= set(ast.walk(one))
    names = [one for one in ast.walk(function) if isinstance(one, ast.Name) and one.id in given & known]
    return {one.id for one in names if one not in within} | _in_another(function, known)


def _in_another(function: ast.AST, known: set[str]) -> set[str]:
    """Such names that are used in one comprehension and given in another."""
    comprehensions = [one for one in ast.walk(function) if isinstance(one, INLINED)]
    given = [
        {name.id for part in one.generators for name in ast.walk(part.target) if isinstance(name, ast.Name)}
        for one in comprehensions
    ]
    used = [{name.id for name in ast.walk(one) if isinstance(name, ast.Name)} for one in comprehensions]
    every = set[str]().union(*given)
    return {name for own, names in zip(given, used, strict=True) for name in (names - own) & every & known}


def test_no_comprehension_hides_a_name_of_the_module_that_its_function_uses() -> None:
    """Python 3.12.1 then looks for the name in the function, and finds nothing (`UnboundLocalError`)."""
    found = {}
    for room in ("untaken", "components", "pages"):
        for path in sorted((ROOT / room).rglob("*.py")):
            body = programs.tree(path).body
            known = {one.name for one in body if isinstance(one, ast.FunctionDef | ast.ClassDef)}
            imports = [one for one in body if isinstance(one, ast.Import | ast.ImportFrom)]
            known |= {name.asname or name.name for one in imports for name in one.names}
            functions = [one for one in programs.nodes(path) if isinstance(one, ast.FunctionDef)]
            for function in functions:
                if names := confused(function, known):
                    found[f"{path.relative_to(ROOT)}:{function.name}"] = names
    assert found == {}
