"""Evidence that the agent made itself is none, in whatever shape; a quote has to be about its sub-goal."""
# ruff: noqa: E501  (tables of cases)

from __future__ import annotations

import base64
import codecs
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from builders import RunBuilder, a_graph, a_run
from judges import model_that, said

from untaken.judging import judge_run
from untaken.judging.asking import ModelAccess, ReplyStore
from untaken.judging.evidence import RunEvidence
from untaken.judging.rendering import event_text
from untaken.judging.view import EVENT_CHARS, LedgerView, record_of
from untaken.ledger.events import Message, Observation, Plan, RunFinished, SkillSelection, State
from untaken.plans import PlanGraph

CLAIM = "refund 4711 was paid"
WORDS = CLAIM.split()
Shape = Callable[[RunBuilder], object]


def answered(*arguments: object, content: object = CLAIM, **named: object) -> Shape:
    def build(run: RunBuilder) -> object:
        given = {f"a{number}": value for number, value in enumerate(arguments)} | named
        return run.call("shell", **given).observe(content, call_id="c1")

    return build


def written(content: object, back: object = CLAIM) -> Shape:
    def build(run: RunBuilder) -> object:
        run.call("write_file", path="out.txt", content=content).observe("ok", call_id="c1")
        return run.call("read_file", path="out.txt").observe(back, call_id="c2")

    return build


OWN: dict[str, Shape] = {
    "echo": answered(f"echo '{CLAIM}'"),
    "echo in capitals": answered(f"echo '{CLAIM.upper()}' | tr A-Z a-z"),
    "an argument list": answered(["echo", *WORDS]),
    "an argument list in an object": answered({"argv": ["echo", *WORDS]}),
    "arguments side by side": answered(*WORDS),
    "words with commas": answered(f"join {','.join(WORDS)}"),
    "letters in a list": answered(list(CLAIM)),
    "printf": answered("printf 'refund %d was %s' 4711 paid"),
    "printf with its values first": answered(values=["paid", 4711], template="refund {} was {}"),
    "a string put together": answered("print('refund ' + '4711' + ' was' + ' paid')"),
    "quoted words": answered('echo "refund" "4711" "was" "paid"'),
    "escaped JSON": answered(json.dumps({"out": CLAIM})),
    "JSON escaped twice": answered(json.dumps(json.dumps({"out": CLAIM}))),
    "escaped letters": answered("".join(f"\\u{ord(char):04x}" for char in CLAIM)),
    "percent escapes": answered("".join(f"%{ord(char):02x}" for char in CLAIM)),
    "base64": answered(f"echo {base64.b64encode(CLAIM.encode()).decode()} | base64 -d"),
    "hexadecimal": answered(f"echo {CLAIM.encode().hex()} | xxd -r -p"),
    "reversed": answered(f"echo '{CLAIM[::-1]}' | rev"),
    "on several lines": answered("\n".join(WORDS)),
    "in the name of an argument": answered(**{CLAIM: True}),
    "in an object that comes back": answered(CLAIM, content={"args": [CLAIM], "ok": True}),
    "a file written and read back": written(CLAIM),
    "a file of lines": written(["x", CLAIM, "y"]),
    "a file written in parts": lambda run: (
        run.call("append", text="refund 4711").observe("ok", call_id="c1"),
        run.call("append", text=" was paid").observe("ok", call_id="c2"),
        run.call("read").observe(CLAIM, call_id="c3")
    ),
    "a note set and got": lambda run: (
        run.call("set", key="n", value=CLAIM).observe("ok", call_id="c1"),
        run.call("get", key="n").observe(f"n = {CLAIM}", call_id="c2")
    ),
    "the first of two observations": lambda run: (run.call("shell", command=f"echo {CLAIM}").observe(CLAIM, call_id="c1").observe("done", call_id="c1")),
    "an observation before its call": lambda run: run.observe(CLAIM, call_id="c1").call("status"),
    "an id used twice": lambda run: (
        run.call("status", id=1).observe("open", call_id="c1"),
        run.add(type(run.run().actions[0]), call_id="c1", tool="status", arguments={}),
        run.add(Observation, call_id="c1", content=CLAIM)
    ),
    "a tool's message that repeats an argument": lambda run: run.call("log", text=CLAIM).add(Message, role="tool", content=CLAIM),
    "a state copied from an argument": lambda run: run.call("log", text=CLAIM).add(State, state={"note": CLAIM}),
    "a final state copied from an argument": lambda run: run.call("log", text=CLAIM).add(RunFinished, success=True, steps=1, final_state={"note": CLAIM})
}  # fmt: skip
LONG = "\n".join(f"value_{n} = compute_{n}(first_{n}, second_{n})" for n in range(30))
BASE64 = base64.urlsafe_b64encode(CLAIM.encode()).decode().rstrip("=")
OWN |= {
    "rotated by 13": answered(f"echo '{codecs.encode(CLAIM, 'rot13')}' | tr a-z n-za-m"),
    "escapes in braces": answered("".join(f"\\u{{{ord(char):x}}}" for char in CLAIM)),
    "a command of PowerShell": answered(
        f"powershell -EncodedCommand {base64.b64encode(CLAIM.encode('utf-16-le')).decode()}"
    ),
    "base85": answered(base64.b85encode(CLAIM.encode()).decode()),
    "base64 twice": answered(base64.b64encode(base64.b64encode(CLAIM.encode())).decode()),
    "quoted-printable": answered("".join(f"={ord(char):02X}" for char in CLAIM)),
    "octal digits": answered("".join(f"\\{ord(char):03o}" for char in CLAIM)),
    "numbers of letters": answered([ord(char) for char in CLAIM]),
    "chr of each letter": answered("+".join(f"chr({ord(char)})" for char in CLAIM)),
    "hexadecimal with 0x": answered(", ".join(f"0x{ord(char):02x}" for char in CLAIM)),
    "base64 in two arguments": answered(BASE64[:16], BASE64[16:]),
    "words close by in a long program": answered(f"{LONG}\nprint('%s %s' % ('refund', 4711), 'was paid')"),
    "parts set in two calls": lambda run: (
        run.call("shell", c="export A='refund 4711'").observe("", call_id="c1"),
        run.call("shell", c="export B='was paid'").observe("", call_id="c2"),
        run.call("shell", c="echo $A $B").observe(CLAIM, call_id="c3"),
    ),
    "the agent's own message read back": lambda run: (
        run.say(f"Note: {CLAIM}.").call("transcript").observe(f"assistant: {CLAIM}", call_id="c1")
    ),
    "its own plan read back": lambda run: (
        run.add(Plan, sub_goals=[CLAIM]).call("todos").observe(f"1. {CLAIM}", call_id="c1")
    ),
    "the name of its choice read back": lambda run: (
        run.add(SkillSelection, selected=CLAIM, alternatives=["wait"], context_hash="x")
        .call("history")
        .observe(CLAIM, call_id="c1")
    ),
}
FRAMED = {
    "an object of a shell": (
        {"exit_code": 0, "stdout": CLAIM},
        json.dumps({"exit_code": 0, "stdout": CLAIM}),
    ),
    "a word in front": (f"Output: {CLAIM}", f"Output: {CLAIM}"),
    "numbered lines": ("1\trefund 4711\n2\twas paid", "1 refund 4711 2 was paid"),
    "entities": ("refund &#52;711 was paid", "refund &#52;711 was paid"),
    "percent escapes": (CLAIM.replace(" ", "%20"), CLAIM.replace(" ", "%20")),
    "colours": ("refund \x1b[1m4711\x1b[0m was paid", "refund \x1b[1m4711\x1b[0m was paid"),
    "a list of its words": (WORDS, json.dumps(WORDS)),
    "a line of a log": (f"2026-11-30 03:12:44,123 INFO root: {CLAIM}",) * 2,
    "a prompt": (f"root@box:/app# {CLAIM}",) * 2,
    "tags": (f"<stdout>{CLAIM}</stdout><exit_code>0</exit_code>",) * 2,
    "a time": (f"Exit code: 0\nWall time: 0.01 seconds\nOutput:\n{CLAIM}",) * 2,
    "a process": (f"Chunk ID: ab12cd\nProcess exited with code 0\nOutput:\n{CLAIM}",) * 2,
    "a command": (f"{CLAIM}\n[The command completed with exit code 0.]",) * 2,
    "a success": ({"output": CLAIM, "success": True}, json.dumps({"output": CLAIM, "success": True})),
    "a status": ({"result": CLAIM, "status": "ok"}, json.dumps({"result": CLAIM, "status": "ok"})),
    "no error": ({"error": None, "result": CLAIM}, json.dumps({"error": None, "result": CLAIM})),
    "a part": ([{"text": CLAIM, "type": "text"}], json.dumps([{"text": CLAIM, "type": "text"}])),
}
"""What a tool makes of the words it was given, and a quote of that."""
FOUND: dict[str, Shape] = {
    "an answer": answered("status 4711"),
    "an answer with a name that was asked for": answered(order=4711, action="refund"),
    "an answer to a query": answered("SELECT * FROM refunds WHERE paid"),
    "an answer without an id": lambda run: run.call("status").add(Observation, content=CLAIM),
    "the second of two observations": lambda run: (run.call("status").observe("wait", call_id="c1").observe(CLAIM, call_id="c1")),
    "a tool's message": lambda run: run.call("status").add(Message, role="tool", content=CLAIM),
    "a state": lambda run: run.call("pay", order=4711).add(State, state={"note": CLAIM}),
    "what the agent spoke of": lambda run: (run.say("I will see whether it was paid.").call("status").observe(CLAIM, call_id="c1")),
    "what a program looked up": answered(f"{LONG}\nprint(f'refund {{order}} was {{status}}')"),
    "what was written later": lambda run: (run.call("status").observe(CLAIM, call_id="c1"), run.call("write_file", text=CLAIM).observe("ok", call_id="c2"))
}  # fmt: skip


def shown(shape: Shape, quote: str = CLAIM) -> bool:
    run = a_run("r")
    shape(run)
    record = record_of(run.run())
    evidence = RunEvidence(record)
    return any(evidence.shows(event, quote) for event in record.values())


@pytest.mark.parametrize("shape", OWN)
def test_what_the_agent_put_in_itself_is_no_evidence(shape: str) -> None:
    assert not shown(OWN[shape])


@pytest.mark.parametrize("frame", FRAMED)
def test_a_frame_that_a_tool_puts_around_what_it_was_given_makes_no_evidence_of_it(frame: str) -> None:
    content, quote = FRAMED[frame]
    if not isinstance(content, str):
        quote = quote.replace(": ", ":").replace(", ", ",")
    assert not shown(answered(f"echo {CLAIM}", content=content), quote)
    assert shown(answered("status 4711", content=content), quote)


@pytest.mark.parametrize(
    "answer",
    ['{"ok":true,"order":4711}', '{"order":0}', "exit code 0", "4711 | open", "ok: true, order: 4711"],
)
def test_an_answer_that_names_what_was_asked_for_is_evidence(answer: str) -> None:
    assert shown(answered(order=4711, content=answer), answer)


@pytest.mark.parametrize("shape", FOUND)
def test_what_a_tool_found_is_evidence(shape: str) -> None:
    assert shown(FOUND[shape])


RULES = a_graph({"id": "pay", "rules": [{"tool": "pay_*"}], "check": {"verdict": True}}, graph_id="desk")
FIELDS = a_graph(
    {"id": "pay", "check": {"expr": "state.refund.paid == true"}, "rules": [{"tool": "pay_*"}]},
    graph_id="desk",
)
SPOKEN = a_graph({"id": "pay", "evidence": "message", "check": {"verdict": True}}, graph_id="desk")
OPEN = a_graph({"id": "pay", "check": {"verdict": True}}, graph_id="desk")


def a_desk() -> RunBuilder:
    run = a_run("desk").call("find_order", id=4711).observe("no such order: 17, try again", call_id="c1")
    run.call("pay_back", id=4711).observe("transfer accepted by the bank", call_id="c2")
    run.add(State, state={"refund": {"paid": True, "note": "by bank transfer"}})
    run.say("Your money is on its way.").add(Message, role="user", content="I was told it is paid already")
    return run.finish(True)


ABOUT = {
    "another call's result": (RULES, 2, "no such order: 17", None),
    "its own call's result": (RULES, 4, "transfer accepted", True),
    "a state, for a sub-goal with rules alone": (RULES, 5, "by bank transfer", None),
    "a field that its check reads": (FIELDS, 5, '"paid":true', True),
    "another field": (FIELDS, 5, "by bank transfer", None),
    "a message where the message is the evidence": (SPOKEN, 6, "Your money is on its way", True),
    "a message where it is not": (OPEN, 6, "Your money is on its way", None),
    "the user's message where the agent's is the evidence": (SPOKEN, 7, "I was told it is paid", None),
    "a result where a message is the evidence": (SPOKEN, 4, "transfer accepted", None),
    "any result where the plan says nothing": (OPEN, 2, "no such order: 17", True),
}


@pytest.mark.parametrize("case", ABOUT)
def test_a_quote_is_about_its_sub_goal(case: str, tmp_path: Path) -> None:
    graph: PlanGraph
    graph, seq, quote, passed = ABOUT[case]
    model = model_that(lambda _, code: said(code, "pass", (seq, quote)))
    with ModelAccess(model, ReplyStore(tmp_path)) as access:
        (found,) = judge_run(a_desk().run(), graph, access, sub_goals=["pay"], tools=False).verdicts
    assert (found.passed, found.unanchored) == (passed, bool(passed) and graph is OPEN)
    if passed is None:
        assert found.unscored_reason in ("evidence_unrelated", "claims_only")


def test_an_excerpt_says_how_much_of_a_long_event_it_leaves_out() -> None:
    run = a_run("r").say("x" * 300_000).finish(True).run()
    view = LedgerView(record_of(run), "code")
    (message,) = run.of(Message)
    assert f"… {len(event_text(message)) - EVENT_CHARS} more characters" in view.excerpt(message)
