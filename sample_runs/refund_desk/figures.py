"""What came out of the sample runs, in Markdown: the part of the folder's README that no hand writes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from untaken.analysis.ranking import RankReport, rank_agents
from untaken.counterfactual import RunEvaluation, evaluate_run
from untaken.counterfactual.memory import PolicyMemory
from untaken.errors import Score, Unscored
from untaken.ledger import Run, read_ledger
from untaken.plans import load_graph
from untaken.scoring import AgentScore, RunScore, score_agents, score_run

BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"
METRICS = ("success_rate", "coverage", "completion", "critical_completion", "completion_with_deps_all")


def figures(folder: Path) -> str:
    """All figures of the folder's ledgers."""
    runs = [run for ledger in ledgers(folder) for run in read_ledger(ledger)]
    graph = load_graph(folder / "graphs" / "refund-desk.plan.yaml")
    scores = [score_run(run, graph) for run in runs]
    memory = PolicyMemory.build(runs)
    report = rank_agents(scores)
    evaluations = [evaluate_run(run, memory) for run in runs]
    parts = (
        _agents(score_agents(scores)),
        _rankings(report),
        _contradictions(report, scores),
        _decisions(evaluations, runs),
    )
    return "\n\n".join(parts)


def ledgers(folder: Path) -> list[Path]:
    """The ledgers of the folder, by name."""
    return sorted(p for p in (folder / "ledgers").iterdir() if p.name.endswith((".jsonl", ".jsonl.gz")))


def renewed(readme: str, block: str) -> str:
    """The README with its generated part replaced."""
    head, _, rest = readme.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return f"{head}{BEGIN}\n{block}\n{END}{tail}"


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def percent(value: Score) -> str:
    """A rate as people read it."""
    return "unscored" if isinstance(value, Unscored) else f"{value:.1%}"


def _agents(agents: Sequence[AgentScore]) -> str:
    rows = [
        (
            agent.agent,
            agent.kind,
            f"{agent.successes}/{agent.outcome_runs}",
            percent(agent.coverage),
            percent(agent.completion),
            percent(agent.critical_completion),
            percent(agent.critical_path_skipped_rate),
            f"{agent.replanning_events_per_trace:.2f}",
            agent.violations,
            agent.unscored,
        )
        for agent in agents
    ]
    header = ("agent", "kind", "successes", "coverage", "completion", "critical completion")
    return table((*header, "critical path skipped", "replans a run", "violations", "unscored"), rows)


def _rankings(report: RankReport) -> str:
    order = [standing.agent for standing in report.metrics["success_rate"]]
    ranks = {m: {s.agent: s.rank for s in report.metrics[m]} for m in METRICS}
    rows = [(agent, *(ranks[metric][agent] for metric in METRICS)) for agent in order]
    rows.sort(key=lambda row: (row[1], row[0]))
    words = [
        f"- **{pair.first}** ranks above **{pair.second}** by success rate, below it by critical completion."
        for pair in report.discordant
        if (pair.a_metric, pair.b_metric) == ("success_rate", "critical_completion")
    ]
    agreement = [f"{a.b} {a.tau_b:.2f}" for a in report.agreement if a.a == "success_rate" and a.b in METRICS]
    return "\n".join(
        (
            "Ranks (1 is best):\n",
            table(("agent", *METRICS), rows),
            f"\nKendall τ-b of the outcome ranking with: {', '.join(agreement)}.\n",
            *words,
        )
    )


def _contradictions(report: RankReport, scores: Sequence[RunScore]) -> str:
    kinds = Counter((c.agent, c.kind) for c in report.contradictions)
    agents = sorted({score.agent for score in scores})
    rows = [(agent, kinds[agent, "lucky"], kinds[agent, "unlucky"]) for agent in agents]
    header = ("agent", "lucky: success without a critical sub-goal", "unlucky: failure with all completed")
    return table(header, rows)


def _decisions(evaluations: Sequence[RunEvaluation], runs: Sequence[Run]) -> str:
    status = Counter(e.code or e.status for e in evaluations)
    branches = [branch for e in evaluations for decision in e.decisions for branch in decision.branches]
    verdicts = Counter(branch.verdict for branch in branches)
    support = Counter(branch.support for branch in branches)
    unfinished = sum(run.finished is None for run in runs)
    ungraded = sum(run.finished is not None and run.finished.success is None for run in runs)
    return "\n".join(
        (
            f"Of {len(runs)} runs, {unfinished} never finished and {ungraded} were never graded.",
            f"Counterfactual evaluation: {_counts(status)}.\n",
            f"- verdicts on {len(branches)} alternatives: {_counts(verdicts)}",
            f"- support: {_counts(support)}",
        )
    )


def _counts(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {n}" for name, n in sorted(counts.items()))
