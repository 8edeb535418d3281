"""Finds every pattern of the program, and the texts that make each work hardest.

Run as a script it attacks them all: ``python tests/hostile_patterns.py``. A pattern is an offence where its
work grows faster than its text, by a wide margin.
"""

from __future__ import annotations

import ast
import fnmatch
import importlib
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from time import process_time_ns
from typing import Any

ROOT = Path(__file__).parents[1]
ROOMS = ("untaken", "components", "pages", "app.py")
USES = {"match": "match", "fullmatch": "fullmatch"}
"""How a pattern is applied; whatever is not one of these scans the text."""
MENTION = re.compile(r"\bre\b|\bpattern\b")
"""A file without these words makes no pattern."""
MADE_AT_RUN_TIME = {
    ("untaken/plans/globs.py", "fnmatch.translate(pattern)"): [
        fnmatch.translate(glob) for glob in ("*a*b*c", "a?*?*", "*[ab]*[!c]*")
    ],
    ("untaken/analysis/auditing/successes.py", "f'\\\\b{old}\\\\b'"): [r"\bstate\.a\.b\b"],
}
"""Patterns that no module holds, with examples of what they are made from."""
SMALL, LARGE = 128, 1024
FASTER = 4.0
"""How many times faster than its text the work may grow; the square of its length grows 8 times faster."""
COSTLY, CHEAP = 500_000, 80_000
"""Nanoseconds that only choose what is measured: a small text that costs much, a large one that does not."""
LONG = 20_000_000
"""Nanoseconds of which the clock's own steps are a small part."""
BEFORES, PUMPS, LETTERS = 6, 40, 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A pattern of the program: where it is made, and how it is applied to a text."""

    place: str
    pattern: re.Pattern[Any]
    uses: frozenset[str]


def sources() -> list[Path]:
    files = [
        file
        for room in ROOMS
        for file in ([ROOT / room] if room.endswith(".py") else (ROOT / room).rglob("*.py"))
    ]
    return sorted(files)


def found_patterns() -> Iterator[Found]:
    """Every pattern made anywhere in the program.

    Raises:
        AssertionError: for one that is made in a way this test cannot follow.
    """
    for file in sources():
        text = file.read_text("utf-8")
        if not MENTION.search(text):
            continue
        name, nodes = file.relative_to(ROOT).as_posix(), list(ast.walk(ast.parse(text)))
        assert not any(isinstance(node, ast.ImportFrom) and node.module == "re" for node in nodes), name
        calls = [node for node in nodes if isinstance(node, ast.Call) and _pattern_of(node) is not None]
        if calls:
            yield from _made_in(name, nodes, calls)


def _made_in(name: str, nodes: list[ast.AST], calls: list[ast.Call]) -> Iterator[Found]:
    module = vars(importlib.import_module(name.removesuffix(".py").replace("/", ".")))
    inside = [value for value in module.values() if not isinstance(value, re.Pattern)]
    held = [pattern for value in inside for pattern in _held(value, module["__name__"])]
    for call in calls:
        written = _pattern_of(call)
        assert written is not None
        place = f"{name}:{call.lineno}"
        method = call.func.attr if isinstance(call.func, ast.Attribute) else "search"
        pattern = _compiled(call, written, nodes, module)
        if pattern is None:
            made = MADE_AT_RUN_TIME.get((name, ast.unparse(written)))
            assert made or held, f"{place}: a pattern made at run time; name examples of it here"
            uses, patterns = ("match", map(re.compile, made)) if made else ("scan", held)
            yield from (Found(place=place, pattern=pattern, uses=frozenset({uses})) for pattern in patterns)
            continue
        uses = _uses(nodes, call) if method == "compile" else {USES.get(method, "scan")}
        yield Found(place=place, pattern=pattern, uses=frozenset(uses))


def _compiled(
    call: ast.Call, written: ast.expr, nodes: list[ast.AST], module: dict[str, Any]
) -> re.Pattern[Any] | None:
    """What the call makes: of a literal or a named text, else what the module holds under its name."""
    text = module.get(written.id) if isinstance(written, ast.Name) else getattr(written, "value", None)
    if isinstance(text, str | bytes):
        compiles = isinstance(call.func, ast.Attribute) and call.func.attr == "compile"
        return re.compile(text, _flags(call.args[1]) if compiles and call.args[1:] else 0)
    held = [module.get(name) for name in _names(nodes, call)]
    return next((one for one in held if isinstance(one, re.Pattern)), None)


def _flags(node: ast.expr) -> int:
    if isinstance(node, ast.BinOp):
        return _flags(node.left) | _flags(node.right)
    assert isinstance(node, ast.Attribute)
    return int(getattr(re, node.attr))


def _pattern_of(call: ast.Call) -> ast.expr | None:
    """The pattern a call is given: ``re.…(pattern, …)``, or ``Meta(pattern=…)``, which msgspec searches."""
    func = call.func
    if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == "re":
        return call.args[0] if func.attr not in ("escape", "Match", "Pattern") else None
    if isinstance(func, ast.Name) and func.id == "Meta":
        return next((keyword.value for keyword in call.keywords if keyword.arg == "pattern"), None)
    return None


def _held(value: Any, module: str, depth: int = 3) -> Iterator[re.Pattern[Any]]:
    """Patterns in a module's value: itself, in a container, or in an object of the module's own classes."""
    if isinstance(value, re.Pattern):
        yield value
    elif depth and isinstance(value, dict | list | tuple | set | frozenset):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _held(one, module, depth - 1)
    elif depth and type(value).__module__ == module:
        for slot in getattr(type(value), "__slots__", ()) or vars(value):
            yield from _held(getattr(value, slot, None), module, depth - 1)


def _uses(nodes: list[ast.AST], call: ast.Call) -> set[str]:
    """How the pattern is applied, where its module gives it a name and only calls methods of that name."""
    names = _names(nodes, call)
    if not names:
        return {"scan"}
    loads = [n for n in nodes if isinstance(n, ast.Name) and n.id == names[0] and isinstance(n.ctx, ast.Load)]
    methods = [n.attr for n in nodes if isinstance(n, ast.Attribute) and n.value in loads]
    return {USES.get(method, "scan") for method in methods} if len(methods) == len(loads) else {"scan"}


def _names(nodes: list[ast.AST], call: ast.Call) -> list[str]:
    """The names that its value is assigned to."""
    return [
        target.id
        for node in nodes
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is call
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    ]


def attacks(pattern: re.Pattern[Any]) -> Iterator[tuple[str, str, str]]:
    """Texts as (before, pumped, after): what matches the beginning, then something again and again."""
    tree = _parser.parse(pattern.pattern, pattern.flags)
    befores = list(dict.fromkeys(["", *_beginnings(tree)]))[:BEFORES]
    letters = list(dict.fromkeys(_letters(tree)))[:LETTERS]
    whole = [*befores, *_bodies(tree)]
    pumps = [
        *filter(None, whole),
        *letters,
        *(f"{text} " for text in whole if text.isalpha()),
        *map("".join, product(letters, repeat=2)),
    ]
    for before, pump in product(befores, list(dict.fromkeys(pumps))[:PUMPS]):
        yield before, pump, "\x01"


def _letters(tree: Any) -> Iterator[str]:
    """Characters that the pattern distinguishes."""
    for kind, value in tree:
        if kind in (op.LITERAL, op.NOT_LITERAL):
            yield chr(value)
        elif kind is op.IN:
            yield from _members(value)
        elif kind is op.ANY:
            yield "x"
        elif kind is op.BRANCH:
            for branch in value[1]:
                yield from _letters(branch)
        else:
            for inner in value if isinstance(value, tuple) else [value]:
                if isinstance(inner, _parser.SubPattern):
                    yield from _letters(inner)


CATEGORIES = {
    op.CATEGORY_DIGIT: "0", op.CATEGORY_NOT_DIGIT: "a", op.CATEGORY_SPACE: " \n", op.CATEGORY_NOT_SPACE: "a",
    op.CATEGORY_WORD: "a", op.CATEGORY_NOT_WORD: "-",
}  # fmt: skip


def _members(items: Any) -> Iterator[str]:
    negated = False
    for kind, value in items:
        if kind is op.NEGATE:
            negated = True
        elif kind is op.LITERAL:
            yield chr(value)
        elif kind is op.RANGE:
            yield chr(value[0])
        elif kind is op.CATEGORY:
            yield from CATEGORIES[value]
    if negated:
        yield from "x "


def _least(tree: Any) -> str:
    """A short text that the pattern matches, as far as its parts show."""
    text = ""
    for kind, value in tree:
        if kind is op.LITERAL:
            text += chr(value)
        elif kind is op.NOT_LITERAL or kind is op.ANY:
            text += "x" if value != ord("x") else "y"
        elif kind is op.IN:
            text += next((c for c in _members(value) if re.fullmatch(_one_of(value), c, re.DOTALL)), "x")
        elif kind is op.BRANCH:
            text += min((_least(branch) for branch in value[1]), key=len)
        elif kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            text += _least(value[2]) * value[0]
        elif kind is op.SUBPATTERN:
            text += _least(value[-1])
        elif kind is op.ATOMIC_GROUP:
            text += _least(value)
    return text


def _one_of(items: Any) -> str:
    """The class written out again, to ask which characters are in it."""
    text = ""
    names = {"SPACE": "s", "DIGIT": "d", "WORD": "w"}
    for kind, value in items:
        if kind is op.NEGATE:
            text = "^" + text
        elif kind is op.LITERAL:
            text += re.escape(chr(value))
        elif kind is op.RANGE:
            text += f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}"
        else:
            *_, no, word = ("_" + str(value)).split("_")
            text += "\\" + (names[word].upper() if no == "NOT" else names[word])
    return f"[{text}]"


def _beginnings(tree: Any) -> Iterator[str]:
    """What matches the pattern up to each of its repeats."""
    before = ""
    for item in tree:
        kind, value = item
        if kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            yield before
            yield from (before + inner for inner in _beginnings(value[2]))
            before += _least(value[2]) * value[0]
        else:
            inner_trees = value[1] if kind is op.BRANCH else [value[-1]] if kind is op.SUBPATTERN else []
            for inner in inner_trees:
                yield from (before + more for more in _beginnings(inner))
            before += _least([item])
    yield before


def _bodies(tree: Any) -> Iterator[str]:
    """What each repeat repeats."""
    for kind, value in tree:
        if kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            yield _least(value[2])
        for inner in value[1] if kind is op.BRANCH else value if isinstance(value, tuple) else [value]:
            if isinstance(inner, _parser.SubPattern):
                yield from _bodies(inner)


def nanoseconds(found: Found, use: str, text: Any, times: int = 1) -> int:
    """The least processor time of several tries of one pattern on one text; a long one is exact at once."""
    least = 1 << 62
    for _ in range(times):
        began = process_time_ns()
        if use == "scan":
            for _match in found.pattern.finditer(text):
                pass
        else:
            getattr(found.pattern, use)(text)
        least = min(least, process_time_ns() - began)
        if least > LONG:
            break
    return max(least, 1)


def grows_too_fast(found: Found, use: str, attack: tuple[str, str, str]) -> bool:
    """Whether the work on a longer text is far more than the longer text explains."""
    small, large = (_text(found.pattern, attack, size) for size in (SMALL, LARGE))
    if nanoseconds(found, use, small) > COSTLY:  # the larger one might never end
        small, large = _text(found.pattern, attack, SMALL // 16), small
    elif nanoseconds(found, use, large) < CHEAP:
        return False
    allowed = FASTER * len(large) / max(len(small), 1)
    return nanoseconds(found, use, large, 7) > allowed * nanoseconds(found, use, small, 7)


def _text(pattern: re.Pattern[Any], attack: tuple[str, str, str], size: int) -> Any:
    before, pump, after = attack
    text = before + pump * (size // len(pump)) + after
    return text.encode("utf-8", "surrogatepass") if isinstance(pattern.pattern, bytes) else text


def offence(found: Found) -> str | None:
    """The attack that a pattern does not withstand, in words."""
    for attack in attacks(found.pattern):
        for use in sorted(found.uses):
            if grows_too_fast(found, use, attack):
                return f"{found.place} {found.pattern.pattern!r} {use} on {attack}"
    return None


def main() -> int:
    offences, met = 0, set()
    for found in found_patterns():
        if (found.pattern, found.uses) in met:
            continue
        met.add((found.pattern, found.uses))
        print(f"{found.place} {found.pattern.pattern!r}", flush=True)
        if words := offence(found):
            offences += 1
            print(f"OFFENCE {words}", flush=True)
    return int(offences > 0)


if __name__ == "__main__":
    sys.exit(main())
