"""DevAI files: plans (task instances) and verdict sheets, recognised by folder or content."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, Final

import msgspec

from untaken import limits
from untaken.plans import Check, PlanGraph, SubGoal
from untaken.traces.graphs import task_globs
from untaken.traces.losses import FileLog, Findings, clip
from untaken.traces.readings import cut_name, items, objects, text, truth

_JUDGE: Final = re.compile(r"(.+)_as_a_judge", re.IGNORECASE)
_NO_AGENTS: Final = frozenset({"judgment", "judgement", "judgments", "judgements", "benchmark"})
_TITLE_CHARS: Final = 90
CONSENSUS: Final = "human:consensus"
UNRECORDED: Final = "judge:unrecorded"


class Hint(msgspec.Struct, frozen=True, kw_only=True):
    """What the folders say: whose run it is, and whose verdict (a `VERDICT.by`)."""

    kind: str | None = None
    agent: str | None = None
    by: str | None = None


class DevAIRequirement(msgspec.Struct, frozen=True, kw_only=True):
    """One requirement; `passed` is the verdict on a verdict sheet."""

    id: str
    prerequisites: tuple[str, ...]
    criteria: str
    category: str | None
    passed: bool | None


class Sheet(msgspec.Struct, frozen=True, kw_only=True):
    """A plan or a verdict sheet: the same record, without or with verdicts; `log` is of its file."""

    task: str
    log: FileLog
    digest: str
    requirements: Mapping[str, DevAIRequirement]
    metadata: Mapping[str, Any]
    record: Mapping[str, Any]
    executed: bool | None
    all_requirements: bool | None
    all_preferences: bool | None
    is_human: bool
    is_judged: bool


def hint_of(folders: Sequence[str]) -> Hint:
    """What ``judgment/<Agent>/human_as_a_judge`` and its like say."""
    for index in reversed(range(len(folders))):  # the nearest folder counts
        judge = _JUDGE.fullmatch(folders[index])
        if judge:
            before = folders[index - 1] if index else ""
            agent = before if before and before.lower() not in _NO_AGENTS else None
            within = "/".join(folders[index + 1 :])
            human = judge.group(1).lower() == "human"
            # Each person may have a folder inside.
            by = f"human:{within or 'consensus'}" if human else f"judge:{'/'.join(folders[index:])}"
            return Hint(kind="verdicts", agent=agent, by=cut_name(by))
        if folders[index].lower() == "trajectories":
            return Hint(kind="trajectory", agent=next(iter(folders[index + 1 :]), None))
        if folders[index].lower() == "instances":
            return Hint(kind="plan")
    return Hint()


def read_sheet(record: Mapping[str, Any], task: str, log: FileLog) -> Sheet:
    """A plan or verdict sheet."""
    requirements: dict[str, DevAIRequirement] = {}
    for position, entry in enumerate(objects(record.get("requirements"))):
        read = _requirement(entry, position, log)
        if read.id in requirements:
            message = f"requirement {clip(read.id)} is listed twice; the first is used"
            log.findings.add("duplicate-requirement", message)
        else:
            requirements[read.id] = read
    flags = {
        key: truth(record.get(key), log.findings, key)
        for key in ("executed_successfully", "satisfied_all_requirements", "satisfied_all_preferences")
    }
    judged = any(one.passed is not None for one in requirements.values())
    return Sheet(
        task=task,
        log=log,
        digest=sha256(msgspec.json.encode(record)).hexdigest(),
        requirements=requirements,
        metadata=_metadata(record),
        record=record,
        executed=flags["executed_successfully"],
        all_requirements=flags["satisfied_all_requirements"],
        all_preferences=flags["satisfied_all_preferences"],
        is_human=any(key in record for key in flags),  # judges say nothing of a run as a whole
        is_judged=judged or flags["executed_successfully"] is not None,
    )


def plan_graph(sheet: Sheet, findings: Findings) -> PlanGraph:
    """The plan graph of a task: a sub-goal a requirement, in need of a recorded verdict."""
    deps = _acyclic(_known(sheet, findings), findings)
    return PlanGraph(
        id=cut_name(f"devai-{sheet.task}"),
        title=clip(sheet.task.replace("_", " "), limits.NAME_CHARS),
        tasks=task_globs(sheet.task),
        # None is critical: DevAI does not say which are.
        sub_goals=[_sub_goal(one, deps[one.id]) for one in sheet.requirements.values()],
        metadata={
            "format": "devai",
            **({} if sheet.requirements else {"nothing_expected": True}),
            **sheet.metadata,
        },
    )


def sub_goal_id(requirement_id: str) -> str:
    """The id of the sub-goal for a requirement, e.g. ``R3``."""
    return cut_name(f"R{requirement_id}")


def _requirement(entry: Mapping[str, Any], position: int, log: FileLog) -> DevAIRequirement:
    given = text(entry.get("requirement_id"))
    if given is None:
        log.findings.add("missing-requirement-id", f"requirement {position} has no id; its position is used")
        log.synthesised["sub_goal.id"] += 1
    prerequisites = [text(one) for one in items(entry.get("prerequisites"))]
    return DevAIRequirement(
        id=given or str(position),
        prerequisites=tuple(dict.fromkeys(one for one in prerequisites if one is not None)),
        criteria=text(entry.get("criteria")) or "",
        category=text(entry.get("category")),
        passed=truth(entry.get("satisfied"), log.findings, "requirements[].satisfied"),
    )


def _metadata(record: Mapping[str, Any]) -> dict[str, Any]:
    metadata = {key: record.get(key) for key in ("query", "tags", "hint")}
    metadata |= {
        key: value for key, value in record.items() if key.startswith("is_") and isinstance(value, bool)
    }
    preferences = [text(one.get("criteria")) for one in objects(record.get("preferences"))]
    metadata["preferences"] = [criteria for criteria in preferences if criteria]
    return {key: value for key, value in metadata.items() if value not in (None, [], "")}


def _sub_goal(one: DevAIRequirement, deps: Sequence[str]) -> SubGoal:
    title = (
        one.criteria if len(one.criteria) <= _TITLE_CHARS else f"{one.criteria[: _TITLE_CHARS - 1].rstrip()}…"
    )
    metadata = {"requirement_id": one.id, **({"category": one.category} if one.category else {})}
    return SubGoal(
        id=sub_goal_id(one.id),
        title=title,
        description=one.criteria if title != one.criteria else "",
        deps=[sub_goal_id(dep) for dep in deps],
        check=Check(verdict=True),
        metadata=metadata,
    )


def _known(sheet: Sheet, findings: Findings) -> dict[str, list[str]]:
    """The prerequisites of each requirement, without itself and without what the plan does not hold."""
    kept: dict[str, list[str]] = {}
    for one in sheet.requirements.values():
        if one.id in one.prerequisites:
            message = (
                f"requirement {clip(one.id)} of {clip(sheet.task)} lists itself as prerequisite; dropped"
            )
            findings.add("self-prerequisite", message)
        unknown = [dep for dep in one.prerequisites if dep not in sheet.requirements]
        if unknown:
            named = clip(", ".join(unknown))
            message = (
                f"requirement {clip(one.id)} of {clip(sheet.task)} lists {named}, which does not exist; "
                "dropped"
            )
            findings.add("unknown-prerequisite", message)
        kept[one.id] = [dep for dep in one.prerequisites if dep != one.id and dep in sheet.requirements]
    return kept


def _acyclic(deps: dict[str, list[str]], findings: Findings) -> dict[str, list[str]]:
    """The prerequisites without those that would close a cycle (found depth first, in file order)."""
    done: set[str] = set()
    open_: set[str] = set()
    kept: dict[str, list[str]] = {key: [] for key in deps}
    for root, first in deps.items():
        # By hand and not by recursion, which a long chain of prerequisites would exhaust.
        stack = [(root, iter(first))] if root not in done else []
        open_.update(key for key, _ in stack)
        while stack:
            key, rest = stack[-1]
            following = next(rest, None)
            if following is None:
                stack.pop()
                open_.discard(key)
                done.add(key)
            elif following in open_:
                message = (
                    f"{clip(key)} and {clip(following)} depend on each other; that prerequisite is dropped"
                )
                findings.add("prerequisite-cycle", message)
            else:
                kept[key].append(following)
                if following not in done:
                    open_.add(following)
                    stack.append((following, iter(deps[following])))
    return kept
