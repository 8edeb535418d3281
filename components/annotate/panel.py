"""One sub-goal in full, each field a command: what it needs, how one can tell, which actions serve it."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Any, Final

import msgspec
import pandas as pd
import streamlit as st

from components.annotate import refusals, session, tools
from components.annotate.session import close, popover
from components.shared import cards, panels, state, text
from untaken import limits
from untaken.analysis import Corpus, runs_of, with_graph
from untaken.numbers import counted
from untaken.plans import (
    Add,
    CallMatches,
    Check,
    Delete,
    Edit,
    Field,
    PlanGraph,
    Rename,
    Rule,
    Set,
    SubGoal,
    ToolCallSpec,
    graph_digest,
    matched_calls,
    read_call,
    read_value,
    value_json,
)
from untaken.views import STAR

KINDS: Final = {
    "none": "none: a verdict decides it",
    "expr": "an expression over the state",
    "tool_call": "a tool call",
    "verdict": "a recorded verdict",
    "outcome": "the run's own outcome",
}
MATCHES: Final = ("subset", "exact", "call_keys")
RULE: Final = ("tool", "arguments", "answer", "text")
PATTERNS: Final = 'An argument is a value, or {"glob": …}, {"contains": …}, {"regex": …}, {"any": true}.'
ANSWERS: Final = (
    'An answer is {"ok": true, "contains": …}, or glob or regex, matched against the recorded result.'
)


@panels.panel
def panel(graph: PlanGraph) -> None:
    """The selected sub-goal, or how to get one."""
    chosen = _chosen(graph)
    if chosen is None:
        return
    mark = _mark(graph.id, chosen.id)
    fields = _Fields(graph, chosen, mark)
    fields.names()
    fields.others_of("deps", "Needs", "nothing")
    fields.check()
    with st.expander("When it is required", expanded=chosen.when is not None):
        fields.condition()
    fields.rules()
    with st.expander("Weight, group, description", expanded=chosen.weight != 1 or bool(chosen.any_of)):
        fields.more()
    st.button("Delete this sub-goal", key=f"delete_{mark}", on_click=_delete, args=(chosen.id,))


def _mark(*names: str) -> str:
    """Part of a field's key: which graph and sub-goal it is about, without words of a file."""
    # With their lengths: two lists of names never give the same, whatever the names hold.
    named = "\0".join(f"{len(name)}:{name}" for name in names)
    return sha256(named.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _chosen(graph: PlanGraph) -> SubGoal | None:
    ids = [node.id for node in graph.sub_goals]
    asked = state.selected("sub_goal")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if ids:
            words = {name: text.one_line(name, 60) for name in ids}
            shown = asked if asked in ids else ids[0]
            cards.picker("Sub-goal", words, shown, select, key="annotate_sub_goal")
        with (
            popover("Add …", key="annotate_pop_add"),
            st.form(f"annotate_add_{_mark(graph.id)}", border=False, clear_on_submit=True),
        ):
            key = f"annotate_add_id_{_mark(graph.id)}"
            name = st.text_input("New sub-goal id", key=key, max_chars=80)
            if st.form_submit_button("Add") and session.edit(Add(sub_goal=SubGoal(id=name))):
                select(name)
                close()
                st.rerun()
    chosen = st.session_state.get("annotate_sub_goal")
    return next((node for node in graph.sub_goals if node.id == chosen), None)


@panels.panel
def select(sub_goal: str | None) -> None:
    """Select a sub-goal of the open graph."""
    here = session.current()
    state.select(graph=here.graph.id if here else None, sub_goal=sub_goal)


def _delete(name: str) -> None:
    if session.edit(Delete(sub_goal=name)):
        select(None)


class _Fields:
    """The fields of one sub-goal. They show what the graph says; what was refused stays as typed."""

    def __init__(self, graph: PlanGraph, node: SubGoal, mark: str) -> None:
        self.graph = graph
        self.node = node
        self.mark = mark
        self.others = [other.id for other in graph.sub_goals if other.id != node.id]

    def key(self, field: str, shown: Any) -> str:
        """The widget's key, its value put there."""
        key = f"sub_goal_{field}_{self.mark}"
        now = refusals.value(key, shown)
        # Written only then: writing replaces what is being typed.
        if key not in st.session_state or st.session_state[key] != now:
            st.session_state[key] = now
        return key

    def names(self) -> None:
        """Id, title, critical."""
        left, right = st.columns(2)
        key = self.key("id", self.node.id)
        left.text_input("Id", key=key, max_chars=512, on_change=self.rename, args=(key,))
        refusals.show(key)
        key = self.key("title", self.node.title)
        right.text_input("Title", key=key, max_chars=512, on_change=self.set, args=("title", key))
        refusals.show(key)
        key = self.key("critical", self.node.critical)
        words = "reaching a later sub-goal without it is a violation"
        st.checkbox(f"{STAR} Critical: {words}", key=key, on_change=self.set, args=("critical", key))

    def others_of(self, field: Field, label: str, empty: str) -> None:
        """Which other sub-goals it names in a field."""
        values = list(dict.fromkeys(getattr(self.node, field)))
        key = self.key(field, values)
        st.multiselect(
            label,
            dict.fromkeys([*self.others, *values]),  # a graph may name one twice
            key=key,
            format_func=text.name,
            on_change=self.set,
            args=(field, key),
            placeholder=empty,
        )
        refusals.show(key)

    def check(self) -> None:
        """How it is checked that it is completed."""
        node = self.node
        check = node.check or Check()
        now = next(
            (kind for kind in KINDS if kind != "none" and getattr(check, kind) not in (None, False)), "none"
        )
        key = self.key("kind_of_check", now)
        kind = st.selectbox(
            "Success check",
            KINDS,
            format_func=KINDS.__getitem__,
            key=key,
            on_change=self.set_kind,
            args=(key,),
        )
        if node.any_of and kind != "none":
            st.caption("This sub-goal has options. They decide, and the check is ignored.")
        if kind == "expr":
            self.expression(check)
        elif kind == "tool_call":
            self.tool_call(check)
        elif kind == "verdict":
            by = check.verdict.by if check.verdict and not isinstance(check.verdict, bool) else []
            key = self.key("verdict_by", ", ".join(by))
            st.text_input(
                "Whose verdict", key=key, placeholder="all reviewers, or globs: human:*, test",
                on_change=self.set_check, args=("verdict", key, _whose),
            )  # fmt: skip
            refusals.show(key)
        if kind in ("expr", "outcome"):
            key = self.key("needs_action", node.needs_action)
            words = "a check that holds is not enough without one"
            st.checkbox(f"Needs an action: {words}", key=key, on_change=self.set, args=("needs_action", key))
        elif kind == "tool_call" and check.tool_call is not None:
            key = self.key("times", node.times or 1)
            st.number_input(
                "Number of different calls required", key=key, min_value=1, max_value=limits.TIMES,
                on_change=self.set, args=("times", key, lambda times: times if times > 1 else None),
            )  # fmt: skip

    def condition(self) -> None:
        """In which runs it is required."""
        key = self.key("when", self.node.when or "")
        st.text_area(
            "Required only where", key=key, height=68, placeholder="state.member",
            on_change=self.set, args=("when", key, lambda text: text.strip() or None),
            help="CEL over `state`. Where it does not hold, the sub-goal is not required. "
            "Empty: required in every run.",
        )  # fmt: skip
        refusals.show(key)
        if self.node.when is None:
            return
        key = self.key("when_at", self.node.when_at)
        words = {"final": "at the end", "step": "after any step"}
        st.radio(
            "The condition must hold", words, format_func=words.__getitem__, key=key, horizontal=True,
            on_change=self.set, args=("when_at", key),
        )  # fmt: skip

    def expression(self, check: Check) -> None:
        """A CEL expression, and when it must hold."""
        key = self.key("expr", check.expr or "")
        st.text_area(
            "Expression", key=key, height=68, placeholder='state.decision == "approved"',
            on_change=self.set_check, args=("expr", key, lambda text: text.strip() or None),
            help="CEL over `state`. Checked when you leave the field.",
        )  # fmt: skip
        refusals.show(key)
        if check.expr is None:
            st.caption("Enter an expression to apply this.")
            return
        key = self.key("on", check.on)
        words = {"final": "at the end", "step": "after any step, from its first action"}
        st.radio(
            "It must hold", words, format_func=words.__getitem__, key=key, horizontal=True,
            on_change=self.set_check, args=("on", key, str),
        )  # fmt: skip

    def tool_call(self, check: Check) -> None:
        """A call that must have been made."""
        call = check.tool_call
        plain = msgspec.to_builtins(call) if call else {}
        named = [call.name] if call else []
        key = self.key("tool", call.name if call else None)
        st.selectbox(
            "Tool", dict.fromkeys([*named, *tools.called(self.graph)]), index=None, key=key,
            format_func=text.name, accept_new_options=True,
            placeholder="Choose a tool that runs called, or type a name",
            # The arguments and the way of matching stay with another tool.
            on_change=self.set_check, args=("tool_call", key, lambda name: {**plain, "name": name}),
        )  # fmt: skip
        refusals.show(key)
        key = self.key("call", value_json(plain))
        st.text_area(
            "Expected call", key=key, height=96,
            placeholder='{"name": "search", "arguments": {"order": 17}, "match": "subset"}',
            on_change=self.set_check,
            args=("tool_call", key, read_call),
            help=f"A tool's name, or JSON: name, arguments, match ({', '.join(MATCHES)}), compare_args, "
            f"answered (ok, any), answer. {PATTERNS} {ANSWERS}",
        )  # fmt: skip
        refusals.show(key)
        if call is None:
            st.caption("Choose a tool to apply this.")
        else:
            matches(self.graph, call)

    def rules(self) -> None:
        """Which actions serve it."""
        if self.node.rules:
            named = (text.label(rule.tool or rule.text or "", 40) for rule in self.node.rules)
            st.caption(f"Actions that serve it: {', '.join(named)}")
        with st.expander("Rules"):
            self.rules_table()

    def rules_table(self) -> None:
        """The table to edit them in."""
        st.caption("Rules map actions to this sub-goal. The first matching rule in the graph wins.")
        rows = [rule_row(rule) for rule in self.node.rules]
        # An edit elsewhere does not reset the table, so that typed but unused cells stay.
        key = f"sub_goal_rules_{self.mark}_{_mark(value_json(rows))}"
        frame = pd.DataFrame(rows, columns=list(RULE), dtype="object")
        edited = st.data_editor(
            frame,
            key=key,
            num_rows="dynamic",
            hide_index=True,
            column_config={
                "tool": st.column_config.TextColumn("Tool (glob)"),
                "arguments": st.column_config.TextColumn("Arguments (JSON)", help=PATTERNS),
                "answer": st.column_config.TextColumn("Answer (JSON)", help=ANSWERS),
                "text": st.column_config.TextColumn("Message (glob)"),
            },
        )
        st.button("Use these rules", key=f"use_{key}", on_click=self.set_rules, args=(edited,))
        refusals.show(self.rules_key())

    def more(self) -> None:
        """Its share, what any one of is enough, and what changes no number."""
        key = self.key("weight", float(self.node.weight))
        st.number_input(
            "Weight: its share of the weighted completion, relative to the others", key=key,
            min_value=0.0, max_value=float(limits.WEIGHT), step=0.5, on_change=self.set, args=("weight", key),
        )  # fmt: skip
        self.others_of("any_of", "Completed by any of", "not a group")
        key = self.key("description", self.node.description)
        st.text_area("Description", key=key, on_change=self.set, args=("description", key))
        key = self.key("kind", self.node.kind)
        st.selectbox("Kind", ("subgoal", "action"), key=key, on_change=self.set, args=("kind", key))
        key = self.key("evidence", self.node.evidence or "")
        words = {"": "in results of tools", "message": "in what the agent writes"}
        st.selectbox(
            "Where a judge finds it", words, format_func=words.__getitem__, key=key,
            on_change=self.set, args=("evidence", key, lambda place: place or None),
        )  # fmt: skip

    def set(self, field: Field, key: str, read: Callable[[Any], Any] = lambda value: value) -> None:
        """A field's new value as a command."""
        self.done(key, lambda: Set(sub_goal=self.node.id, field=field, value=read(st.session_state[key])))

    def rename(self, key: str) -> None:
        """Another id; the selection follows."""
        name = st.session_state[key].strip()
        if self.done(key, lambda: Rename(sub_goal=self.node.id, id=name)):
            mark = _mark(self.graph.id, name)
            refusals.renamed(self.graph.id, self.node.id, name, lambda old: old.replace(self.mark, mark))
            select(name)

    def set_kind(self, key: str) -> None:
        """Another kind of check; one that needs words waits for them."""
        kind = st.session_state[key]
        refusals.release(key)
        if kind in ("expr", "tool_call"):
            refusals.hold(key, self.waiting(kind))
        else:
            value = None if kind == "none" else {kind: True}
            session.edit(Set(sub_goal=self.node.id, field="check", value=value))

    def set_check(self, part: str, key: str, read: Callable[[str], Any]) -> None:
        """Another part of the check."""

        def edit() -> Edit:
            value = read(st.session_state[key])
            # A new expression keeps its moment, and a new moment keeps the expression.
            kept = {"on": self.node.check.on} if self.node.check and part == "expr" else {}
            plain = {"expr": self.node.check.expr} if part == "on" and self.node.check else {}
            wanted = None if value is None else {**kept, **plain, part: value}
            return Set(sub_goal=self.node.id, field="check", value=wanted)

        if self.done(key, edit):
            # The kind that waited for these words is in the graph now.
            refusals.release(f"sub_goal_kind_of_check_{self.mark}")

    def set_rules(self, edited: pd.DataFrame) -> None:
        """The rules of the small table."""

        def edit() -> Edit:
            made = [rule_of(row) for row in edited.to_dict("records")]
            return Set(sub_goal=self.node.id, field="rules", value=[rule for rule in made if rule])

        self.done(self.rules_key(), edit)

    def rules_key(self) -> str:
        """What a refused table of rules goes by; its own key changes with the saved rules."""
        return f"sub_goal_rules_{self.mark}"

    def done(self, key: str, make: Callable[[], Edit]) -> bool:
        """Make the command and apply it; what is refused stays as typed."""
        return refusals.apply(key, self.waiting(st.session_state.get(key)), make)

    def waiting(self, value: Any) -> refusals.Waiting:
        """What a field of this sub-goal holds that the graph does not."""
        return refusals.Waiting(graph=self.graph.id, sub_goal=self.node.id, value=value)


def _whose(text: str) -> Any:
    globs = [glob.strip() for glob in text.split(",") if glob.strip()]
    return {"by": globs} if globs else True


def rule_row(rule: Rule) -> dict[str, str]:
    """A rule as a row of the small table."""
    arguments, answer = value_json(rule.arguments), value_json(rule.answer)
    return {"tool": rule.tool or "", "arguments": arguments, "answer": answer, "text": rule.text or ""}


def rule_of(row: dict[Any, Any]) -> dict[str, Any]:
    """An edited row as a rule, in its file form; empty for an empty row."""
    # An empty cell is no text.
    given = {name: row[name] if isinstance(row[name], str) else "" for name in RULE}
    fields: dict[str, Any] = {name: given[name] for name in ("tool", "text") if given[name].strip()}
    for part in ("arguments", "answer"):
        value = read_value(given[part], f"{part} of a rule")
        fields |= {} if value is None else {part: value}
    return fields


LINKS: Final = 3


def matches(graph: PlanGraph, spec: ToolCallSpec) -> None:
    """One line with the counts, then links to calls that count and to calls that do not."""
    store = state.workspace()
    key = (str(store.path), state.content(store), graph_digest(graph), repr(spec))
    found = _matched(key, state.corpus(), graph, spec)
    if not found.calls:
        st.caption("No run with this graph calls this tool.")
        return
    match = "matches" if found.calls == 1 else "match"
    sentences = [
        f"{found.counting:,} of {counted(found.calls, 'call')} of this tool {match}, in "
        f"{counted(found.runs, 'run')}"
    ]
    if found.failed:
        sentences.append(f"{found.failed:,} more match, but their result does not")
    if found.unclear:
        sentences.append(f"{found.unclear:,} more match, but their result is not recorded")
    st.caption(". ".join(sentences) + ".")
    for label, examples in (("Match", found.examples), ("No match", found.misses)):
        for example in examples[:LINKS]:
            place = f"event {example.seq} of {text.label(example.run_id, 40)}"
            state.run_link(f"{label}: {place}", example.digest)


@st.cache_resource(ttl=3600, max_entries=16, show_spinner=False)
def _matched(key: object, _corpus: Corpus, _graph: PlanGraph, _spec: ToolCallSpec) -> CallMatches:  # noqa: ARG001 (cache key)
    there = with_graph(_corpus.graphs, _graph)
    return matched_calls(runs_of(_corpus.runs.values(), there, _graph.id), _spec)
