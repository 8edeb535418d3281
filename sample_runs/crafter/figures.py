"""What came out of the sample runs of Crafter, in Markdown: the part of the README that no hand writes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from sample_runs.refund_desk.figures import ledgers, percent, table
from untaken.analysis.ranking import RankReport, rank_agents
from untaken.counterfactual import RunEvaluation, evaluate_run
from untaken.counterfactual.memory import PolicyMemory
from untaken.errors import Score, Unscored
from untaken.ledger import Run, read_ledger
from untaken.plans import load_graph
from untaken.scoring import AgentScore, score_agents, score_run
from untaken.simulator.ablation_runs import PUBLISHED, Ablation, remarks
from untaken.views import read_ablation

ABLATIONS = ("ablation.json", "ablation-collect_iron.json", "ablation-below.json")
METRICS = ("success_rate", "coverage", "completion")


def figures(folder: Path) -> str:
    """All figures of the folder's ledgers."""
    runs = [run for ledger in ledgers(folder) for run in read_ledger(ledger)]
    graph = load_graph(folder / "graphs" / "crafter.plan.yaml")
    scores = [score_run(run, graph) for run in runs]
    memory = PolicyMemory.build(runs)
    evaluations = [evaluate_run(run, memory) for run in runs]
    parts = (_agents(score_agents(scores), runs), _rankings(rank_agents(scores)), _decisions(evaluations))
    return "\n\n".join((*parts, *(_ablation(read_ablation(folder / name)) for name in ABLATIONS)))


def _agents(agents: Sequence[AgentScore], runs: Sequence[Run]) -> str:
    told = defaultdict[str, list[dict[str, float]]](list)
    for run in runs:
        assert run.finished is not None
        told[run.agent].append({**(run.finished.metrics or {}), "steps": run.finished.steps or 0})

    def mean(agent: str, name: str) -> str:
        return f"{fmean(run[name] for run in told[agent]):.1f}"

    rows = [
        (
            agent.agent,
            f"{agent.successes}/{agent.outcome_runs}",
            *(mean(agent.agent, name) for name in ("achievements", "steps", "asked_again", "revised")),
            percent(agent.coverage),
            percent(agent.completion),
            f"{agent.replanning_events_per_trace:.1f}",
        )
        for agent in agents
    ]
    means = ("achievements", "steps", "asked again", "revised")
    return table(("agent", "successes", *means, "coverage", "completion", "replans a run"), rows)


def _rankings(report: RankReport) -> str:
    order = [standing.agent for standing in report.metrics["success_rate"]]
    ranks = {m: {s.agent: s.rank for s in report.metrics[m]} for m in METRICS}
    rows = [(agent, *(ranks[metric][agent] for metric in METRICS)) for agent in order]
    rows.sort(key=lambda row: (row[1], row[0]))
    return "Ranks (1 is best):\n\n" + table(("agent", *METRICS), rows)


def _decisions(evaluations: Sequence[RunEvaluation]) -> str:
    branches = [branch for e in evaluations for decision in e.decisions for branch in decision.branches]
    status = Counter(e.code or e.status for e in evaluations)
    return "\n".join(
        (
            f"Counterfactual evaluation: {_counts(status)}.\n",
            f"- verdicts on {len(branches)} alternatives: {_counts(Counter(b.verdict for b in branches))}",
            f"- support: {_counts(Counter(b.support for b in branches))}",
        )
    )


def _ablation(found: Ablation) -> str:
    rows = [
        (
            arm.name,
            f"{arm.score:.1f} ({_range(arm.score_low, arm.score_high, 1)})",
            f"{arm.achievements:.1f}",
            f"{arm.successes}/{arm.episodes}",
            percent(arm.asked_again),
            f"{PUBLISHED[arm.name][0]} ± {PUBLISHED[arm.name][1]}",
        )
        for arm in found.arms
    ]
    differences = [
        f"- full minus {d.without}: score {d.score:+.1f} ({_range(d.score_low, d.score_high, 1)}), "
        f"achievements {d.achievements:+.2f} ({_range(d.low, d.high, 2)}), "
        f"success {d.success:+.2f} ({_range(d.success_low, d.success_high, 2)}), "
        f"the same in {d.same} of {d.worlds} worlds"
        for d in found.differences
    ]
    header = ("arm", "score (95%)", "achievements", "successes", "asked again", "published")
    words = "\n".join(f"- {line}" for line in remarks(found))
    return "\n".join(
        (f"Ablation, {found.setup.task or 'open play'}:\n", table(header, rows), "", *differences, words)
    )


def _range(low: Score, high: Score, digits: int) -> str:
    if isinstance(low, Unscored) or isinstance(high, Unscored):
        return "no interval"
    return f"{low:.{digits}f} to {high:.{digits}f}"


def _counts(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {n}" for name, n in sorted(counts.items()))
