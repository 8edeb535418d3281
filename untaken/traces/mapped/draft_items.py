"""Drafted rules for what happened in a run: known chat messages whole, other elements by their names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from untaken.plans import flow, text
from untaken.traces.mapped.draft_names import (
    ACTING,
    ASSISTANTS,
    BEGINS,
    CALLING,
    CALLS,
    DEEDS,
    FIELDS,
    LISTED,
    MODELS,
    NODES,
    PARTS,
    RESULTS,
    SEEN,
    SPEAKERS,
    THOUGHTS,
    TOOLS,
    USERS,
    WHOLE,
    WRAPPED,
    like,
    words,
)
from untaken.traces.mapped.draft_shapes import (
    KINDS_SHOWN,
    by_member,
    by_value,
    first_named,
    flattened,
    is_plain,
    kind_of,
    kind_path,
    list_of_calls,
    listed,
    lists_of,
    mostly,
    nested_calls,
    part_of,
    phase_of,
    speaks,
    turn_of,
    worked,
)
from untaken.traces.messages import is_message, message_items
from untaken.traces.readings import mapping, objects
from untaken.traces.trace_run import Answered, Called, Item, Utterance

Element = Mapping[str, Any]
USER, ASSISTANT = "'user'", "'assistant'"


def drafted_items(sample: Sequence[Any], together: bool) -> Iterator[str]:
    """The lines of `items`: of records that are elements `together`, or of the lists in each record."""
    if together:
        yield from _list_rule("[]", [each for each in sample if isinstance(each, dict)])
        return
    lists = lists_by_path(sample)
    best = best_list(lists)
    if best is None:
        turn = next(filter(None, (turn_of(flattened(mapping(each))) for each in sample)), None)
        for role, content in zip((USER, ASSISTANT), turn or (), strict=False):  # what was asked and replied
            yield f"  - say: {flow({'role': role, 'content': content})}"
        return
    spoken = [item for each in lists[best] if is_message(each) for item in message_items(each)]
    if beside := _beside(best, lists, spoken):
        if like(beside.rpartition(".")[2], CALLS):
            answered = any(isinstance(item, Answered) for item in spoken)
            yield from (
                f"  - {flow(rule)}" for rule in nested_calls(beside, lists[beside], answered=answered)
            )
        else:
            yield from _list_rule(f"{beside}[]", lists[beside])
    yield from _list_rule(f"{best}[]", lists[best])
    asking = ("user", "system", "developer")
    acts = (isinstance(i, Called) or (isinstance(i, Utterance) and i.role not in asking) for i in spoken)
    if spoken and not any(acts):
        yield from _reply(sample)


def _reply(sample: Sequence[Any]) -> Iterator[str]:
    """The rule for what a model replied to the messages that it was called with."""
    flat = [flattened(mapping(each)) for each in sample]
    texts = [
        {
            n: v
            for n, v in each.items()
            if all(isinstance(one, str) for one in (v if isinstance(v, list) else [v]))
        }
        for each in flat
    ]
    path = first_named(texts, (*PARTS["replied"], "outputs"))
    if path:
        listed = any(isinstance(each.get(path), list) for each in flat)
        content = {"first": f"{path}[]"} if listed else path
        yield f"  - say: {flow({'role': ASSISTANT, 'content': content})}"


def lists_by_path(sample: Sequence[Any]) -> dict[str, list[dict[str, Any]]]:
    """The elements of the lists of all records, by path."""
    lists: dict[str, list[dict[str, Any]]] = {}
    for path, found in (each for record in sample for each in lists_of(mapping(record)).items()):
        lists.setdefault(path, []).extend(objects(found))
    return lists


def best_list(lists: Mapping[str, Sequence[Element]]) -> str | None:
    """The list with what happened: one of messages, else the one with most elements."""
    sizes: dict[str, int] = {}
    for path, found in lists.items():
        known = sum(map(is_message, found))
        acts = sum(any(like(name, ACTING) for name in each) for each in found)
        # Known messages and named actions outweigh length: a long list of figures is no conversation.
        sizes[path] = len(found) * (10 if known * 10 >= len(found) * 9 else 1) + 10 * acts
    return max(sizes, key=lambda path: sizes[path], default=None)


def _beside(best: str, lists: Mapping[str, Sequence[Element]], spoken: Sequence[Item]) -> str | None:
    """A list of calls beside the best list, which has none; or what was said beside calls."""
    others = [path for path in lists if path != best]
    if like(best.rpartition(".")[2], CALLS):
        return next((path for path in others if mostly(map(speaks, lists[path]))), None)
    calls = any(isinstance(item, Called) for item in spoken)
    if calls or any(like(name, (*CALLS, *ACTING)) for each in lists[best] for name in each):
        return None
    return next((path for path in others if like(path.rpartition(".")[2], CALLS)), None)


def _list_rule(place: str, elements: Sequence[Element]) -> Iterator[str]:
    """The rule for a list of what happened."""
    known = sum(map(is_message, elements))
    if known * 10 >= len(elements) * 9 and not _has_more(elements):
        yield f"  - {flow({'message': place})}"
        return
    yield f"  - each: {text(place)}"
    wrapped = next((n for n in WRAPPED if mostly(is_message(e.get(n)) for e in elements)), None)
    flat = [flattened(each) for each in elements]
    if time := first_named(flat, PARTS["time"]):
        yield f"    time: {text(time)}"
    if wrapped:
        yield f"    message: {wrapped}"
        return
    kind = kind_path(flat)
    if kind and like(kind.rpartition(".")[2], DEEDS) and first_named(flat, PARTS["arguments"]):
        kind = None
    groups = by_value(flat, kind) if kind else by_member(flat)
    started = any(phase_of(kind_of(when)) == "call" for when, _ in groups)
    ids = _call_id(flat)
    rules = [line for when, some in groups[:KINDS_SHOWN] for line in _rule(when, some, ids, started)]
    rest = [each for each in flat if kind is not None and kind not in each]
    rules += _rule({}, rest if groups else flat, ids, started)
    yield from ["    choose:", *rules] if rules else ["    items: []  # nothing in it is known by its name"]


def _has_more(elements: Sequence[Element]) -> bool:
    """Whether messages have texts, or calls, in members of their own that no known chat has."""
    read = [list(message_items(each)) for each in elements]
    unread = [each for each, found in zip(elements, read, strict=True) if not found]
    if first_named(unread, PARTS["say"]):
        return True
    calls = any(isinstance(item, Called) for found in read for item in found)
    flat = list(map(flattened, elements))
    return not calls and (part_of(flat, "arguments") or list_of_calls(flat)) is not None


def _call_id(elements: Sequence[Element]) -> str | None:
    """The member that joins a call and its answer; an id that no two elements share joins none."""
    name = first_named(elements, PARTS["id"])
    if name is None:
        return next(
            filter(partial(_joins_two, elements), dict.fromkeys(n for e in elements for n in e)), None
        )
    ids = [each[name] for each in elements if each.get(name) not in (None, "")]
    alone = like(name.rpartition(".")[2], PARTS["id"][-1:])
    return None if alone and len({*map(str, ids)}) == len(ids) and len(ids) > 1 else name


def _joins_two(elements: Sequence[Element], name: str) -> bool:
    """Whether a member is an id that two elements of different members share: a call and its answer."""
    last = name.rpartition(".")[2]
    if "id" not in words(last) or like(last, (*FIELDS["id"], *FIELDS["task"])):
        return False
    sharing: dict[str, list[frozenset[str]]] = defaultdict(list)
    for each in elements:
        if isinstance(each.get(name), str | int):
            sharing[str(each[name])].append(frozenset(each))
    return len(sharing) > 1 and mostly(len(some) == len({*some}) == 2 for some in sharing.values())


def _rule(
    when: Mapping[str, Any], elements: Sequence[Element], ids: str | None, started: bool
) -> Iterator[str]:
    """The rule for elements of one kind."""
    condition = dict(when)
    acts = list(_KindDraft(elements, when, {"id": ids} if ids else {}, started).acts())
    if not acts:
        if condition:
            nothing = "items: []  # nothing in it is known by its name"
            names = list(dict.fromkeys(name for each in elements for name in each))[:6]
            shown = ", ".join(name if name.isidentifier() else "…" for name in names)
            yield f"      - when: {flow(condition)}\n        {nothing}: {shown}"
        return
    alone = len(acts) == 1 and "each" not in acts[0]  # its `when` would be about each of them
    rule: dict[str, Any] = acts[0] if alone else {"items": acts}
    rule = {**rule, "when": {**condition, **rule.get("when", {})}}
    before = "      - "
    for name in sorted(rule, key=lambda each: each != "when"):
        if name == "items":
            yield f"{before}items:"
            yield from (f"          - {flow(act)}" for act in rule[name])
        elif rule[name]:
            yield f"{before}{name}: {flow(rule[name])}"
        else:
            continue
        before = "        "


class _KindDraft:
    """What elements of one kind say, call and answer.

    Args:
        elements: flattened.
        when: the path of what tells them apart, and its value for these.
        ids: the member that joins a call and its answer.
        started: whether calls have elements of their own, which end them.
    """

    def __init__(
        self, elements: Sequence[Element], when: Mapping[str, Any], ids: Mapping[str, str], started: bool
    ) -> None:
        self.when, self.ids, self.started = when, ids, started
        self.kind = kind_of(when)
        self.phase = phase_of(self.kind)
        self.free = [{name: value for name, value in each.items() if name not in when} for each in elements]
        self.texts = [{name: v for name, v in each.items() if isinstance(v, str)} for each in self.free]
        self.nested = listed(self.free, (*CALLS, *LISTED)) or list_of_calls(self.free)
        self.results = listed(self.free, RESULTS) if self.nested else None
        arguments, content = part_of(self.free, "arguments"), part_of(self.free, "content")
        self.arguments = None if arguments == self.nested else arguments  # a list of calls is no argument
        self.content = None if content == self.results and content else content  # it is read with the calls
        self.tool = self._tool()
        self.thought = first_named(self.texts, PARTS["thought"])
        sayable = [{n: v for n, v in each.items() if isinstance(v, str | list)} for each in self.free]
        self.words = first_named(sayable, PARTS["say"])
        speakers = [{name: v for name, v in each.items() if "." not in name} for each in self.free]
        self.role = next((n for n in SPEAKERS[:4] if n in when), None) or self.named(SPEAKERS[:-1])
        self.role = self.role or first_named(speakers, SPEAKERS[-1:])
        self.spoken = self.role if self.role in when else self.named(SPEAKERS[:4])

    def named(self, names: Sequence[str]) -> str | None:
        """The first of the names that elements have."""
        return first_named(self.free, names)

    def _tool(self) -> str | None:
        names = PARTS["tool"]
        if not (self.arguments or self.phase):
            names = names[: -1 if self.content else -3]
        tool = first_named(self.texts, (*DEEDS, *names) if self.arguments else names)
        if tool is None and self.arguments:
            tool = part_of(self.texts, "tool")
        if tool is None and self.arguments and self.content:
            tool = first_named(self.texts, NODES)
        if tool is None and self.phase in ("call", "answer"):
            return next((path for each in self.texts for path in each if "name" in words(path)), None)
        return tool

    def speaker(self) -> str:
        """Who speaks: a member with several values, else what the kind says."""
        by_kind = bool(words(self.kind) & (USERS | ASSISTANTS | THOUGHTS))
        names = {str(each.get(self.role)) for each in self.free} if self.role else set()
        return self.role if self.role and (not by_kind or len(names) > 1) else _speaker(self.kind)

    def acts(self) -> Iterator[dict[str, Any]]:
        """The rules, in the order in which it happened."""
        turns = [turn for each in self.free if (turn := turn_of(each))]
        calls = self._nested_calls()
        kind_words = words(self.kind)
        if turns and not self.tool and not self.spoken and (not self.kind or kind_words & MODELS):
            asked, replied = turns[0]
            yield {"say": {"role": USER, "content": asked}}
            yield from calls
            yield {"say": {"role": ASSISTANT, "content": replied}}
        elif self.phase == "bound":
            yield from self._bound(kind_words)
        elif not self.words and self.content and not self.tool and kind_words & (USERS | ASSISTANTS):
            yield {"say": {"role": _speaker(self.kind), "content": self.content}}
        else:
            answers = list(self._answers())
            early = self._seen_before()
            yield from answers if early else ()
            yield from self._says()
            yield from self._calls()
            yield from calls
            yield from () if early else answers

    def _nested_calls(self) -> list[dict[str, Any]]:
        if not self.nested:
            return []
        calls, given = (
            [one for e in self.free for one in objects(e.get(p or ""))] for p in (self.nested, self.results)
        )
        return nested_calls(self.nested, calls, self.results, given, joined=bool(self.ids))

    def _bound(self, kind_words: frozenset[str]) -> Iterator[dict[str, Any]]:
        """What is said where a run begins or ends; what it ends with was said before."""
        if content := self.named(PARTS["say"][:3]):
            yield {"say": {"role": self.role or _speaker(self.kind), "content": content}}
        elif kind_words & BEGINS and (asked := first_named(self.texts, PARTS["asked"])):
            yield {"say": {"role": USER, "content": asked}}

    def _says(self) -> Iterator[dict[str, Any]]:
        if self.tool and self.thought:
            yield {"say": {"role": ASSISTANT, "content": self.thought}}
        say = self.words or (None if self.content else self.thought) or self._spoken_of_kind()
        if not say or (self.tool and (not self.spoken or self.phase)):
            return
        if self.phase == "answer" or "result" in self.kind:
            yield {"answer": {"content": say, **self.ids}}
            return
        is_list = any(isinstance(each.get(say), list) for each in self.free)
        yield {"say": {"role": self.speaker(), "content": {"flat": say} if is_list else say}}

    def _spoken_of_kind(self) -> str | None:
        """What somebody says in an element whose kind says who it is: a prompt, a completion."""
        kind_words = words(self.kind)
        if self.phase or self.tool:
            return None
        if kind_words & USERS:
            return first_named(self.texts, PARTS["asked"])
        return first_named(self.texts, PARTS["replied"]) if kind_words & (ASSISTANTS | MODELS) else None

    def _of_kind(self) -> dict[str, Any]:
        """What an element holds beside its kind, where nothing in it is known by its name."""
        outer = dict.fromkeys(path.partition(".")[0] for each in self.free for path in each)
        known = (*WHOLE, *PARTS["time"], *PARTS["id"])
        names = [name for name in outer if is_plain(name) and not like(name, known)]
        return {"fields": {name: name for name in names}} if names else {}

    def _is_tool(self, path: str) -> bool:
        """Whether the kind says which tool is called, and what is called a name is of something else."""
        return path == "name" and bool(words(self.kind) - TOOLS - CALLING - BEGINS)

    def _calls(self) -> Iterator[dict[str, Any]]:
        named = next((path for path, value in self.when.items() if isinstance(value, str)), None)
        known = self.tool and (self.arguments or not self._is_tool(self.tool))
        if self.phase == "call" and not (known or self.words or self.content or self.nested) and named:
            if held := self._of_kind():  # `search_action` with what to search for
                yield {"call": {"tool": named, "arguments": held, **self.ids}}
            return
        if not self.tool or self._only_answers():
            return
        arguments = {"arguments": self.arguments} if self.arguments else {}
        call = {"call": {"tool": self.tool, **arguments, **self.ids}}
        everywhere = all(each.get(self.tool) for each in self.free)  # some of a kind may only speak
        yield call if everywhere else {"when": {self.tool: {"filled": True}}, **call}

    def _answers(self) -> Iterator[dict[str, Any]]:
        if self.phase == "answer" and not (self.content or self.words or self.tool) and self.started:
            if held := self._of_kind():
                yield {"answer": {"content": held, **self.ids}}
            return
        if not self.content or not (self.tool or not self.words):
            return
        answer = {"answer": {"content": self.content, **self.ids, **worked(self.free, self.content)}}
        with_call = self.tool and not self._only_answers()  # then the answer may come in another element
        yield {"when": {self.content: {"filled": True}}, **answer} if with_call else answer

    def _only_answers(self) -> bool:
        return self.phase == "answer" and self.started

    def _seen_before(self) -> bool:
        """Whether elements say first what was seen, then what was done."""
        if not self.tool or not self.content or not like(self.content.rpartition(".")[2], SEEN):
            return False
        both = [list(each) for each in self.free if self.tool in each and self.content in each]
        return mostly(_place(each, self.content) < _place(each, self.tool) for each in both)


def _place(paths: Sequence[str], path: str) -> int:
    """Where a member is among those of its element, by the outermost that holds it."""
    return next(n for n, outer in enumerate(paths) if path == outer or path.startswith(f"{outer}."))


def _speaker(kind: str) -> str:
    """Who speaks, where only the kind of an element may say it."""
    return USER if words(kind) & USERS else ASSISTANT
