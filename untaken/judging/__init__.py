"""Agent-as-a-judge on the plan: one localised question a sub-goal, with evidence that is checked (§6)."""

from untaken.judging.addressing import Addressing, addresses_judge, texts_to_judges
from untaken.judging.judge import judge_run, questions_of, settle, verdict_events
from untaken.judging.model import Citation, JudgeAnswer, JudgeReport, NodeVerdict, WhyUnscored

__all__ = [
    "Addressing",
    "Citation",
    "JudgeAnswer",
    "JudgeReport",
    "NodeVerdict",
    "WhyUnscored",
    "addresses_judge",
    "judge_run",
    "questions_of",
    "settle",
    "texts_to_judges",
    "verdict_events",
]
