"""A judge's question, answer and verdict (§6 of docs/concepts.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from untaken.errors import Finding
from untaken.ledger import MadeWith

WhyUnscored = Literal[
    "no_answer",
    "code_missing",
    "could_not_tell",
    "evidence_missing",
    "evidence_not_found",
    "claims_only",
    "no_result_cited",
    "evidence_unrelated",
    "judge_addressed",
]
"""Why a judge's word does not count; `UNSCORED_WORDS` says it in words."""

UNSCORED_WORDS: Final[dict[WhyUnscored, str]] = {
    "no_answer": "the judge gave no answer",
    "code_missing": "the answer lacks the code of its question, so it may come from the record",
    "could_not_tell": "the judge could not tell",
    "evidence_missing": "a pass needs evidence, but none was cited",
    "evidence_not_found": "quote not found in the cited event",
    "claims_only": "only messages or plans were cited; claims are not evidence",
    "no_result_cited": "no result was cited; calls, names and failed observations are not evidence of "
    "success",
    "evidence_unrelated": "the quote is from no call of this sub-goal and no field that its check reads",
    "judge_addressed": "possible prompt injection in the record, or a record too long to search for one, "
    "so a pass cannot be trusted",
}


class Citation(Struct, frozen=True, forbid_unknown_fields=True):
    """An event, and words quoted from it letter for letter."""

    seq: Annotated[int, Meta(ge=0, le=10_000_000)]
    quote: Annotated[str, Meta(max_length=160)]


class JudgeAnswer(Struct, frozen=True, forbid_unknown_fields=True):
    """The form of a judge's answer."""

    code: Annotated[str, Meta(max_length=40)]
    verdict: Literal["pass", "fail", "unscored"]
    evidence: Annotated[list[Citation], Meta(max_length=3)]
    reason: Annotated[str, Meta(max_length=240)]


class BriefCitation(Citation, frozen=True, forbid_unknown_fields=True):
    """Like `Citation`, for the packaged model."""

    quote: Annotated[str, Meta(max_length=48)]


class BriefAnswer(JudgeAnswer, frozen=True, forbid_unknown_fields=True):
    """Like `JudgeAnswer`, for the packaged model, which fills any room it is given."""

    code: Annotated[str, Meta(max_length=16)]
    evidence: Annotated[list[BriefCitation], Meta(max_length=1)]  # type: ignore[assignment]
    reason: Annotated[str, Meta(max_length=48)]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeVerdict:
    """A judge's verdict on one sub-goal of one run, with the record of how it came about.

    Attributes:
        passed: ``None`` where the judge's word does not count; then `unscored_reason` says why.
        unanchored: a pass on a sub-goal that says nothing about which results a quote must be from.
        evidence: the citations; each quote occurs in its event, or the verdict would be void.
        reason: the judge's own words, or why there is no verdict; untrusted text.
        model, template, template_version, prompt_sha256, nonce, raw: who was asked what, and the reply as it
            came. The reply store gives the same verdict again without a model.
        made_with: what a passport of this judge is bound to.
    """

    run_id: str
    digest: str
    graph: str
    graph_version: int
    sub_goal: str
    passed: bool | None
    unanchored: bool
    evidence: tuple[Citation, ...]
    reason: str
    unscored_reason: WhyUnscored | None
    model: str
    template: str
    template_version: int
    prompt_sha256: str
    nonce: str
    raw: str
    made_with: MadeWith


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeReport:
    """The verdicts on a run, and what a reviewer should know of its text."""

    verdicts: tuple[NodeVerdict, ...]
    findings: tuple[Finding, ...]
