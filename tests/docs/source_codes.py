"""Every error and finding code of the program, read from its syntax.

A code enters the program where a string is given to a parameter or field called ``code``: of `UntakenError`
and `Finding`, and of each function, method, dataclass or named tuple that passes one on. Those places are
found by their signatures, so a helper that is written tomorrow is seen tomorrow.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import programs

CODE = "code"
PREFIXED = {"JsonFault": "ledger-", "LineFault": "ledger-", "_refuse": "ledger-"}
"""Faults of one line: the ledger reader reports them under its own name (`LineFault.code`)."""
DERIVED = {
    "f'ledger-{integrity.verdict.lower()}'": {"ledger-altered", "ledger-malformed", "ledger-truncated"},
    "f'{what}-left-out'": {"cost-left-out", "steps-left-out"},
}
"""Codes put together at run time: what each expression can become."""


@dataclass
class Codes:
    """What was found: codes, and expressions that could not be followed."""

    codes: set[str] = field(default_factory=set)
    unread: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Taker:
    """A callable that takes a code, at `position` among its positional arguments (``None``: by keyword)."""

    position: int | None


def codes_in(*folders: Path) -> Codes:
    """All codes in the Python files below these folders."""
    files = {path: programs.nodes(path) for folder in folders for path in sorted(folder.rglob("*.py"))}
    functions = {path: dict(_functions(nodes)) for path, nodes in files.items()}
    classes = {name: taker for nodes in files.values() for name, taker in _classes(nodes)}
    methods = {name: taker for nodes in files.values() for name, taker in _methods(nodes)}
    shared = {n: t for found in functions.values() for n, t in found.items() if not n.startswith("_")}
    found = Codes()
    for path, nodes in files.items():
        takers = shared | classes | functions[path]
        for call in (node for node in nodes if isinstance(node, ast.Call)):
            name, is_method = _called(call.func)
            taker = methods.get(name) if is_method else takers.get(name)
            given = _argument(call, taker) if taker else None
            if given is not None:
                _read(given, nodes, name, is_method, f"{path.name}:{call.lineno}", found)
    return found


def _functions(nodes: Sequence[ast.AST]) -> Iterator[tuple[str, Taker]]:
    """Functions, nested ones too, that are no methods."""
    in_classes = {id(inner) for node in nodes if isinstance(node, ast.ClassDef) for inner in node.body}
    for node in nodes:
        if isinstance(node, ast.FunctionDef) and id(node) not in in_classes and (taker := _taker(node, 0)):
            yield node.name, taker


def _methods(nodes: Sequence[ast.AST]) -> Iterator[tuple[str, Taker]]:
    for owner in (node for node in nodes if isinstance(node, ast.ClassDef)):
        for node in owner.body:
            if isinstance(node, ast.FunctionDef) and node.name != "__init__" and (taker := _taker(node, 1)):
                yield node.name, taker


def _classes(nodes: Sequence[ast.AST]) -> Iterator[tuple[str, Taker]]:
    """Classes made with a code; one that inherits from such a class is made like it."""
    owners = [node for node in nodes if isinstance(node, ast.ClassDef)]
    for owner in owners:
        fields = [
            n.target.id for n in owner.body if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)
        ]
        made = next((n for n in owner.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"), None)
        taker = _taker(made, 1) if made else Taker(fields.index(CODE)) if CODE in fields else None
        if taker:
            yield owner.name, taker
        elif any(isinstance(base, ast.Name) and base.id == "UntakenError" for base in owner.bases):
            yield owner.name, Taker(0)


def _taker(node: ast.FunctionDef, own: int) -> Taker | None:
    names = [argument.arg for argument in node.args.args][own:]
    if CODE in names:
        return Taker(names.index(CODE))
    return Taker(None) if CODE in [argument.arg for argument in node.args.kwonlyargs] else None


def _called(function: ast.expr) -> tuple[str, bool]:
    if isinstance(function, ast.Attribute):
        return function.attr, True
    return (function.id if isinstance(function, ast.Name) else ""), False


def _argument(call: ast.Call, taker: Taker) -> ast.expr | None:
    named = next((keyword.value for keyword in call.keywords if keyword.arg == CODE), None)
    if named is not None or taker.position is None:
        return named
    return call.args[taker.position] if len(call.args) > taker.position else None


def _read(
    given: ast.expr, nodes: Sequence[ast.AST], name: str, is_method: bool, place: str, found: Codes
) -> None:
    if isinstance(given, ast.Constant):
        if isinstance(given.value, str) and (not is_method or _looks_like_a_code(given.value)):
            found.codes.add(PREFIXED.get(name, "") + given.value)
    elif isinstance(given, ast.IfExp):
        _read(given.body, nodes, name, is_method, place, found)
        _read(given.orelse, nodes, name, is_method, place, found)
    elif isinstance(given, ast.JoinedStr) and ast.unparse(given) in DERIVED:
        found.codes |= DERIVED[ast.unparse(given)]
    elif isinstance(given, ast.Name) and given.id != CODE:
        assigned = _assigned(nodes, given.id)
        for value in assigned:
            _read(value, nodes, name, is_method, place, found)
        if not assigned and not is_method:
            found.unread.append(f"{place}: {ast.unparse(given)}")
    elif not (is_method or _passed_on(given)):
        found.unread.append(f"{place}: {ast.unparse(given)}")


def _looks_like_a_code(text: str) -> bool:
    return "-" in text and text.replace("-", "").isalnum()


def _passed_on(given: ast.expr) -> bool:
    """A code that came from elsewhere: `code`, `error.code`, `errors[0].code`."""
    last = given.id if isinstance(given, ast.Name) else getattr(given, "attr", "")
    return last == CODE


def _assigned(nodes: Sequence[ast.AST], name: str) -> list[ast.expr]:
    """The texts that a name is given in a file."""
    return [
        node.value
        for node in nodes
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Constant)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name) and target.id == name
    ]
