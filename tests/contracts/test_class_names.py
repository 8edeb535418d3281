"""A class name means one thing."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

from programs import tree

ROOT = Path(__file__).parents[2]


def test_no_two_public_classes_share_a_name() -> None:
    homes: defaultdict[str, list[str]] = defaultdict(list)
    for room in ("untaken", "components"):
        for path in sorted((ROOT / room).rglob("*.py")):
            for node in tree(path).body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    homes[node.name].append(path.relative_to(ROOT).as_posix())
    assert len(homes) > 500
    assert {name: where for name, where in homes.items() if len(where) > 1} == {}
