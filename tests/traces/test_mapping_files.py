"""A format said in YAML: what its parts mean, what is refused with its line, and what comes of a record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from untaken.errors import UntakenError
from untaken.ledger import Message, Observation, Plan, Run, ToolCall, read_ledger
from untaken.traces import convert, mapped_importer, own_importers
from untaken.traces.format_info import Conversion
from untaken.traces.mapped import parse_mapping
from untaken.traces.mapped.checking import MappingCheck, check_mapping

OWN = """
format: our-bot
recognise:
  - {sure: certain, names: [bot, turns], where: {schema: {starts: bot/}}}
run:
  id: "our-bot/{ticket}"
  agent: bot.name
  model: [bot.model, "'unknown'"]
  version: bot.build
  task: "{queue}/{ticket}"
  task_text: question
  target: expected.answer
  success: {of: verdict, is: {solved: true, unsolved: false}}
  cost: billing.usd
  calls: {each: "turns[]", when: {who: bot}, usage: tokens, cost: usd}
  started: began
  metrics: {csat: csat, actions: {count: "turns[].actions[]"}}
  metadata: {queue: queue}
items:
  - each: "turns[]"
    time: at
    choose:
      - when: {who: bot}
        items:
          - {say: {role: "'assistant'", content: {flat: words}}}
          - each: "actions[]"
            items:
              - {call: {tool: name, arguments: {json: input}, id: id}}
              - when: {result: {exists: true}}
                answer: {content: result, id: id, ok: {not: failed}}
      - when: {who: planner}
        plan: steps
      - {say: {role: who, content: words}}
left_out: [debug]
"""
RECORD: dict[str, Any] = {
    "schema": "bot/2", "bot": {"name": "helper", "model": "m1", "build": 7}, "ticket": "T1",
    "queue": "billing",
    "question": "Where?", "expected": {"answer": "Here."}, "verdict": "solved", "csat": 4.5,
    "began": "2026-01-02T03:04:05Z", "debug": {"x": [1, 2]}, "other": 1,
    "turns": [
        {"who": "user", "words": "Where?", "at": "2026-01-02T03:04:06Z"},
        {"who": "planner", "steps": ["look", "say"]},
        {"who": "bot", "words": [{"text": "Let me"}, {"text": "look."}], "at": "2026-01-02T03:04:08Z",
         "tokens": {"prompt_tokens": 10, "completion_tokens": 2}, "usd": 0.1,
         "actions": [{"name": "look", "input": '{"id": 1}', "id": "a", "result": "here", "failed": False},
                     {"name": "send", "input": "{}", "id": "b", "result": "no", "failed": True}]},
        {"who": "bot", "words": "It is here.", "tokens": {"prompt_tokens": 20, "completion_tokens": 3},
         "usd": 0.2}],
}  # fmt: skip


def made(mapping: str, tmp_path: Path, content: Any, name: str = "x.json") -> tuple[Conversion, list[Run]]:
    """What a mapping makes of a file."""
    written = content if isinstance(content, str) else json.dumps(content)
    (tmp_path / "in").mkdir(exist_ok=True)
    (tmp_path / "in" / name).write_text(written)
    importer = mapped_importer(parse_mapping(mapping, "own.mapping.yaml"))
    with own_importers([importer]):
        done = convert(importer.info.name, [tmp_path / "in"], tmp_path / "out")
    return done, [run for ledger in done.ledgers for run in read_ledger(ledger)]


def test_a_format_of_your_own_is_read_with_all_its_parts(tmp_path: Path) -> None:
    done, [run] = made(OWN, tmp_path, RECORD)
    finished = run.finished
    assert (run.run_id, run.agent, run.task_id) == ("our-bot/T1", "helper", "billing/T1")
    assert (run.started.model, run.started.version) == ("m1", "7")
    assert run.started.metadata == {
        "format": "our-bot", "queue": "billing", "input": "Where?", "target": "Here.",
    }  # fmt: skip
    assert (finished.success, finished.cost) == (True, pytest.approx(0.3))
    assert finished.metrics == {"input_tokens": 30, "output_tokens": 5, "csat": 4.5, "actions": 2}
    said = [(event.role, event.content) for event in run.of(Message)]
    assert said == [("user", "Where?"), ("assistant", "Let me\nlook."), ("assistant", "It is here.")]
    assert [(call.tool, call.arguments) for call in run.of(ToolCall)] == [("look", {"id": 1}), ("send", {})]
    assert [(seen.content, seen.ok) for seen in run.of(Observation)] == [("here", True), ("no", False)]
    assert [list(plan.sub_goals) for plan in run.of(Plan)] == [["look", "say"]]
    dropped = {field.path for field in done.losses[0].fields if field.dropped}
    assert dropped == {"schema", "debug.**", "other"}


def test_what_feeds_a_run_follows_from_the_file() -> None:
    reads = parse_mapping(OWN, "own.mapping.yaml").info.reads
    assert reads["task"] == ("queue", "ticket")
    assert reads["tokens"] == ("turns[].tokens",)
    assert reads["cost"] == ("billing.usd", "turns[].usd")
    assert reads["outcome"] == ("verdict",)


VALUES: list[tuple[str, Any, Any]] = [
    ("a.b", {"a": {"b": 1}}, 1),
    ("a.b", {"a": [1]}, None),
    ('a."b.c"', {"a": {"b.c": 2}}, 2),
    ("a[].b", {"a": [{"b": 1}, {}, {"b": None}, {"b": 2}]}, [1, 2]),
    ("[none, a]", {"a": "x"}, "x"),
    ("[empty, a]", {"empty": "", "a": "x"}, "x"),
    ("\"'said'\"", {}, "said"),
    ("true", {}, True),
    ("2.5", {}, 2.5),
    ('"{a}/{b}"', {"a": 1, "b": "x"}, "1/x"),
    ('"{a}/{b}"', {"a": True, "b": 0}, "true/0"),
    ('"{a}/{none}"', {"a": 1}, None),
    ('"{a}/{none?}"', {"a": 1}, "1/"),
    ("{of: a, is: {x: 1, y: 2}}", {"a": "y"}, 2),
    ("{of: a, is: {x: 1}}", {"a": "z"}, "z"),
    ("{of: a, is: {x: 1}, else: 3}", {"a": "z"}, 3),
    ("{of: a, is: {'true': yes-it-is}}", {"a": True, "yes-it-is": 5}, 5),
    ("{if: {a: 1}, then: b, else: c}", {"a": 1, "b": "B"}, "B"),
    ("{if: {a: 1}, then: b, else: c}", {"a": True, "c": "C"}, "C"),
    ("{sum: 'a[].n'}", {"a": [{"n": 1}, {"n": 2.5}, {"n": "x"}, {"n": True}]}, 3.5),
    ("{sum: n, each: 'a[]', when: {k: 1}}", {"a": [{"n": 1, "k": 1}, {"n": 2}]}, 1),
    ("{sum: n, each: 'a[]', by: id}", {"a": [{"n": 1, "id": 1}, {"n": 5, "id": 1}, {"n": 2, "id": 2}]}, 7),
    ("{count: 'a[]'}", {"a": [0, 1, None]}, 2),
    ("{first: 'a[]'}", {"a": [None, "", 3, 4]}, 3),
    ("{last: 'a[]'}", {"a": [3, 4, None]}, 4),
    ("{fields: {x: a, y: none}}", {"a": 1}, {"x": 1}),
    ('"{a[].b}"', {"a": [{"c": 1}, {"b": 2}, {"b": 3}]}, "2"),
    ("{not: a}", {"a": False}, True),
    ("{not: a}", {"a": "no"}, None),
    ("{json: a}", {"a": '{"b": 1}'}, {"b": 1}),
    ("{json: a}", {"a": "{oops"}, "{oops"),
    ("{key: a}", {"a": {"click": {"at": 4}}}, "click"),
    ("{value: a}", {"a": {"click": {"at": 4}}}, {"at": 4}),
    ("{key: a}", {"a": {}}, None),
    ("{flat: a}", {"a": [{"text": "x"}, {"text": "y"}]}, "x\ny"),
    ("$file", {}, "x"),
    ("$number", {}, 0),
]


@pytest.mark.parametrize(("spec", "record", "want"), VALUES, ids=lambda value: str(value)[:40])
def test_a_value_means(tmp_path: Path, spec: str, record: Any, want: Any) -> None:
    mapping = f"format: f\nrun:\n  agent: \"'a'\"\n  metadata:\n    found: {spec}\nitems: []\n"
    _, [run] = made(mapping, tmp_path, record)
    assert (run.started.metadata or {}).get("found") == want


CONDITIONS: list[tuple[str, Any, bool]] = [
    ("{a: 1}", {"a": 1}, True),
    ("{a: 1}", {"a": True}, False),
    ("{a: 1, b: 2}", {"a": 1, "b": 3}, False),
    ("{a: [x, y]}", {"a": "y"}, True),
    ("{a: {is: [x, 0]}}", {"a": 0}, True),
    ("{a: {is: [x, 0]}}", {"a": False}, False),
    ("{a: {exists: true}}", {"a": ""}, True),
    ("{a: {exists: false}}", {"a": None}, True),
    ("{a: {filled: true}}", {"a": []}, False),
    ("{a: {starts: ab}}", {"a": "abc"}, True),
    ("{a: {ends: bc}}", {"a": ["abc"]}, False),
    ("{a: {kind: number}}", {"a": True}, False),
    ("{a: {kind: boolean}}", {"a": True}, True),
    ("{a: {at_least: 1, at_most: 2}}", {"a": 1.5}, True),
    ("{a: {at_least: 1}}", {"a": "2"}, False),
    ("{a: {size: 1}}", {"a": [0]}, True),
    ("{a: {size: 1}}", {"a": "x"}, False),
    ("{a: {differs: b}}", {"a": 1, "b": 1}, False),
    ("{a: {differs: b}}", {"a": 1}, True),
    ("{'a[].b': 2}", {"a": [{"b": 1}, {"b": 2}]}, True),
    ("{'a[].b': {exists: true}}", {"a": [{"b": 1}]}, True),
]


@pytest.mark.parametrize(("spec", "record", "want"), CONDITIONS, ids=lambda value: str(value)[:40])
def test_a_condition_means(tmp_path: Path, spec: str, record: Any, want: bool) -> None:
    then = "{if: " + spec + ", then: true, else: false}"
    mapping = f"format: f\nrun: {{agent: \"'a'\", success: {then}}}\nitems: []\n"
    _, [run] = made(mapping, tmp_path, record)
    assert run.finished.success is want


RUNS: list[tuple[str, str, str, list[str]]] = [
    ("", "x.json", '[{"id": "a"}, {"id": "b"}]', ["a", "b"]),
    ("", "x.jsonl", '{"id": "a"}\n{"id": "b"}\n', ["a", "b"]),
    ('runs: {each: "all[].runs[]"}', "x.json", '{"all": [{"runs": [{"id": "a"}, {"id": "b"}]}]}', ["a", "b"]),
    ('runs: {each: "all[]", when: {k: 1}}', "x.json", '{"all": [{"id": "a"}, {"id": "b", "k": 1}]}', ["b"]),
    ("runs: {when: {k: 1}}", "x.jsonl", '{"id": "a"}\n{"id": "b", "k": 1}\n', ["b"]),
    ("runs: {lines: true}", "x.jsonl", '{"id": "a"}\n{"id": "b"}\n', ["a+b"]),
    ("runs: {by: k}", "x.jsonl", '{"id":"a","k":1}\n{"id":"b","k":2}\n{"id":"c","k":1}\n', ["a+c", "b"]),
    ("runs: {members: true}", "x.json", '{"7": {"id": "a"}, "8": {"id": "b"}}', ["a", "b"]),
    ("runs: {lists: [all]}", "x.json", '{"all": [{"id": "a"}, {"id": "b"}]}', ["a+b"]),
    ("runs: {lists: [all]}", "x.json", '[[{"id": "a"}], [{"id": "b"}]]', ["a", "b"]),
    ("runs: {lists: [all]}", "x.jsonl", '{"id": "a"}\n{"id": "b"}\n', ["a+b"]),
    ("runs: {by: k}\nfiles: [.csv]", "x.csv", "\ufeffid;k\na;1\nb;2\nc;1\n", ["a+c", "b"]),
    ("runs: {by: k}\nfiles: [.csv]", "x.csv", "id,k\na,1\nb,2\nc,1\n", ["a+c", "b"]),
]


@pytest.mark.parametrize(("runs", "name", "content", "want"), RUNS)
def test_the_runs_of_a_file_are(tmp_path: Path, runs: str, name: str, content: str, want: list[str]) -> None:
    together = any(word in runs for word in ("lines", "lists", "by"))
    item = '{each: "[]", say: {role: "\'user\'", content: id}}' if together else "{say: {content: id}}"
    mapping = f"format: f\n{runs}\nrun: {{agent: \"'a'\"}}\nitems:\n  - {item}\n"
    _, found = made(mapping, tmp_path, content, name)
    assert ["+".join(str(said.content) for said in run.of(Message)) for run in found] == want


PROMPTS: list[tuple[str, list[tuple[str, str]], list[str]]] = [
    ("until: {who: bot}", [("user", "a"), ("bot", "b"), ("user", "c")], ["a"]),
    ("until: {who: none}", [("user", "a"), ("user", "c")], ["a", "c"]),
    ("when: {who: system}", [("system", "p"), ("system", "p"), ("system", "q"), ("system", "p")],
     ["p", "q", "p"]),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "turns", "want"), PROMPTS)
def test_of_the_elements_are_said(tmp_path, rule, turns, want) -> None:
    say = f"{{each: 'turns[]', {rule}, say: {{role: who, content: words}}}}"
    mapping = f"format: f\nrun: {{agent: \"'a'\"}}\nitems:\n  - {say}\n"
    _, [run] = made(mapping, tmp_path, {"turns": [{"who": who, "words": words} for who, words in turns]})
    assert [said.content for said in run.of(Message)] == want


def test_of_two_copies_of_a_session_the_longer_one_is_the_run(tmp_path: Path) -> None:
    mapping = (
        "format: f\nruns: {lists: [turns]}\nrun: {id: \"{[].s}\", session: {first: '[].s'}, agent: \"'a'\"}\n"
        "items:\n  - {each: '[]', say: {role: \"'assistant'\", content: words}}\n"
    )
    turns = [{"s": "1", "words": word} for word in ("a", "b")]
    _, runs = made(mapping, tmp_path, [turns[:1], turns])
    assert [[said.content for said in run.of(Message)] for run in runs] == [["a", "b"]]


def test_messages_of_a_known_form_are_read_whole(tmp_path: Path) -> None:
    call = {"id": "c", "function": {"name": "look", "arguments": '{"at": 1}'}}
    messages = [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "seen"},
        {"no": "message"},
    ]
    mapping = 'format: f\nrun: {agent: "\'a\'"}\nitems:\n  - {message: "log[]"}\n'
    done, [run] = made(mapping, tmp_path, {"log": messages})
    assert [(call.tool, call.arguments) for call in run.of(ToolCall)] == [("look", {"at": 1})]
    assert [seen.content for seen in run.of(Observation)] == ["seen"]
    assert "not-a-message" in {finding.code for finding in done.findings}


def test_a_call_of_the_user_is_not_the_agents(tmp_path: Path) -> None:
    calls = "items:\n  - {each: 'calls[]', call: {tool: tool, by: who}}\n"
    made_by = [("user", "toggle"), ("assistant", "look")]
    record = {"calls": [{"who": who, "tool": tool} for who, tool in made_by]}
    _, [run] = made(f"format: f\nrun: {{agent: \"'a'\"}}\n{calls}", tmp_path, record)
    assert [(call.tool, call.requestor) for call in run.of(ToolCall)] == [("toggle", "user"), ("look", None)]


BASE = "format: f\nrun: {agent: \"'a'\"}\nitems: []\n"


def one_rule(rule: str) -> str:
    return BASE.replace("items: []", f"items:\n  - {rule}")


REFUSED: list[tuple[str, int | None, str]] = [
    ("format: f\nitems: []\n", 1, "the file has no `run`"),
    (BASE + "more: 1\n", 4, "`more` is not known here"),
    (BASE.replace("format: f", "format: No Good"), 1, "small letters"),
    (one_rule("{say: {content: a}, plan: b}"), 4, "a rule does one thing"),
    (one_rule("{when: {a: 1}}"), 4, "this one says nothing"),
    (one_rule("{call: {arguments: a}}"), 4, "has no `tool`"),
    (one_rule("say: {content: 'a..b'}"), 4, "is no path"),
    (one_rule("say: {content: '{a'}"), 4, "braces"),
    (one_rule("say: {content: '/a[].b'}"), 4, "goes through no list"),
    (one_rule("{when: {a: {kind: date}}, plan: b}"), 4, "no kind 'date'"),
    (one_rule("{when: {a: {kind: [text]}}, plan: b}"), 4, "no kind"),
    (one_rule("{when: {a: {kind: null}}, plan: b}"), 4, "no kind None"),
    (one_rule("{when: {a: {matches: '.*'}}, plan: b}"), 4, "`matches` is not known"),
    (BASE.replace("items: []", "items: {}"), 3, "a list of rules"),
    (BASE + "recognise:\n  - {sure: certain}\n", 5, "every file"),
    (BASE + "recognise:\n  - {sure: quite, names: [a]}\n", 5, "`sure` is one of"),
    (BASE + "recognise:\n  - {sure: [likely], names: [a]}\n", 5, "`sure` is one of"),
    (BASE + "runs: {lines: true, by: a}\n", 4, "one of: each, lines, lists, members, by"),
    (BASE + "files: ['../x']\n", 4, "ending of a file"),
    ("a: &x 1\nb: *x\n", 1, "anchors"),
    ("a: !!python/object:os.system 1\n", 1, "tags are not allowed"),
    (BASE + "x" * 70_000, None, "a mapping may have"),
    (BASE.replace("items: []", "items:\n" + "  - {plan: a}\n" * 201), 204, "at most 200 rules"),
]


@pytest.mark.parametrize(("written", "line", "message"), REFUSED, ids=lambda value: str(value)[-30:])
def test_a_mapping_that_means_nothing_is_refused_with_its_line(written, line, message) -> None:
    with pytest.raises(UntakenError) as refused:
        parse_mapping(written, "own.mapping.yaml")
    assert refused.value.code in ("mapping-invalid", "mapping-too-large")
    assert message in refused.value.message
    assert refused.value.where.line == line


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["turns", "who", "words", "actions", "name", "input", "bot"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@given(record=JSON)
@example(record={"turns": [{"who": "bot", "actions": [{"name": {}, "input": [1], "id": {}}]}]})
def test_no_record_stops_a_mapping(tmp_path_factory: pytest.TempPathFactory, record: Any) -> None:
    done, _ = made(OWN, tmp_path_factory.mktemp("m"), record)
    assert "importer-failed" not in {finding.code for finding in done.findings}


def test_a_format_of_your_own_has_a_name_of_its_own() -> None:
    taken = mapped_importer(parse_mapping(BASE.replace("format: f", "format: otel"), "own.mapping.yaml"))
    with pytest.raises(UntakenError) as refused, own_importers([taken]):
        pass
    assert refused.value.code == "format-name-taken"


HEAD = """format: desk
files: [.json, .jsonl]
recognise: [{sure: certain, names: [call, steps]}]
left_out: [DEBUG]
"""
LINES = [{"call": "a", "steps": ["look"], "debug": {"x": [1]}}, {"call": "b", "steps": ["pay"], "note": 1}]


def checked(tmp_path: Path, mapping: str, content: str) -> MappingCheck:
    """A mapping tried on data: what of it no rule reads."""
    file = tmp_path / "x.jsonl"
    file.write_text(content, encoding="utf-8")
    return check_mapping(mapped_importer(parse_mapping(mapping, "m")), [file])


@pytest.mark.parametrize(
    ("runs", "below"),
    [("", ""), ("runs: {lines: true}\n", "[]."), ("runs: {by: call}\n", "[].")],
    ids=["a record each", "all lines of a file", "records that share a value"],
)
def test_a_list_that_a_rule_reads_counts_as_read_however_records_are_grouped(tmp_path, runs, below) -> None:
    each = "each: '[]', " if below else ""
    rules = f"{runs}run: {{id: {{first: '{below}call'}}}}\nitems: [{{{each}plan: 'steps[]'}}]\n"
    left = HEAD.replace("DEBUG", f"'{below}debug'")
    found = checked(tmp_path, left + rules, "\n".join(map(json.dumps, LINES)))
    assert found.events["PLAN"] == 2
    assert {one.place: one.read for one in found.lists} == {"steps": True, "debug.x": False}


def test_what_is_left_out_on_purpose_is_not_listed_as_unread(tmp_path: Path) -> None:
    rules = "run: {id: call}\nitems: [{plan: 'steps[]'}]\n"
    found = checked(tmp_path, HEAD.replace("DEBUG", "debug") + rules, "\n".join(map(json.dumps, LINES)))
    assert [one.path for one in found.unread] == ["note"]
