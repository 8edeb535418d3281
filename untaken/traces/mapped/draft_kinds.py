"""What tells the elements of a list apart: a kind, a name of what happened, the member that each has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from untaken.traces.mapped.draft_names import (
    ANSWERED,
    ASSISTANTS,
    BEGINS,
    BOUNDS,
    CALLING,
    GIVEN,
    KIND_WORDS,
    KINDS,
    MODELS,
    OTHER_KINDS,
    PARTS,
    RUNS,
    SYSTEM,
    TOOLS,
    USERS,
    like,
    words,
)
from untaken.traces.mapped.draft_shapes import mostly

Element = Mapping[str, Any]
KINDS_SHOWN: Final = 20
KIND_CHARS: Final = 40


def kind_path(elements: Sequence[Element]) -> str | None:
    """The path of what tells elements apart: in most of them, with few values; the outermost first."""
    for path in _kind_paths(elements):
        values = [each[path] for each in elements if isinstance(each.get(path), str)]
        last = path.rpartition(".")[2]
        worded = like(last, KINDS[:4]) or bool(words(last) & KIND_WORDS) or _owned(path)
        names = worded and not any(" " in each for each in values)
        most = len(values) - 1 if names else len(values) // 2  # kinds come again, and texts less often
        known = all(words(each) & (USERS | ASSISTANTS | TOOLS | SYSTEM) for each in values)
        known = known or (names and mostly(bool(phase_of(each)) for each in values))
        if len(values) * 2 > len(elements) and (known or len(set(values)) <= max(2, most)):
            return path
    return next((path for path in paths_of(elements) if _tells(elements, path)), None)


def _kind_paths(elements: Sequence[Element]) -> Iterator[str]:
    """The paths that may be what tells elements apart, the likeliest first."""
    paths = paths_of(elements)
    yield from (path for name in KINDS[:4] for path in paths if like(path.rpartition(".")[2], (name,)))
    yield from filter(_owned, paths)
    for path in paths:
        found = words(path.rpartition(".")[2])
        differ = {each[path] for each in elements if isinstance(each.get(path), str)}
        if found & KIND_WORDS and not found & OTHER_KINDS and len(differ) > 1:
            yield path
    for name in KINDS[4:]:
        named = (path for path in paths if like(path.rpartition(".")[2], (name,)))
        # A name inside is that of what it is in, not of the element.
        yield from (path for path in named if "." not in path or name != KINDS[-1])


def paths_of(elements: Sequence[Element]) -> list[str]:
    """The paths that elements have, the outermost first."""
    return sorted(dict.fromkeys(path for each in elements for path in each), key=lambda path: path.count("."))


def _owned(path: str) -> bool:
    """Whether it is the name or type of what is called a kind: ``event.name``."""
    above, _, last = path.rpartition(".")
    return like(above.rpartition(".")[2], KINDS[:4]) and like(last, ("name", *KINDS[:2]))


def _tells(elements: Sequence[Element], path: str) -> bool:
    """Whether the short texts at a path say what elements are: that one is called, that one is said."""
    values = [each[path] for each in elements if isinstance(each.get(path), str)]
    kinds = dict.fromkeys(values)
    if len(values) * 2 <= len(elements) or len(kinds) > KINDS_SHOWN or max(map(len, kinds)) > KIND_CHARS:
        return False
    classes = [
        phase_of(each) or ("said" if words(each) & (USERS | ASSISTANTS | MODELS) else "") for each in kinds
    ]
    known = [each for each in classes if each]
    return len(known) * 10 >= len(classes) * 8 and len(set(known)) > 1


def phase_of(kind: str) -> str:
    """What the kind of an element says it is: ``call``, ``answer``, ``bound`` of a run, or nothing."""
    kind_words = words(kind)
    if kind_words & MODELS:  # a call of a model is none of a tool
        return ""
    if kind_words & TOOLS:
        return "answer" if kind_words & ANSWERED else "call"
    if kind_words & CALLING and kind_words <= CALLING | ANSWERED | BEGINS:
        return "answer" if kind_words & ANSWERED else "call"
    if kind_words and kind_words <= GIVEN:
        return "answer"
    if kind_words & BOUNDS and (kind_words & RUNS or kind_words <= BOUNDS):
        return "bound"
    return "answer" if "observation" in kind_words else ""


def by_value(elements: Sequence[Element], kind: str) -> list[tuple[dict[str, Any], list[Element]]]:
    """The elements of each kind, with the condition that tells them."""
    values = dict.fromkeys(each[kind] for each in elements if isinstance(each.get(kind), str))
    return [({kind: value}, [each for each in elements if each.get(kind) == value]) for value in values]


def by_member(elements: Sequence[Element]) -> list[tuple[dict[str, Any], list[Element]]]:
    """The elements by the one object that each has and the others do not: ``{"toolCall": {…}}``."""
    parts = (*PARTS["arguments"], *PARTS["content"])
    held = [
        [p for p, value in e.items() if isinstance(value, dict) and not like(p.rpartition(".")[2], parts)]
        for e in elements
    ]
    everywhere = set.intersection(*map(set, held)) if held else set()  # what all have tells none apart
    for home in dict.fromkeys(path.rpartition(".")[0] for paths in held for path in paths):
        own = [[p for p in paths if p.rpartition(".")[0] == home and p not in everywhere] for paths in held]
        names = list(dict.fromkeys(path for paths in own for path in paths))
        if len(names) > 1 and all(len(paths) == 1 for paths in own):
            return [({p: {"exists": True}}, [e for e in elements if p in e]) for p in names]
    return []


def kind_of(when: Mapping[str, Any]) -> str:
    """What a condition says that an element is: a value, or the name of the member that it has."""
    name, value = next(iter(when.items()), ("", ""))
    return value if isinstance(value, str) else name.rpartition(".")[2]
