"""The runs that matter, by pattern: one picture for all runs that went the same way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from untaken.analysis import Corpus
from untaken.errors import Unscored, first_few
from untaken.numbers import counted
from untaken.plans import PlanGraph
from untaken.scoring import NodeResult, RunScore
from untaken.views.html.markup import Markup, row, run_list, section, short, table, tag, together
from untaken.views.html.plan_picture import Picture, described, legend, plan_picture
from untaken.views.review import OrderedRun, ReviewKind, review_order
from untaken.views.statuses import STAR, STATUS, StatusName, shown_status

FOCUSED: Final = 4
"""Patterns in the focused report."""
NAMED: Final = 5
HALF, WHOLE = 620.0, 1340.0
"""Pixels that fit, slightly reduced, into one of two columns and into the page; wider pictures scroll."""
PICTURES: Final = 250
"""Patterns to draw; rarer ones are described in words, to keep the file small."""
UNFOLDED: Final = 12
"""Pictures that are open initially; the others are collapsed."""


class RunPattern(Struct, frozen=True, kw_only=True):
    """Runs of one plan graph with one outcome and one status for every sub-goal.

    Attributes:
        example: the score of the first of them; every other one has the same picture.
        runs: in the order of review.
    """

    kind: ReviewKind
    graph: PlanGraph
    example: RunScore
    runs: tuple[OrderedRun, ...]

    @property
    def undone(self) -> tuple[NodeResult, ...]:
        """The critical sub-goals known not to be completed; if there is none, any such sub-goals."""
        nodes = [n for n in self.example.results if n.completed is False and n.status != "not_required"]
        return tuple(n for n in nodes if n.critical) or tuple(nodes)


def run_patterns(corpus: Corpus) -> tuple[RunPattern, ...]:
    """Every pattern that needs a look: outcome and sub-goals disagree, or the run failed; most runs first."""
    found: dict[object, list[OrderedRun]] = {}
    for item in review_order(corpus):
        score = corpus.scores[item.digest]
        if item.failing and isinstance(score, RunScore) and score.results:
            statuses = tuple((node.sub_goal, shown_status(node)) for node in score.results)
            # Violations are drawn as lines: with others, equal statuses give another picture.
            reached = frozenset((v.sub_goal, v.dependency) for v in score.violations if v.kind == "critical")
            key = (item.kind, score.graph_id, score.graph_version, statuses, reached)
            found.setdefault(key, []).append(item)
    made = (_pattern(corpus, items) for items in found.values())
    return tuple(
        sorted(
            (pattern for pattern in made if pattern is not None),
            key=lambda c: (-len(c.runs), -c.runs[0].weight, c.runs[0].agent, c.runs[0].digest),
        )
    )


def _pattern(corpus: Corpus, items: Sequence[OrderedRun]) -> RunPattern | None:
    run, score = corpus.runs[items[0].digest], corpus.scores[items[0].digest]
    graph, _ = corpus.graphs.for_task(run.task_id, run.started.graph)
    if isinstance(score, Unscored) or isinstance(graph, Unscored):
        return None
    return RunPattern(kind=items[0].kind, graph=graph, example=score, runs=tuple(items))


def patterns_to_show(found: Sequence[RunPattern]) -> tuple[RunPattern, ...]:
    """The most frequent ones, of contradictions and of failures as many as there are, by turns."""
    contradicting = [c for c in found if c.kind in ("lucky", "unlucky")]
    failed = [c for c in found if c.kind not in ("lucky", "unlucky")]
    first = max(FOCUSED // 2, FOCUSED - len(failed))  # half, and what failures leave free
    return (*contradicting[:first], *failed[: FOCUSED - min(first, len(contradicting))])


def patterns_section(corpus: Corpus, *, full: bool) -> Markup | None:
    """The pictures with their legend, or ``None`` where nothing went wrong."""
    found = run_patterns(corpus)
    shown = found if full else patterns_to_show(found)
    if not shown:
        return None
    runs, seen = sum(len(c.runs) for c in found), sum(len(c.runs) for c in shown)
    of_all = "all of them" if seen == runs else f"{seen} of {runs}"
    note = (
        "Each picture is a plan graph: what should have happened, top to bottom, coloured by status. "
        "Runs with the same statuses share a picture. "
        f"{counted(runs, 'run')} failed or contradictory; shown: {of_all}."
    )
    counts: Counter[StatusName] = Counter(
        shown_status(node) for pattern in shown for node in pattern.example.results
    )
    critical = any(node.critical for pattern in shown for node in pattern.example.results)
    violated = any(v.kind == "critical" for pattern in shown for v in pattern.example.violations)
    cards = [_card(pattern, number, full=full) for number, pattern in enumerate(shown, start=1)]
    return section(
        "Failed and contradictory runs",
        note,
        legend(counts, critical=critical, violated=violated),
        tag("div", *cards, class_="patterns"),
    )


def _card(pattern: RunPattern, number: int, *, full: bool) -> Markup:
    drawable = number <= PICTURES
    picture = plan_picture(pattern.graph, pattern.example, name=f"plan-{number}") if drawable else None
    return tag(
        "article",
        tag("h3", headline(pattern)),
        tag("p", _who(pattern), class_="facts"),
        _drawn(pattern, picture, folded=number > UNFOLDED),
        _by_sub_goal(pattern),
        run_list(
            "Which runs",
            [(run.run_id, f" on {short(run.task_id)}") for run in pattern.runs[: None if full else NAMED]],
            len(pattern.runs),
        ),
        class_="card wide" if picture and picture.width > HALF else "card",
    )


def _drawn(pattern: RunPattern, picture: Picture | None, *, folded: bool) -> Markup:
    if picture is None:
        return tag("p", described(pattern.graph, pattern.example), class_="facts")
    scroll = "scroll wide" if picture.width > WHOLE else "scroll"
    figure = tag("figure", tag("div", picture.svg, class_=scroll))
    return tag("details", tag("summary", "The picture"), figure) if folded else figure


def headline(pattern: RunPattern) -> str:
    """The pattern in a few words."""
    undone = _listed([node.title or node.sub_goal for node in pattern.undone])
    if pattern.kind == "unlucky":
        return "Failed, with every sub-goal completed"
    begin = {"lucky": "Succeeded", "failed": "Failed"}.get(pattern.kind, "No outcome recorded;")
    return f"{begin} without: {undone}" if undone else f"{begin} and nothing is known to be missing"


def _listed(titles: Sequence[str], most: int = 2) -> str:
    return first_few([short(title, 50) for title in titles], most)


def _who(pattern: RunPattern) -> Markup:
    agents = Counter(item.agent for item in pattern.runs).most_common()
    named = [tag("span", f"{short(agent, 40)} {count}", class_="pill") for agent, count in agents[:4]]
    more = [tag("span", f"{len(agents) - 4} more agents", class_="pill")] if len(agents) > 4 else []
    noun = "run" if len(pattern.runs) == 1 else "runs"
    return together(tag("strong", f"{len(pattern.runs)} {noun} "), *named, *more)


def _by_sub_goal(pattern: RunPattern) -> Markup:
    first = pattern.runs[0]
    rows = [
        row(
            "{0.icon} {0.word}".format(STATUS[shown_status(node)]),
            short(node.reason, 300),
            head=short(node.title or node.sub_goal, 120) + (f" {STAR}" if node.critical else ""),
        )
        for node in pattern.example.nodes
    ]
    caption = f"In run {short(first.run_id)} on task {short(first.task_id)}"
    made = table(("sub-goal", "status", "reason"), rows, caption, class_="scroll")
    return tag("details", tag("summary", "Sub-goal by sub-goal"), made)
