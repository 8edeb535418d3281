"""Asking a language model: a real one, on this machine, and stand-ins where its words must be chosen."""

from __future__ import annotations

import json
from pathlib import Path
from threading import Barrier, Thread
from time import sleep
from typing import Annotated, Any, Literal

import msgspec
import pytest

from untaken.errors import Unscored, UntakenError
from untaken.judging.asking import ModelAccess, ModelAnswer, Question, ReplyStore, Template, Tool

pytest.importorskip("pydantic_ai", reason="the extra untaken[judge] is not installed")

from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

TEMPLATE = Template(name="colour", version=1, text="Answer in JSON.")


class Colour(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    colour: Literal["red", "green"]
    why: Annotated[str, msgspec.Meta(max_length=40)]


def a_question(prompt: str = "Which colour is grass?", **changes: Any) -> Question[Colour]:
    return Question(template=TEMPLATE, prompt=prompt, output=Colour, **changes)


def saying(*texts: str, name: str = "stand-in") -> FunctionModel:
    """A model that says these texts in turn, then the last one for ever."""
    left = list(texts)

    def speak(_messages: list[Any], info: AgentInfo) -> ModelResponse:
        words = left.pop(0) if len(left) > 1 else left[0]
        if info.output_tools:
            return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, words)])
        return ModelResponse(parts=[TextPart(words)])

    return FunctionModel(speak, model_name=name)


GREEN = json.dumps({"colour": "green", "why": "chlorophyll"})


def test_what_a_model_cost_is_added_up_over_questions(tmp_path: Path) -> None:
    with ModelAccess(saying(GREEN), ReplyStore(tmp_path)) as model:
        replies = [
            model.ask(a_question(prompt)).reply for prompt in ("Which colour is grass?", "And leaves?")
        ]
        for field in ("requests", "input_tokens", "output_tokens"):
            assert getattr(model.spent, field) == sum(getattr(reply, field) for reply in replies) > 0


def test_a_real_model_answers_in_the_form_asked_for_and_is_asked_once(tmp_path: Path, local: str) -> None:
    store = ReplyStore(tmp_path / "replies")
    with ModelAccess(local, store) as model:
        first = model.ask(a_question())
        assert first.output.colour in ("red", "green")
        assert model.spent.requests >= 1
        assert model.spent.output_tokens > 0
    with ModelAccess(local, store, offline=True) as model:
        again = model.ask(a_question())
        assert again.from_store
        assert again.output == first.output
        assert model.spent.requests == 0


@pytest.mark.parametrize(("name", "most"), [("stand-in", 4), ("local", 1)])
def test_several_questions_are_asked_at_once_and_answered_in_their_order(name, most, tmp_path) -> None:
    questions = [a_question(f"Which colour is thing {n}?") for n in range(8)]
    met, under_way, seen = Barrier(most), [0], []

    def speak(_messages: list[Any], info: AgentInfo) -> ModelResponse:
        under_way.append(under_way[-1] + 1)
        met.wait(20)
        sleep(0.02)  # so that one too many would be seen
        under_way.append(under_way[-1] - 1)
        return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, GREEN)])

    with ModelAccess(FunctionModel(speak, model_name=name), ReplyStore(tmp_path)) as model:
        answers = model.ask_all(questions, progress=lambda done, total, _: seen.append((done, total)))
    hashes = [a.reply.prompt_sha256 for a in answers if isinstance(a, ModelAnswer)]
    assert hashes == [question.prompt_sha256 for question in questions]
    assert (max(under_way), seen) == (most, [(done, 8) for done in range(1, 9)])


@pytest.mark.parametrize(
    "change",
    [
        {"prompt": "Which colour is blood?"},
        {"seed": 1},
        {"temperature": 0.7},
        {"about": "another run"},
        {"tools": (Tool(name="look", description="Looks.", call=lambda: "grass"),)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_another_question_is_another_reply(change: dict[str, Any]) -> None:
    assert a_question().key("m") != a_question(**change).key("m")
    assert a_question().key("m") != a_question().key("n")


def test_a_model_may_correct_an_answer_out_of_form(tmp_path: Path) -> None:
    with ModelAccess(saying('{"colour": "blue", "why": ""}', GREEN), ReplyStore(tmp_path)) as model:
        answer = model.ask(a_question())
    assert (answer.output.colour, answer.reply.requests) == ("green", 2)


def test_an_answer_that_never_has_the_form_is_unscored_and_not_asked_again(tmp_path: Path) -> None:
    store = ReplyStore(tmp_path)
    with ModelAccess(saying('{"colour": "blue", "why": ""}'), store) as model:
        assert isinstance(model.ask(a_question()), Unscored)
    with ModelAccess(saying(GREEN), store) as model:
        answer = model.ask(a_question())
        assert isinstance(answer, Unscored)
        assert "expected format" in answer.reason
        assert model.spent.requests == 0


def test_a_model_that_is_not_reached_is_unscored_and_asked_again_next_time(tmp_path: Path) -> None:
    store = ReplyStore(tmp_path)
    with ModelAccess("http://127.0.0.1:9/v1#nobody", store) as model:
        answers = [model.ask(a_question(f"{n}")) for n in range(4)]
        assert all(isinstance(answer, Unscored) for answer in answers)
        last = answers[-1]
        assert isinstance(last, Unscored)
        assert "no further requests" in last.reason
    assert len(store) == 0


def test_no_more_is_sent_than_the_budget_however_many_ask_at_once(tmp_path: Path) -> None:
    never = saying('{"colour": "blue", "why": ""}')
    with ModelAccess(never, ReplyStore(tmp_path), budget=5) as model:
        answers = model.ask_all([a_question(f"{n}") for n in range(8)])
        assert model.spent.requests <= 5
    assert all(isinstance(answer, Unscored) for answer in answers)


def test_no_key_is_in_a_name_or_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNTAKEN_MODEL_KEY", "sk-very-secret")

    def speak(_messages: list[Any], _info: AgentInfo) -> ModelResponse:
        raise ModelHTTPError(401, "m", {"message": "wrong key sk-very-secret"})

    with ModelAccess(FunctionModel(speak, model_name="m"), ReplyStore(tmp_path)) as model:
        answer = model.ask(a_question())
    assert isinstance(answer, Unscored)
    assert "401" in answer.reason
    assert "secret" not in answer.reason


ADDRESSES = (
    ("http://ann:hidden-word@127.0.0.1:9/v1#m", "http://127.0.0.1:9/v1#m"),
    ("http://127.0.0.1:9/v1?key=hidden-word#m", "http://127.0.0.1:9/v1#m"),
    ("http://127.0.0.1:9/v1?api-version=2024&key=hidden-word", "http://127.0.0.1:9/v1"),
    ("http://127.0.0.1:9?key=hidden-word#m", "http://127.0.0.1:9#m"),
    ("https://ann:hidden%2Dword@127.0.0.1:9/v1/?key=hidden-word#org/m", "https://127.0.0.1:9/v1/#org/m"),
    ("openai:gpt-4.1", "openai:gpt-4.1"),
)


@pytest.mark.parametrize(("address", "name"), ADDRESSES)
def test_a_password_or_query_in_an_address_is_in_no_name_message_or_reply(address, name, tmp_path) -> None:
    replies = ReplyStore(tmp_path)
    with ModelAccess(address, replies) as model:
        assert model.name == name
        if name.startswith("http"):
            answer = model.ask(a_question())  # nobody answers there
            assert isinstance(answer, Unscored)
            assert "hidden" not in repr(answer) + repr(model.name)
    assert all(b"hidden" not in file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())


def test_a_question_that_the_server_refuses_does_not_end_the_asking(tmp_path: Path) -> None:
    def speak(_messages: list[Any], _info: AgentInfo) -> ModelResponse:
        raise ModelHTTPError(400, "m", {"message": "too long"})

    with ModelAccess(FunctionModel(speak, model_name="m"), ReplyStore(tmp_path)) as model:
        answers = [model.ask(a_question(f"{n}")) for n in range(5)]
    assert [isinstance(a, Unscored) and "too long" in a.reason for a in answers] == [True] * 5


def test_cancelling_asks_nothing_more(tmp_path: Path) -> None:
    asked: list[str] = []

    def speak(messages: list[Any], info: AgentInfo) -> ModelResponse:
        asked.append(str(messages[0].parts[-1].content))
        sleep(0.05)  # so that a cancellation arrives first
        return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, GREEN)])

    def stop(done: int, _total: int, _what: str) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with (
        pytest.raises(KeyboardInterrupt),
        ModelAccess(FunctionModel(speak, model_name="local"), ReplyStore(tmp_path)) as model,  # one at a time
    ):
        model.ask_all([a_question(f"{n}") for n in range(20)], progress=stop)
    assert len(asked) < 6


def test_a_reply_to_another_question_is_not_taken(tmp_path: Path) -> None:
    store = ReplyStore(tmp_path)
    with ModelAccess(saying(GREEN, name="m"), store) as model:
        model.ask(a_question("one"))
    (file,) = tmp_path.glob("??/*.json")
    key = a_question("two").key("m")
    (tmp_path / key[:2]).mkdir(exist_ok=True)
    (tmp_path / key[:2] / f"{key}.json").write_bytes(file.read_bytes())
    answer = ModelAccess("m", store, offline=True).ask(a_question("two"))
    assert isinstance(answer, Unscored)
    assert "another question" in answer.reason


def test_without_a_recorded_reply_nothing_is_asked_offline(tmp_path: Path) -> None:
    with ModelAccess("openai:gpt-4.1", ReplyStore(tmp_path), offline=True) as model:
        answer = model.ask(a_question())
    assert isinstance(answer, Unscored)
    assert "recorded" in answer.reason


def test_tools_are_called_and_their_use_is_kept(tmp_path: Path) -> None:
    turns = iter(["look", "answer"])

    def speak(_messages: list[Any], info: AgentInfo) -> ModelResponse:
        if next(turns) == "look":
            return ModelResponse(parts=[ToolCallPart("look", {"at": "grass"})])
        return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, GREEN)])

    def look(at: str) -> str:
        return f"{at} is green"

    tools = (Tool(name="look", description="Looks at something.", call=look),)
    with ModelAccess(FunctionModel(speak, model_name="m"), ReplyStore(tmp_path)) as model:
        answer = model.ask(a_question(tools=tools))
    assert [(use.tool, json.loads(use.arguments)) for use in answer.reply.calls] == [
        ("look", {"at": "grass"})
    ]


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("nonsense", "model-unknown"),
        ("nobody:gpt", "model-unknown"),
        ("openai:gpt-4.1", "model-key-missing"),
        (None, "model-not-named"),
    ],
)
def test_a_model_that_cannot_be_had_says_what_to_do(name, code, tmp_path, monkeypatch) -> None:
    for setting in ("UNTAKEN_MODEL", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(setting, raising=False)
    with pytest.raises(UntakenError) as caught:
        ModelAccess(name, ReplyStore(tmp_path)).ask(a_question())
    assert caught.value.code == code
    assert caught.value.hint


def test_a_reply_changed_by_hand_is_named(tmp_path: Path) -> None:
    store = ReplyStore(tmp_path)
    with ModelAccess(saying(GREEN), store) as model:
        model.ask(a_question())
        next(tmp_path.glob("??/*.json")).write_bytes(b'{"model": 1}')
        with pytest.raises(UntakenError, match="reply-malformed"):
            model.ask(a_question())


def test_the_salt_is_made_once_however_many_ask_for_it(tmp_path: Path) -> None:
    salts: list[str] = []
    threads = [Thread(target=lambda: salts.append(ReplyStore(tmp_path / "s").salt)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(salts)) == 1
    assert len(salts[0]) == 32
