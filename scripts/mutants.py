"""Whether the tests notice: small changes of the engine at random places, each against its room's tests.

`make mutants` tries 60 of a fixed seed; `python -m scripts.mutants untaken/stats/ranks.py:113 …` tries every
change of the lines named; `python -m scripts.mutants untaken/traces` draws from that room. Only a copy is
changed. Exit code 1: fewer were noticed than the aim.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).resolve().parents[1]
AIM = 0.85
IN_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
"""Where the copies are, for their tests write many small files."""
ROOMS = {
    "untaken/ledger": [
        "tests/ledger",
        "tests/instrument",
        "tests/faults/test_ledger_crashes.py",
        "tests/faults/test_ledger_journal.py",
        "tests/properties/test_ledger_properties.py",
        "tests/scaling/test_places.py",
        "tests/scaling/test_scored_while_read.py",
    ],
    "untaken/plans/discovery": ["tests/discovery"],
    "untaken/plans/editing": ["tests/editing", "tests/properties/test_annotating_properties.py"],
    "untaken/plans": [
        "tests/plans",
        "tests/properties/test_plan_properties.py",
        "tests/subgoals/test_sub_goal_decisions.py",
        "tests/failure_modes/test_taxonomy.py",
    ],
    "untaken/scoring/causes": ["tests/causes", "tests/fix_first"],
    "untaken/scoring/transcript": ["tests/transcript"],
    "untaken/scoring": [
        "tests/subgoals",
        "tests/causes",
        "tests/transcript",
        "tests/judging/test_blind_reading.py",
        "tests/judging/test_unanchored.py",
        "tests/facts/test_facts.py",
        "tests/corpus/test_gate.py",
        "tests/properties/test_run_oracles.py",
        "tests/properties/test_score_properties.py",
    ],
    "untaken/counterfactual/memory": ["tests/memory", "tests/properties/test_memory_properties.py"],
    "untaken/counterfactual": [
        "tests/counterfactual",
        "tests/comparing/test_where_runs_diverge.py",
        "tests/corpus/test_corpus_plans.py",
        "tests/fix_first/test_advice.py",
        "tests/properties/test_counterfactual_properties.py",
        "tests/properties/test_statement_oracle.py",
    ],
    "untaken/facts/scaling": ["tests/scaling", "tests/corpus/test_reopening.py"],
    "untaken/facts": [
        "tests/facts",
        "tests/corpus/test_report_tables.py",
        "tests/scaling/test_facts_while_read.py",
    ],
    "untaken/stats": [
        "tests/stats",
        "tests/ranking",
        "tests/counterfactual/test_columns.py",
        "tests/counterfactual/test_confounding.py",
        "tests/counterfactual/test_trust.py",
        "tests/criteria/test_two_agents_by_criterion.py",
    ],
    "untaken/analysis/ranking": [
        "tests/ranking",
        "tests/corpus/test_gate.py",
        "tests/facts/test_ranked_facts.py",
        "tests/properties/test_ranking_properties.py",
    ],
    "untaken/analysis/auditing": ["tests/auditing"],
    "untaken/analysis/comparing": ["tests/comparing"],
    "untaken/analysis/failure_modes": ["tests/failure_modes", "tests/causes"],
    "untaken/analysis/fix_first": ["tests/fix_first", "tests/properties/test_fix_first_properties.py"],
    "untaken/analysis/versions": ["tests/versions"],
    "untaken/analysis": [
        "tests/corpus",
        "tests/editing",
        "tests/properties/test_annotating_properties.py",
        "tests/judging/test_search_while_reading.py",
        "tests/properties/test_sequential_properties.py",
        "tests/ranking/test_what_drives_a_difference.py",
    ],
    "untaken/traces": [
        "tests/traces",
        "tests/editing/test_annotating_edits.py",
        "tests/properties/test_formats_properties.py",
    ],
    "untaken/workspace": ["tests/store"],
}
"""The rooms whose rules decide what users read, and the tests that have to know them."""
SAMPLED = [room for room in ROOMS if room not in ("untaken/traces", "untaken/workspace")]
"""Where `make mutants` draws; the other rooms are tried where they are named."""

OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or,
    ast.Or: ast.And, ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
}  # fmt: skip
CALLS = {"min": "max", "max": "min", "any": "all", "all": "any"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One expression of a file, written otherwise."""

    path: str
    line: int
    begin: int
    end: int
    was: str
    now: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}  {self.was}  →  {self.now}"


def mutants(path: str) -> Iterator[Mutant]:
    """Every mutant of a file; what only a type checker or a reader sees is left alone."""
    source = (ROOT / path).read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node in _expressions(ast.parse(source)):
        was = ast.unparse(node)
        if (now := _otherwise(node)) is not None:
            begin = starts[node.lineno - 1] + node.col_offset
            end = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
            yield Mutant(path=path, line=node.lineno, begin=begin, end=end, was=was, now=now)


def mutated(source: bytes, mutant: Mutant) -> bytes:
    """The file with this change."""
    return source[: mutant.begin] + mutant.now.encode() + source[mutant.end :]


_DECLARED = ("annotation", "returns", "decorator_list")


def _expressions(node: ast.AST) -> Iterator[ast.expr]:
    if isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
    ):
        return  # before Python 3.12 the parts of an f-string have no place of their own
    for field, value in ast.iter_fields(node):
        if field not in _DECLARED and not (field == "keywords" and _declares(node)):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from _expressions(child)
    if isinstance(node, ast.expr):
        yield node


def _declares(node: ast.AST) -> bool:
    """Whether its keywords decide nothing: those of a class, and `strict` of a zip, which holds anyway."""
    return isinstance(node, ast.ClassDef) or (isinstance(node, ast.Call) and ast.unparse(node.func) == "zip")


def _otherwise(node: ast.expr) -> str | None:
    match node:
        case ast.Constant(value=bool() | int() | float() as value):
            return repr(not value if isinstance(value, bool) else value + 1)
        case ast.Compare(ops=[op]) if type(op) in OPERATORS:
            return f"({ast.unparse(ast.Compare(node.left, [OPERATORS[type(op)]()], node.comparators))})"
        case ast.BoolOp(op=op, values=values):
            return f"({ast.unparse(ast.BoolOp(OPERATORS[type(op)](), values))})"  # type: ignore[arg-type]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS and not _text(left, right):
            return f"({ast.unparse(ast.BinOp(left, OPERATORS[type(op)](), right))})"  # type: ignore[arg-type]
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return f"bool({ast.unparse(operand)})"
        case ast.IfExp(test=test, body=body, orelse=other):
            return f"({ast.unparse(ast.IfExp(test, other, body))})"
        case ast.Call(func=ast.Name(id=name)) if name in CALLS:
            return ast.unparse(ast.Call(ast.Name(CALLS[name]), node.args, node.keywords))
    return None


def _text(*operands: ast.expr) -> bool:
    return any(isinstance(one, ast.JoinedStr | ast.List | ast.Tuple) or _is_text(one) for one in operands)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)


def room_of(path: str) -> str:
    """The room of a file, as `ROOMS` names it."""
    return next(room for room in ROOMS if path.startswith(f"{room}/"))


def tests_of(path: str) -> list[str]:
    """The test files of its room, those that share a word of its name first; last what users see of it."""
    words = set(Path(path).stem.split("_"))
    found = [file for place in (*ROOMS[room_of(path)], "tests/golden") for file in _files(ROOT / place)]
    ordered = sorted(found, key=lambda file: -len(words & set(file.stem.split("_"))))
    return [file.relative_to(ROOT).as_posix() for file in ordered]


def _files(place: Path) -> list[Path]:
    return [place] if place.is_file() else sorted(place.rglob("test_*.py"))


def failure(tree: Path, tests: list[str], limit: float | None = None) -> str:
    """What these tests say where they fail in a copy of the checkout or take too long, else empty."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", f"--basetemp={tree}-tmp"]
    environment = os.environ | {"PYTHONPATH": str(tree)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # else the tests of every mutant are compiled again
    environment.setdefault("UNTAKEN_REAL_DATA", str(ROOT.parent / "shared" / "data"))
    try:
        done = subprocess.run(
            [*command, *tests],
            check=False,
            cwd=tree,
            env=environment,
            capture_output=True,
            text=True,
            timeout=limit,
        )
    except subprocess.TimeoutExpired:
        return "too long"
    return done.stdout or done.stderr if done.returncode else ""


def copied(tree: Path) -> Path:
    """The files of the checkout in a new folder."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    for name in filter(None, listed.decode().split("\0")):
        if (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tree / name)
    return tree


def survives(mutant: Mutant, tree: Path, limit: float) -> bool:
    """Whether the room's tests pass on a mutant."""
    file, source = tree / mutant.path, (ROOT / mutant.path).read_bytes()
    file.write_bytes(mutated(source, mutant))
    try:
        return not failure(tree, tests_of(mutant.path), limit)
    finally:
        file.write_bytes(source)


def chosen(places: list[str], count: int, seed: int) -> list[Mutant]:
    """Every mutant of the files and lines named, else `count` of the rooms named, or of all sampled."""
    if places and not all((ROOT / place).is_dir() for place in places):
        wanted = {place if ":" in place else f"{place}:" for place in places}
        files = sorted({place.split(":")[0] for place in wanted})
        return [m for file in files for m in mutants(file) if {f"{m.path}:{m.line}", f"{m.path}:"} & wanted]
    rooms = [ROOT / room for room in places or SAMPLED]
    found = {path.relative_to(ROOT).as_posix() for room in rooms for path in room.rglob("*.py")}
    every = [mutant for path in sorted(found) for mutant in mutants(path)]
    return random.Random(seed).sample(every, count)


def main() -> int:
    """Exit code 0 where enough is noticed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("places", nargs="*", help="a file, or file:line; or rooms to draw from")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1)
    asked = parser.parse_args()
    tried = chosen(asked.places, asked.count, asked.seed)
    with (
        tempfile.TemporaryDirectory(prefix="untaken-mutants-", dir=IN_MEMORY) as made,
        ThreadPoolExecutor(asked.workers) as pool,
    ):
        trees: SimpleQueue[Path] = SimpleQueue()
        for number in range(asked.workers):
            trees.put(copied(Path(made) / str(number)))
        limits: dict[str, float] = {}
        for room, path in {room_of(mutant.path): mutant.path for mutant in tried}.items():
            began = time.monotonic()
            if why := failure(Path(made) / "0", tests_of(path)):
                sys.exit(f"the tests of {room} fail without any change:\n{why}")
            limits[room] = 20 + 3 * (time.monotonic() - began)

        def verdict(mutant: Mutant) -> bool:
            tree = trees.get()
            try:
                lives = survives(mutant, tree, limits[room_of(mutant.path)])
            finally:
                trees.put(tree)
            print("survived" if lives else "noticed ", mutant, flush=True)
            return lives

        survived = sum(pool.map(verdict, tried))
    print(f"{len(tried) - survived} of {len(tried)} noticed; the aim is {AIM:.0%}")
    return int(survived > (1 - AIM) * len(tried))


if __name__ == "__main__":
    sys.exit(main())
