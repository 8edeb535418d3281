"""One way to a language model: any provider, an address, the packaged model, or recorded replies alone."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Condition
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

import msgspec
from msgspec.structs import replace

from untaken.errors import Unscored, UntakenError
from untaken.extras import extra_missing
from untaken.judging.asking.question import LOCAL, REQUESTS, ModelAnswer, Question, T, Unreached
from untaken.judging.asking.replies import Reply, ReplyStore, public_name

if TYPE_CHECKING:
    from pydantic_ai.models import Model

    from untaken.judging.asking.engine import Engine

SETTING: Final = "UNTAKEN_MODEL"
"""Environment variable that names the model."""
AT_ONCE: Final = 4
"""Requests under way at one time; the packaged model answers one at a time."""
IN_A_ROW: Final = 3
"""Failures to reach the model after which it is left alone."""

Progress = Callable[[int, int, str], None]


class Spent(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked and what it cost so far.

    Attributes:
        answered: questions with an answer; `from_store` of them without asking.
        unanswered: questions without one; `why` the last of them has none.
        requests, input_tokens, output_tokens: sent to the model now, not counting what the store gave.
    """

    answered: int = 0
    from_store: int = 0
    unanswered: int = 0
    why: str = ""
    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0


class ModelAccess:
    """Asks typed questions of one model, keeps every reply, and asks nothing twice.

    A context manager: the connection is opened when a question first needs it, and closed at the end.
    """

    def __init__(
        self,
        model: str | Model | None,
        replies: ReplyStore,
        *,
        budget: int | None = None,
        offline: bool = False,
    ) -> None:
        """Access to a model.

        Args:
            model: ``provider:name`` as the provider calls it (its key in the provider's own environment
                variable), an OpenAI-compatible address ``http://host:port/v1#name``, ``local`` for the
                packaged model, or a model object; ``None`` takes the environment's ``UNTAKEN_MODEL``.
            replies: where replies are kept and looked up.
            budget: most requests that may be sent; ``None`` for no limit.
            offline: never ask: what the store does not hold is unscored.

        Raises:
            UntakenError: ``model-not-named`` where neither `model` nor the environment names one.
        """
        chosen = os.environ.get(SETTING) if model is None else model
        if not chosen:
            raise UntakenError(
                "model-not-named",
                "no language model configured",
                hint=f"Set {SETTING}, for example to openai:gpt-4.1 or http://127.0.0.1:8080/v1#name.",
            )
        self.name: str = public_name(chosen) if isinstance(chosen, str) else chosen.model_name
        self.replies = replies
        self._model, self._budget, self._offline = chosen, budget, offline
        self._engine: Engine | None = None
        self._spent, self._down, self._under_way = Spent(), 0, 0
        self._lock = Condition()

    @property
    def spent(self) -> Spent:
        """What was asked so far, and what it cost."""
        return self._spent

    @property
    def uses_tools(self) -> bool:
        """Whether the model can be expected to call tools: the packaged one is too small."""
        return self.name != LOCAL

    def ask(self, question: Question[T]) -> ModelAnswer[T] | Unscored:
        """The answer, from the store where it was given before.

        An answer that never came in the form asked for is unscored, and so is one that the budget or the
        connection did not allow; the latter two are asked again next time.

        Raises:
            UntakenError: ``model-unknown``, ``model-key-missing``, ``model-extra-missing`` for errors that a
            retry cannot fix; ``reply-malformed`` from the store.
        """
        key = question.key(self.name)
        kept = self.replies.get(key)
        reply = kept or self._send(question)
        if isinstance(reply, Reply) and kept is None:
            self.replies.put(key, reply)
        answer = (
            reply if isinstance(reply, Unscored) else _answer(question, reply, from_store=kept is not None)
        )
        self._count(answer)
        return answer

    def ask_all(
        self,
        questions: Iterable[Question[T]],
        *,
        progress: Progress | None = None,
    ) -> list[ModelAnswer[T] | Unscored]:
        """The answers, in the order of the questions, several asked at once.

        Where one cannot be asked at all, or the work is cancelled, those that wait are not asked any more.

        Args:
            questions: any number.
            progress: called with (done, total, what) after each.

        Raises:
            UntakenError: as `ask`.
        """
        asked: Sequence[Question[T]] = list(questions)
        answers: list[ModelAnswer[T] | Unscored] = []
        pool = ThreadPoolExecutor(max_workers=1 if self.name == LOCAL else AT_ONCE)
        try:
            for answer in pool.map(self.ask, asked):
                answers.append(answer)
                if progress is not None:  # from here, not from a worker: no other thread may draw a page
                    progress(len(answers), len(asked), f"asking {self.name}")
        finally:
            pool.shutdown(wait=False, cancel_futures=True)  # who cancels does not wait for a slow model
        return answers

    def close(self) -> None:
        """Close the connection, and stop the packaged model where it runs."""
        self.__exit__(None, None, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        engine, self._engine = self._engine, None
        if engine is not None:
            engine.__exit__(kind, error, trace)

    def _send(self, question: Question[Any]) -> Reply | Unscored:
        if self._offline:
            return Unscored(
                f"no reply of {self.name} to this question is recorded, and requests are disabled"
            )
        with self._lock:
            room = self._room()
            if isinstance(room, Unscored):
                return room
            if self._engine is None:
                self._engine = _start(self._model)
            engine = self._engine
            # Reserved before it is sent: questions asked at once would else each spend the same budget.
            self._under_way += room
        reply: Reply | Unscored | None = None
        try:
            reply = engine.answer(question, self.name, requests=room)
            return reply
        finally:
            with self._lock:
                self._under_way -= room
                # Any answer shows that it can be reached.
                self._down = self._down + 1 if isinstance(reply, Unreached) else 0
                if isinstance(reply, Reply):
                    paid = ("requests", "input_tokens", "output_tokens")
                    self._add(**{name: getattr(reply, name) for name in paid})
                self._lock.notify_all()

    def _room(self) -> int | Unscored:
        """Requests that a question may cost: what is left beside those under way; waits for these."""
        while True:
            if self._down >= IN_A_ROW:
                return Unscored(
                    f"{self.name} could not be reached {IN_A_ROW} times in a row; no further requests are "
                    "sent"
                )
            if self._budget is None:
                return REQUESTS
            left = self._budget - self._spent.requests
            if left <= 0:
                return Unscored(f"the budget of {self._budget} requests is used up")
            if left > self._under_way:
                return min(REQUESTS, left - self._under_way)
            self._lock.wait()  # what is under way may use less than was reserved for it

    def _count(self, answer: ModelAnswer[Any] | Unscored) -> None:
        with self._lock:
            if isinstance(answer, Unscored):
                self._add(unanswered=1)
                self._spent = replace(self._spent, why=answer.reason)
            else:
                self._add(answered=1, from_store=int(answer.from_store))

    def _add(self, **more: int) -> None:
        now = self._spent
        self._spent = replace(now, **{name: getattr(now, name) + number for name, number in more.items()})


def _answer(question: Question[T], reply: Reply, *, from_store: bool) -> ModelAnswer[T] | Unscored:
    if reply.prompt_sha256 != question.prompt_sha256:  # a file that was copied or renamed by hand
        return Unscored("the recorded reply belongs to another question")
    if reply.failure:
        return Unscored(reply.failure)
    try:
        output = msgspec.convert(reply.output, question.output)
    except msgspec.ValidationError as error:
        return Unscored(f"the recorded reply has an unexpected format: {error}")
    return ModelAnswer(output=output, reply=reply, from_store=from_store)


def _start(model: str | Model) -> Engine:
    try:
        from untaken.judging.asking.engine import Engine  # noqa: PLC0415 (slow, and an extra)
    except ImportError as error:
        needed = f"asking a language model needs more packages ({error.name} is not installed)"
        raise extra_missing("model-extra-missing", "judge", needed) from error
    return Engine(model)
