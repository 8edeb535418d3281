"""Whether a run ended because of its infrastructure, and not by what the agent did (§5)."""

from __future__ import annotations

import re
from typing import Final, Literal, get_args

from untaken.ledger.run import Run

InfrastructureKind = Literal[
    "provider", "environment", "verifier", "time_limit", "step_limit", "budget_limit", "other_limit"
]
INFRASTRUCTURE_KINDS: Final[tuple[InfrastructureKind, ...]] = get_args(InfrastructureKind)

_READ_CHARS: Final = 2_000
"""Characters of an error that are read: it may end in a whole log."""
_OWN_DOING: Final = re.compile(r"exit[ _]?(format|forfeit|error)")
"""Ways to end that an importer may write as a limit, although the agent caused them."""
_BY_ERROR: Final[tuple[tuple[InfrastructureKind, re.Pattern[str]], ...]] = (
    (
        # First: providers report a context that is too long among errors of their own.
        "budget_limit",
        re.compile(
            r"context[ _]?(length|window)|(maximum|max) (context|tokens)|prompt (is )?too long|"
            r"too many tokens"
        ),
    ),
    ("step_limit", re.compile(r"\b(max|maximum|too many)[ _-]?(steps|turns|rounds|iterations|messages)\b")),
    ("verifier", re.compile(r"verifier|reward[ _]?file|scor(er|ing) (error|failed|timed out)|grader")),
    (
        "environment",
        re.compile(
            r"infrastructure|environment[ _]?(error|start|setup|build|creation|timeout|failed)|agent ?setup|"
            r"docker|sandbox|container|kubernetes|\bpod\b|oom ?killed|out of memory|no space left|"
            r"image pull|runtime ?(disconnected|not ready|unavailable)|exit[ _]environment|"
            r"worker (died|lost|crashed)"
        ),
    ),
    (
        "provider",
        re.compile(
            r"rate[ _-]?limit|overloaded|insufficient[ _]quota|quota exceeded|service ?unavailable|"
            r"internal ?server ?error|bad ?gateway|gateway ?time-?out|authentication ?error|"
            r"\bapi ?(connection|time-?out|status|error)|invalid api key|permission ?denied ?error|"
            r"connection (error|refused|reset|aborted|closed)|remote end closed|request timed out|"
            r"provider (error|returned)|payment required|insufficient (credits?|funds|balance)|"
            r"(incorrect|missing) api key|"
            r"\b(openai|anthropic|litellm|google|groq|mistralai|bedrock|botocore)\.\w*"
            r"(error|exception|timeout)|exit[ _]api|model (is )?unavailable|"
            r"(\bhttp\b|\bstatus\b|\bcode\b|\berror\b)\W{0,3}(code\W{0,3})?(402|429|500|502|503|504|529)\b|"
            r"^\W*(429|500|502|503|504|529)\b"
        ),
    ),
    ("time_limit", re.compile(r"time[ _-]?(limit|out)|timed out|deadline")),
)
_BY_LIMIT: Final[tuple[tuple[InfrastructureKind, re.Pattern[str]], ...]] = (
    ("time_limit", re.compile(r"time|deadline|duration|working|seconds|minutes")),
    ("budget_limit", re.compile(r"token|context|cost|budget|spend|usd|price")),
    ("step_limit", re.compile(r"step|turn|message|round|iteration|cycle|action|call|stall")),
)
_WORD_ENDS: Final = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


OUTSIDE: Final[tuple[InfrastructureKind, ...]] = ("provider", "environment")
"""Endings that say nothing about the agent, whatever outcome is recorded beside them."""


def infrastructure_of(run: Run) -> InfrastructureKind | None:
    """What ended a run, where that was not the agent: its recorded `error` and `limit` say so.

    Returns:
        ``provider`` (the model's provider failed), ``environment`` (sandbox, container, memory), ``verifier``
        (the check of the outcome failed), or the limit that was reached; ``None`` for every other run.
    """
    finished = run.finished
    if finished is None or finished.success:  # an error that the agent got over ended nothing
        return None
    return infrastructure_kind(finished.error, finished.limit)


def infrastructure_kind(error: str | None, limit: str | None) -> InfrastructureKind | None:
    """What ended a run that did not succeed, by its `error` and its `limit`; see `infrastructure_of`."""
    error, limit = _spaced(error), _spaced(limit)
    if limit:
        # What the error says of a budget or of steps, the limit says itself.
        by_error = next((kind for kind, words in _BY_ERROR[2:5] if words.search(error)), None)
        return by_error or _limit(limit)
    return next((kind for kind, words in _BY_ERROR if words.search(error)), None) if error else None


def _limit(limit: str) -> InfrastructureKind | None:
    if _OWN_DOING.search(limit):
        return None
    # A whole exit status may be written as the limit: `exit_api`, `exit_environment_error`.
    named = next((kind for kind, words in _BY_ERROR[3:5] if words.search(limit)), None)
    return named or next((kind for kind, words in _BY_LIMIT if words.search(limit)), "other_limit")


def _spaced(text: str | None) -> str:
    """In small letters, names in camel case split: ``APITimeoutError`` is ``api timeout error``."""
    return _WORD_ENDS.sub(" ", (text or "")[:_READ_CHARS]).lower().strip()
