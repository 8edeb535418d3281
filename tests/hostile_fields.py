"""Hostile words in every text that somebody else may write: of runs, plan graphs, people and files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from builders import EPOCH, RunBuilder, a_run
from msgspec import inspect

from untaken.analysis.failure_modes.failure_mode import FailureMode, ModeChange, ModeContent, Taxonomy
from untaken.analysis.failure_modes.files import FILE as MODES_FILE
from untaken.analysis.failure_modes.files import save_taxonomy
from untaken.analysis.failure_modes.issue_file import ISSUES, issues_yaml
from untaken.analysis.failure_modes.issue_model import Issue, IssueChange, IssueList, IssueRule
from untaken.ledger import Draft
from untaken.ledger import events as e
from untaken.plans import parse_graph
from untaken.workspace import Workspace
from untaken.workspace.intake import take_in
from untaken.workspace.review_model import Review

RUN = "window.evil=1"
HOST = "//evil.example"
PAYLOADS = [
    f"<script>{RUN}</script>",
    f"</script><script>{RUN}</script>",
    f"</title><script>{RUN}</script>",
    f"</textarea><script>{RUN}</script>",
    f"</style><script>{RUN}</script>",
    f"--><script>{RUN}</script>",
    f"]]><script>{RUN}</script>",
    f"<img src=x onerror={RUN}>",
    f'"><img src=x onerror="{RUN}">',
    f"'><img src=x onerror='{RUN}'>",
    f"<svg onload={RUN}>",
    f"<svg><script>{RUN}</script></svg>",
    f"<svg><a xlink:href='javascript:{RUN}'><text>evil</text></a></svg>",
    f"<math><mtext><img src=x onerror={RUN}></mtext></math>",
    f"<iframe srcdoc='<script>parent.{RUN}</script>'></iframe>",
    f"<iframe src=javascript:{RUN}></iframe>",
    f"<details open ontoggle={RUN}>",
    f"<video><source onerror={RUN}></video>",
    f"<body onload={RUN}>",
    f"<input autofocus onfocus={RUN}>",
    f"<a href='javascript:{RUN}'>evil</a>",
    f"<a href='https:{HOST}'>evil</a>",
    f"<form action='https:{HOST}'><button>evil</button></form>",
    f"<meta http-equiv=refresh content='0;url=https:{HOST}'>",
    f"<base href='https:{HOST}/'>",
    f"<link rel=stylesheet href='https:{HOST}/a.css'>",
    f"<object data='https:{HOST}/a'></object>",
    f"<style>@import 'https:{HOST}/evil.css'</style>",
    f"<div style='background:url(https:{HOST}/evil.png)'>evil</div>",
    f"![evil](https:{HOST}/a.png)",
    f"[evil](javascript:{RUN})",
    f"[evil](data:text/html,<script>{RUN}</script>)",
    f"[evil][1]\n\n[1]: https:{HOST}",
    f"<https:{HOST}> https:{HOST} www.evil.example",
    f"$\\href{{javascript:{RUN}}}{{evil}}$",
    f"$$\\url{{https:{HOST}}}$$",
    f":red[evil] :material/home: `{RUN}`",
    f"# evil\n\n| a |\n|---|\n| <img src=x onerror={RUN}> |",
    f"{{{{constructor.constructor('{RUN}')()}}}}",
    f"&lt;script&gt;{RUN}&lt;/script&gt; &#60;img src=x onerror={RUN}&#62;",
]
A_FIELD = 4
"""Payloads together in one text: what is longer is cut on some pages."""


def texts() -> list[str]:
    return [" ".join(PAYLOADS[n : n + A_FIELD]) for n in range(0, len(PAYLOADS), A_FIELD)]


def text_fields(kind: inspect.Type, at: str = "", within: tuple[type, ...] = ()) -> Iterator[str]:
    """Every place in a type that takes any text, as ``VERDICT.evidence.quote``."""
    match kind:
        case inspect.StructType(cls=cls, tag=tag, fields=fields) if cls not in within:
            for one in fields:
                yield from text_fields(one.type, f"{at or tag or cls.__name__}.{one.name}", (*within, cls))
        case inspect.UnionType(types=types):
            for one in types:
                yield from text_fields(one, at, within)
        case inspect.ListType(item_type=item) | inspect.VarTupleType(item_type=item):
            yield from text_fields(item, at, within)
        case inspect.StrType(pattern=pattern):
            if pattern is None or re.search(pattern, "judge:evil <a>"):
                yield at
        case inspect.DictType() | inspect.AnyType():
            yield at


def filled(value: Any, at: str = "") -> Iterator[str]:
    """The places, named as `text_fields` names them, at which a value holds words of a payload."""
    match value:
        case msgspec.Struct():
            name = at or value.__struct_config__.tag or type(value).__name__
            for field in value.__struct_fields__:
                yield from filled(getattr(value, field), f"{name}.{field}")
        case list() | tuple():
            for one in value:
                yield from filled(one, at)
        case _:
            if "evil" in str(value):
                yield at


def a_hostile_run(number: int, words: str) -> RunBuilder:
    """A run with `words` wherever an event takes a text."""
    name, other = words[:200], f"other {words}"
    run = a_run(
        f"{number} {words}",
        agent=f"{number % 2} {name}",
        task=f"t {name}",
        model=words,
        graph=words,
        version=name,
        prompt_version=name,
        policy_memory=e.MemoryReference(as_of=EPOCH, digest=words),
        metadata={words[:60]: words, "input": words, "target": words},
    )
    run.add(e.Plan, sub_goals=[words, "b"], reason=words)
    run.add(
        e.SkillSelection,
        selected=words,
        alternatives=[other],
        context_hash=words,
        context={words: words},
        propensities={words: 0.5, other: 0.5},
        context_layers=(words, other),
    )
    run.add(e.ToolCall, call_id=words, tool=name, arguments={words[:60]: words}, sub_goal=words)
    run.observe({words[:60]: words}, ok=False, call_id=words)
    run.select(other, words, context=words).say(words).say(words, role=words)
    run.state(**{words[:60]: words})
    line = " ".join(words.split())
    said, quote = f"human:{line}", [e.Evidence(seq=7, quote=words)]
    made = e.MadeWith(model=words, prompt="0" * 64, sub_goal="0" * 64, settings=words)
    passed = bool(number % 2)
    run.finish(
        passed,
        error=words,
        limit=words,
        cost_unit=words,
        final_state={words[:60]: words},
        metrics={words[:60]: 1.0},
    )
    run.add(e.Verdict, sub_goal=words, passed=passed, by=said, evidence=quote, reason=words)
    judge = f"judge:{line}"
    run.add(e.Verdict, sub_goal="b", passed=passed, by=judge, evidence=quote, reason=words, made_with=made)
    run.add(e.ActionMapping, by=judge, actions=[e.MappedAction(seq=4, sub_goal=words)])
    run.add(
        e.CounterfactualInsight,
        decision_point=2,
        selected=words,
        alternative=other,
        delta=0.5,
        support=words,
        direction=words,
        memory_digest=words,
    )
    run.add(e.EvaluationSummary, summary={words[:60]: words}, memory_digest=words)
    run.add(e.ReviewNote, author=words, text=words, sub_goal=words, status=words)
    for by in (said, judge):
        run.add(e.ModeAssignment, mode=MODE, by=by, sub_goal=words, reason=words)
    return run.add(e.ModeAssignment, mode=words, by=said)


MODE = "evil-mode"


def a_hostile_graph(number: int, words: str) -> bytes:
    """A plan graph with `words` wherever it takes a text."""
    name, literal = words[:200], json.dumps(words, ensure_ascii=False)
    answer = {"contains": words, "glob": f"*{name}*", "regex": re.escape(words[:90])}
    call = {"name": name, "arguments": {words[:60]: words}, "compare_args": [words[:60]], "answer": answer}
    rule = {"tool": name, "arguments": {words[:60]: words}, "answer": answer}
    goals = [
        {
            "id": words,
            "title": words,
            "description": words,
            "critical": True,
            "check": {"verdict": {"by": [f"human:{name}"]}},
            "metadata": {words: words},
        },
        {"id": "b", "title": words, "deps": [words], "rules": [rule], "check": {"outcome": True}},
        {"id": "c", "check": {"tool_call": call}, "rules": [{"text": name}]},
        {"id": "d", "check": {"expr": f"state.x == {literal}"}, "when": f"state.x != {literal}"},
        {"id": f"e {words}", "check": {"verdict": True}},
        {"id": "either", "any_of": [f"e {words}", "d"]},
    ]
    graph = {"schema": "untaken.plan/1", "id": f"g{number} {words}", "title": words, "sub_goals": goals}
    globs = {"tasks": [f"t {words}"[:20] + "*"], "mutates": [name], "hand_over": [name]}
    return json.dumps(graph | globs | {"metadata": {words: words}}).encode()


def a_hostile_taxonomy(words: str) -> Taxonomy:
    """Failure modes with `words` wherever they take a text."""
    was = ModeContent(name=words[:60], definition=words, examples=[words])
    change = ModeChange(version=1, author=words[:60], at=words[:60], what=words, why=words, before=was)
    mode = {"name": words[:60], "definition": words, "examples": [words], "origin": words}
    return Taxonomy(version=1, modes=[FailureMode(id=MODE, history=[change], **mode)])


def hostile_issues(words: str) -> IssueList:
    """An issue with `words` wherever it takes a text."""
    rule = IssueRule(expr=f"state.x == {json.dumps(words, ensure_ascii=False)}", text=f"*{words[:80]}*")
    opened = IssueChange(status="open", by=words[:200], at=EPOCH, note=words)
    about = {"title": words[:200], "mode": words[:80], "rule": rule, "sub_goals": [words]}
    return IssueList(issues=[Issue(id="evil", history=[opened], **about)])


def foreign(words: str) -> bytes:
    """A trace of another tool that says `words`."""
    said = [{"role": role, "content": words} for role in ("system", "user", "assistant")]
    return json.dumps({"model": words, "messages": said}).encode()


def fill(folder: Path) -> list[Any]:
    """Make a workspace with hostile words in everything that people and files write; what went into files."""
    written: list[Any] = []
    with Workspace(folder) as workspace:
        for number, words in enumerate(texts()):
            run, graph = a_hostile_run(number, words), a_hostile_graph(number, words)
            workspace.add(f"{words}.jsonl", run.ledger())
            workspace.add(f"{words}.plan.json", graph)
            written += [*run.events, parse_graph(graph, name="evil.plan.json", format="json")]
        words = texts()[0]
        saved = parse_graph(a_hostile_graph(0, words), name="evil.plan.json", format="json")
        edited = msgspec.structs.replace(saved, title=f"edited {words}")
        workspace.save_graph(edited, author=words, message=words, based_on=1)
        workspace.keep_draft(saved.id, author=words, content=words, based_on=1)
        workspace.text_drafts.keep(words, ("note", words), words)
        for run in workspace.read_runs()[0]:
            assert not run.integrity.broken, run.integrity.reason
            seen = Review(run=run.digest, run_id=run.run_id)
            for assignee in (words[:80], f"other {words[:80]}"):
                (seen,) = workspace.reviews.change(
                    [seen], author=words[:80], assignee=assignee, tags=[words[:40]]
                )
            note = Draft(e.ReviewNote, {"author": words, "text": words})
            workspace.append_events(run, [note])
            workspace.audit("run-extended", words, words)
        traces = [(f"{n} {words}.json", foreign(f"{n} {words}")) for n in range(3)]
        assert {one.kind for one in take_in(workspace, traces, agent=words)} == {"openai-messages"}
        taxonomy, issues = a_hostile_taxonomy(words), hostile_issues(words)
        save_taxonomy(taxonomy, folder / MODES_FILE)
        (folder / ISSUES).write_text(issues_yaml(issues), "utf-8")
    return [*written, taxonomy, issues]
