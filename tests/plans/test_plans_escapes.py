"""Text that tries to run something, wherever a plan graph takes text: nothing runs, and every limit holds."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from builders import a_run

from untaken import limits
from untaken.errors import Unscored, UntakenError
from untaken.plans import check_expression, evaluate_expression, parse_graph
from untaken.plans.expression_state import measure, steps
from untaken.plans.expressions import _compiled
from untaken.scoring import score_run

MARKER = "MARKER"
ESCAPES = [
    "__import__('os').system('touch MARKER')", "eval(\"open('MARKER', 'w')\")",
    "exec(\"open('MARKER', 'w')\")", "open('MARKER', 'w')", "().__class__.__bases__[0].__subclasses__()",
    "''.__class__.__mro__[1].__subclasses__()",
    "state.__class__.__init__.__globals__['os'].system('touch MARKER')", "state.__dict__",
    "state['__class__']", "getattr(state, '__class__')", "globals()['__builtins__']",
    "lambda: open('MARKER', 'w')", "[x for x in ().__class__.__base__.__subclasses__()]",
    "{{ cycler.__init__.__globals__.os.popen('touch MARKER') }}",
    "{% import os %}{{ os.system('touch MARKER') }}",
    "${T(java.lang.Runtime).getRuntime().exec('touch MARKER')}", "#{7*7}", "$(touch MARKER)",
    "`touch MARKER`", "; touch MARKER", "| touch MARKER", "&& touch MARKER", "\n!touch MARKER", "%(state)s",
    "{0.__class__.__init__.__globals__}", "{state.__class__}",
    "!!python/object/apply:os.system ['touch MARKER']", "file:///etc/passwd", "../../../../etc/passwd",
    "\\\\host\\share", "'; DROP TABLE files; --", "=cmd|'/C touch MARKER'!A0", "(?P<a>(?P=a))",
    "[a-z]*" * 40 + "(?{system('touch MARKER')})",
]  # fmt: skip


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def nothing_ran(folder: Path) -> None:
    assert list(folder.iterdir()) == []


def fault_of(work: Callable[[], object]) -> UntakenError | None:
    try:
        work()
    except UntakenError as error:
        return error
    return None


def graph(check: object, rules: object = None) -> bytes:
    goal = {"id": "look", "check": check} | ({"rules": rules} if rules else {})
    return yaml.safe_dump(
        {"schema": "untaken.plan/1", "id": "desk", "tasks": ["*"], "sub_goals": [goal]}
    ).encode()


@pytest.mark.parametrize("escape", ESCAPES)
def test_an_expression_reaches_nothing_but_the_state(escape: str, elsewhere: Path) -> None:
    for expression in (escape, f"state.a == {escape}", f"state.a == {escape!r}"):
        result = evaluate_expression(expression, {"a": 1})
        assert result is False or isinstance(result, Unscored), expression
        refused = fault_of(lambda text=expression: check_expression(text))
        assert refused is None or refused.code.startswith("expression-"), expression
    nothing_ran(elsewhere)


def checks(escape: str) -> list[tuple[object, object]]:
    patterns = [{kind: escape} for kind in ("glob", "contains", "regex")]
    return [
        ({"expr": escape}, None),
        ({"outcome": True}, [{"tool": escape}]),
        *(({"tool_call": {"name": "look", "arguments": {"q": pattern}}}, None) for pattern in patterns),
        ({"tool_call": {"name": escape, "arguments": {}}}, None),
    ]


@pytest.mark.parametrize("escape", ESCAPES)
def test_no_text_of_a_graph_runs_while_a_run_is_scored(escape: str, elsewhere: Path) -> None:
    run = a_run("r", task="t").call("look", q=escape).call(escape, q="x").finish().run()
    for check, rules in checks(escape):
        text = graph(check, rules)
        if fault_of(lambda text=text: parse_graph(text, name="desk.plan.yaml")) is None:
            score_run(run, parse_graph(text, name="desk.plan.yaml"))
    nothing_ran(elsewhere)


@pytest.mark.parametrize(
    "tag", ["!!python/object/apply:os.system", "!!python/name:os.system", "!!python/module:os"]
)
def test_no_tag_in_a_graph_makes_an_object(tag: str, elsewhere: Path) -> None:
    for text in (
        f"schema: untaken.plan/1\nid: {tag} ['touch MARKER']\nsub_goals: []\n",
        f"{tag} ['touch MARKER']\n",
    ):
        with pytest.raises(UntakenError):
            parse_graph(text.encode(), name="desk.plan.yaml")
    nothing_ran(elsewhere)


def generated(
    chance: random.Random, depth: int, names: tuple[str, ...] = ("state.list", "state.text")
) -> str:
    """An expression, most of them with loops, texts and comparisons; some cannot be read."""
    if depth == 0:
        return chance.choice([*names, "1", "'x'", "true", "[1, 2]", "state.absent", "state.many"])
    one, other = (generated(chance, depth - 1, names) for _ in range(2))
    looped = generated(chance, depth - 1, (*names, "x"))
    loop = chance.choice(["all", "exists", "filter", "map"])
    return chance.choice(
        [
            f"({one} {chance.choice(['==', '!=', '<', '&&', '||', '+', '*', '%', 'in'])} {other})",
            f"{one}.{loop}(x, {looped})",
            f"state.many.{loop}(x, {looped})",
            f"size({one})",
            f"({one} ? {other} : {looped})",
            f"{one}.{chance.choice(['contains', 'startsWith', 'matches'])}({other})",
            f"[{one}, {other}]",
            f"!({one})",
        ]
    )


def test_every_generated_expression_is_refused_or_decided_within_the_limit_of_steps(request) -> None:
    chance, met = random.Random(20), Counter[str]()
    state = {"list": [1, "x", [2]], "text": "x" * 900, "many": list(range(5_000))}
    for _ in range(10_000 if request.config.getoption("--slow") else 1_000):
        expression = generated(chance, chance.randrange(1, 6)) + chance.choice(["", " == true", " == []"])
        try:
            check_expression(expression)
        except UntakenError as refused:
            met[refused.code] += 1
            continue
        decided = evaluate_expression(expression, state)
        met[decided.reason if isinstance(decided, Unscored) else "decided"] += 1
        if isinstance(decided, bool):
            compiled = _compiled(expression)
            seen = compiled.projection.of(state)
            assert steps(compiled.source, seen, measure(seen)) <= limits.EXPRESSION_STEPS, expression
    assert met["decided"] > 20
    assert met["expression-nested-loop"] > 5
    assert met["the state is too large for this expression: it would take too many steps"] > 0
