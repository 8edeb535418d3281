"""Agent-as-a-judge: what an answer must hold before it counts (§6).

A pass may rest on results alone, never on what somebody chose to say or to ask for. These rules are the
defence against text in a record that tries to steer a judge. They hold whatever the text says and however it
is disguised; the detector of `prompt_injection` only helps.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from hashlib import sha256
from typing import Final

from untaken.errors import Finding, Unscored, UntakenError, Where
from untaken.judging.asking import ModelAccess, ModelAnswer
from untaken.judging.asking.access import Progress
from untaken.judging.evidence import RunEvidence, is_claim
from untaken.judging.prompt_injection import addresses_judge, finding_of, texts_to_judges
from untaken.judging.questions import (
    UNSCORED_WORDS,
    Citation,
    JudgeAnswer,
    JudgeReport,
    NodeQuestion,
    NodeVerdict,
    WhyUnscored,
    described,
    questions_of,
    sub_goal_digest,
)
from untaken.judging.rendering import holds
from untaken.judging.view import record_of
from untaken.ledger import Draft, Event, Evidence, MadeWith, Run, Verdict
from untaken.plans import PlanGraph
from untaken.scoring import not_withdrawn

MIN_QUOTE: Final = 6
"""Fewest letters and digits of a quote: shorter ones occur anywhere by chance."""


def judge_run(
    run: Run,
    graph: PlanGraph,
    model: ModelAccess,
    *,
    sub_goals: Collection[str] | None = None,
    tools: bool | None = None,
    accept_claims: bool = False,
    progress: Progress | None = None,
) -> JudgeReport:
    """Ask the model about each sub-goal that no check decides; nothing is written.

    Args:
        run: an unbroken run.
        graph: its plan graph.
        model: who is asked.
        sub_goals: ids to ask about; by default those that neither a check nor `any_of` decided. A check
            overrules a judge (run scoring keeps the order of authority).
        tools: let the model read the ledger on its own; without, it sees the excerpts in the question only.
            By default wherever the model can use tools.
        accept_claims: let a pass rest on nothing but what the agent itself said.
        progress: called with (done, total, what).

    Returns:
        One verdict per sub-goal, in the order of the graph, and findings on possible prompt injections.

    Raises:
        UntakenError: ``run-broken`` for a run not to be trusted, ``sub-goal-unknown``; as `ModelAccess.ask`.
    """
    _refuse(run, graph, sub_goals)
    asked = questions_of(
        run,
        graph,
        model.replies.salt,
        sub_goals=sub_goals,
        tools=model.uses_tools if tools is None else tools,
        brief=not model.uses_tools,
    )
    answers = model.ask_all([one.question for one in asked], progress=progress)
    injections = findings_of(run)
    verdicts = tuple(
        settle(
            run, graph, one, answer, model=model.name, addressed=bool(injections), accept_claims=accept_claims
        )
        for one, answer in zip(asked, answers, strict=True)
    )
    return JudgeReport(verdicts=verdicts, findings=(*injections, *_in_graph(run, graph)))


def settle(
    run: Run,
    graph: PlanGraph,
    asked: NodeQuestion,
    answer: ModelAnswer[JudgeAnswer] | Unscored,
    *,
    model: str,
    addressed: bool = False,
    accept_claims: bool = False,
) -> NodeVerdict:
    """The verdict from an answer if its evidence is valid; otherwise unscored with the reason.

    Args:
        run: what was judged.
        graph: what it was judged against.
        asked: the question.
        answer: the model's, or why there is none.
        model: who answered.
        addressed: the record or the sub-goal may hold a prompt injection: a pass is void.
        accept_claims: as for `judge_run`.
    """
    given = answer.output if isinstance(answer, ModelAnswer) else None
    addressed = addressed or addresses_judge(described(asked.node)) is not None
    why = (
        "no_answer" if given is None else _void(run, asked, given, addressed=addressed, accept=accept_claims)
    )
    words = answer.reason if isinstance(answer, Unscored) else answer.output.reason
    reply = answer.reply if isinstance(answer, ModelAnswer) else None
    passed = None if why is not None or given is None else given.verdict == "pass"
    return NodeVerdict(
        run_id=run.run_id,
        digest=run.digest,
        graph=graph.id,
        graph_version=graph.version,
        sub_goal=asked.node.id,
        passed=passed,
        unanchored=passed is True and not asked.node.anchored,
        evidence=() if why is not None or given is None else tuple(given.evidence),
        # In these cases the words are the reason; otherwise they argue for what does not count.
        reason=words if why in (None, "no_answer", "could_not_tell") else f"{UNSCORED_WORDS[why]}: {words}",
        unscored_reason=why,
        model=model,
        template=asked.question.template.name,
        template_version=asked.question.template.version,
        prompt_sha256=asked.question.prompt_sha256,
        nonce=asked.nonce,
        raw=reply.raw if reply else "",
        made_with=MadeWith(
            model=model,
            prompt=sha256(asked.question.template.text.encode()).hexdigest(),
            sub_goal=sub_goal_digest(asked.node),
            settings=f"{'tools' if asked.question.tools else 'excerpts'}{', claims' * accept_claims}",
        ),
    )


def verdict_events(run: Run, report: JudgeReport, *, signed: str | None = None) -> tuple[Draft, ...]:
    """What to append to the run's ledger: one VERDICT for each that counts and is not there already.

    `signed` is the name after ``judge:``, by default the model's; another wording of a rubric gets its own.

    A verdict that differs from this author's latest one is appended: the latest counts.
    """
    latest = {(v.sub_goal, v.by): v.passed for v in not_withdrawn(run.of(Verdict))}
    return tuple(
        Draft(
            Verdict,
            {
                "sub_goal": verdict.sub_goal,
                "passed": verdict.passed,
                "by": author(signed or verdict.model),
                "evidence": [Evidence(seq=c.seq, quote=c.quote) for c in verdict.evidence],
                "reason": verdict.reason,
                "made_with": verdict.made_with,
            },
            run.events[-1].ts,  # so that the same verdicts give the same bytes
        )
        for verdict in report.verdicts
        if verdict.unscored_reason is None
        # Without an earlier one, the verdict itself is compared, which equals no truth value.
        and latest.get((verdict.sub_goal, author(signed or verdict.model)), verdict) != verdict.passed
    )


def author(model: str) -> str:
    """Whom VERDICT.by names for a model's verdict."""
    return f"judge:{model}"[:512]


def findings_of(run: Run) -> tuple[Finding, ...]:
    """What a reviewer should know of a run's text before trusting any judge of it."""
    return tuple(finding_of(run, found) for found in texts_to_judges(run))


def _refuse(run: Run, graph: PlanGraph, sub_goals: Collection[str] | None) -> None:
    run.refuse_broken()
    if unknown := sorted(set(sub_goals or ()) - {node.id for node in graph.sub_goals}):
        raise UntakenError(
            "sub-goal-unknown",
            f"the plan graph {graph.id!r} has no sub-goal {unknown[0]!r}",
            hint=f"It has {', '.join(repr(node.id) for node in graph.sub_goals[:8])}.",
        )


def _in_graph(run: Run, graph: PlanGraph) -> Iterator[Finding]:
    for node in graph.sub_goals:
        if quote := addresses_judge(described(node)):
            yield Finding(
                code="graph-addresses-judge",
                message=f"possible prompt injection in sub-goal {node.id!r}: {quote!r}",
                where=Where(run=run.run_id),
                hint="Describe the goal to reach. A judge's pass on it does not count.",
            )


def _void(
    run: Run, asked: NodeQuestion, given: JudgeAnswer, *, addressed: bool, accept: bool
) -> WhyUnscored | None:
    if given.code.strip() != asked.nonce:  # first of all: without it, the record may be speaking
        return "code_missing"
    if given.verdict == "unscored":
        return "could_not_tell"
    # Only a pass needs a result: of what was not done, a record shows nothing.
    passed = given.verdict == "pass"
    if passed and not given.evidence:
        return "evidence_missing"
    node, events = asked.node, record_of(run)
    claims = accept or node.evidence == "message" or any(rule.text is not None for rule in node.rules)
    if not all(_supported(events.get(cited.seq), cited) for cited in given.evidence):
        return "evidence_not_found"
    evidence = RunEvidence(events)
    shown = [c for c in given.evidence if evidence.shows(events[c.seq], c.quote, claims=claims)]
    if passed and not shown:
        return "claims_only" if all(is_claim(events[c.seq]) for c in given.evidence) else "no_result_cited"
    if passed and not any(
        evidence.is_about(events[c.seq], c.quote, node, None if accept else asked.own) for c in shown
    ):
        return "evidence_unrelated"
    # Such text asks for a pass; a fail is against it.
    return "judge_addressed" if passed and addressed else None


def _supported(event: Event | None, cited: Citation) -> bool:
    long_enough = sum(c.isalnum() for c in cited.quote) >= MIN_QUOTE
    return event is not None and long_enough and holds(event, cited.quote)
