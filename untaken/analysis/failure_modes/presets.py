"""Failure modes to start from, in our own words, after two published taxonomies.

- ``mast``: the 14 failure modes of multi-agent systems of Cemri et al. 2025 (MAST, arXiv 2503.13657).
- ``agentrx``: the nine failure categories of Barke et al. 2026 (AgentRx, arXiv 2602.02475).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from untaken.analysis.failure_modes.failure_mode import FailureMode

Preset = Literal["mast", "agentrx"]

_MAST: Final = (
    ("task-constraint-ignored", "Task constraint ignored",
     "The result breaks a requirement or limit that the task states."),
    ("role-exceeded", "Role exceeded",
     "An agent does work that belongs to another role, or decides what its role may not decide."),
    ("step-repeated", "Step repeated",
     "Work that is already done is done again, without a new reason."),
    ("history-lost", "History lost",
     "The agent continues as if earlier parts of the conversation had not happened."),
    ("end-not-recognised", "End not recognised",
     "The condition to stop is met, or can no longer be met, and the run goes on."),
    ("conversation-restarted", "Conversation restarted",
     "The dialogue starts over without cause, and what was agreed is gone."),
    ("no-clarification", "No clarification asked",
     "The request is unclear or contradictory, and the agent proceeds on a guess."),
    ("off-task", "Off task",
     "The work drifts away from what was asked for."),
    ("information-withheld", "Information withheld",
     "An agent knows something that another one needs, and does not pass it on."),
    ("input-ignored", "Input ignored",
     "Advice, data or a correction from another agent or the user is received and not used."),
    ("reasoning-action-mismatch", "Reasoning and action differ",
     "The agent concludes one thing and does another."),
    ("ended-too-early", "Ended too early",
     "The run stops before its goal is reached or the needed information is exchanged."),
    ("result-not-checked", "Result not checked",
     "The result is handed over without a check, or with one that leaves out what matters."),
    ("check-wrong", "Check wrong",
     "A check was made, and it accepts a wrong result or rejects a right one."),
)  # fmt: skip
_AGENTRX: Final = (
    ("instruction-not-followed", "Instruction or plan not followed",
     "The agent skips a step that an instruction, policy or plan requires, or adds one that it rules out."),
    ("information-invented", "Information invented",
     "The agent states or uses something that neither the user nor any tool result contains."),
    ("invalid-call", "Invalid tool call",
     "A call is malformed, lacks an argument, or has arguments that the tool cannot accept."),
    ("tool-output-misread", "Tool output misread",
     "The result of a call is right, and the agent draws a wrong conclusion from it."),
    ("wrong-plan", "Plan does not fit the request",
     "The agent misunderstands the goal or its constraints, and plans for something else."),
    ("request-unclear", "Request unclear",
     "The user did not give what was needed to do the task right."),
    ("request-unsupported", "Request not supported",
     "No available tool can do what is asked for."),
    ("guardrail-triggered", "Guardrail triggered",
     "A safety rule or an access restriction blocked the work."),
    ("system-failure", "System failure",
     "A tool, service or connection failed, and not because of the agent."),
)  # fmt: skip
PRESETS: Final[dict[Preset, Sequence[tuple[str, str, str]]]] = {"mast": _MAST, "agentrx": _AGENTRX}
TITLES: Final[dict[Preset, str]] = {
    "mast": "MAST: 14 modes of multi-agent systems",
    "agentrx": "AgentRx: 9 categories of tool-using agents",
}


def preset_modes(preset: Preset) -> tuple[FailureMode, ...]:
    """The modes of a preset, for `import_modes`."""
    return tuple(
        FailureMode(id=id_, name=name, definition=definition, origin=preset)
        for id_, name, definition in PRESETS[preset]
    )
