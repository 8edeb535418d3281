"""What to fix first, each with how often, how much and where; runs that contradict themselves; choices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from untaken.answers.plan_words import statement_words
from untaken.corpus import Corpus
from untaken.counterfactual.choices import Choice
from untaken.counterfactual.levels import level_words
from untaken.errors import Unscored
from untaken.fix_first import BetterWay, FixFirst, Triage
from untaken.html.markup import Markup, facts, row, run_list, run_name, section, short, table, tag
from untaken.html.summary import gain_words
from untaken.present.numbers import counted, decimal, interval, p_value, percent, signed
from untaken.present.statuses import STAR

FOCUSED: Final = 5
CONTRADICTIONS: Final = 8
CHOICES: Final = 40
NAMED: Final = 5


_UNITS: Final = (
    "For a sub-goal, the gain is the most that fixing it can achieve; for a choice, how much higher runs "
    "with another choice scored. The two kinds of gain are not directly comparable."
)


def fix_section(corpus: Corpus, found: Triage, *, full: bool) -> Markup:
    """What to fix, by expected gain."""
    every = (*found.patterns, *found.items) if full and found.by_pattern else found.shown_first
    shown = every if full else every[:FOCUSED]
    if not shown:
        why = short(found.reason, 240) or "nothing was found"
        return section("What to fix first", f"Nothing: {why}.")
    most = max(item.gain for item in shown) or 1.0
    cards = [_card(corpus, item, most, full=full) for item in shown]
    left = f" {len(every) - len(shown)} more are in the full report." if len(every) > len(shown) else ""
    if found.by_pattern:
        left = f" Sub-goals that fail alike in several tasks are taken together as one pattern.{left}"
    note = f"By expected gain: how often it happens × how much it costs when it does. {_UNITS}{left}"
    return section("What to fix first", note, tag("ol", *cards, class_="fix"))


def _card(corpus: Corpus, item: FixFirst, most: float, *, full: bool) -> Markup:
    width, height = 420, 8
    filled = max(2.0, width * max(0.0, item.gain) / most)
    bar = tag(
        "svg",
        tag("rect", x=0, y=0, width=filled, height=height, rx=4, fill="var(--accent)"),
        viewBox=f"0 0 {width} {height}",
        preserveAspectRatio="none",
        class_="bar",
        width="100%",
        aria_hidden="true",
    )
    agents = [tag("span", f"{short(a, 40)} {n}", class_="pill") for a, n in list(item.agents.items())[:4]]
    names = [corpus.runs[digest].run_id for digest in item.runs]
    return tag(
        "li",
        tag("h3", _title(item)),
        bar,
        tag("p", _often(item), " ", gain_words(item)),
        tag("p", *agents),
        run_list("Runs to look at", [[name] for name in (names if full else names[:NAMED])], len(names)),
        class_="card",
    )


def _title(item: FixFirst) -> str:
    if item.kind == "sub_goal":
        return short(item.title or item.sub_goal, 120) + (f" {STAR}" if item.critical else "")
    return f"The choice of {short(item.selected, 60)} over {short(item.alternative, 60)}"


def _often(item: FixFirst) -> str:
    often = item.often
    share = f"{often.count:,} of {often.n:,}"
    span = f"{percent(often.share)}, 95% interval {interval(often.low, often.high, percent)}"
    if item.kind == "sub_goal":
        unknown = f" {item.unknown:,} more have no evidence for it." if item.unknown else ""
        return f"Fails first in {share} scored runs ({span}).{unknown}"
    where = f" in the situation “{situation(item.context)}”" if item.context else ""
    return f"Made{where} in {share} evaluated runs ({span}); runs with another choice succeeded more often."


def contradictions_section(corpus: Corpus, found: Triage, *, full: bool) -> Markup | None:
    """Runs whose outcome and sub-goals disagree, largest effect first."""
    every = found.contradictions
    if not every:
        return None
    shown = every if full else every[:CONTRADICTIONS]
    rows = [
        row(
            run_name(c.run_id),
            short(c.agent, 40),
            short(c.task_id, 60),
            "succeeded" if c.kind == "lucky" else "failed",
            _despite(corpus, c.digest, c.sub_goals),
        )
        for c in shown
    ]
    lucky = sum(c.kind == "lucky" for c in every)
    note = (
        f"{counted(lucky, 'run')} succeeded with a critical sub-goal not completed; {len(every) - lucky} "
        "failed with all sub-goals completed"
        ". In these runs, either the outcome or "
        "the plan graph is wrong."
    )
    heads = ("run", "agent", "task", "the outcome says", "the sub-goals say")
    caption = f"The {len(shown)} largest of {len(every)}" if len(shown) < len(every) else f"All {len(every)}"
    return section("Contradictory runs", note, table(heads, rows, caption))


def _despite(corpus: Corpus, digest: str, sub_goals: Sequence[str]) -> str:
    score = corpus.scores[digest]
    titles = {} if isinstance(score, Unscored) else {n.sub_goal: n.title or n.sub_goal for n in score.results}
    named = ", ".join(short(titles.get(goal, goal), 60) for goal in sub_goals[:3])
    more = f" and {len(sub_goals) - 3} more" if len(sub_goals) > 3 else ""
    return f"undone: {named}{more}" if sub_goals else "everything completed"


def choices_section(corpus: Corpus) -> Markup | None:
    """Choices over all runs, with the history of the alternative."""
    made = [c for c in corpus.choices if not isinstance(c.advantage, Unscored)]
    if not made:
        return None
    shown = made[:CHOICES]
    note = (
        "A choice is one skill taken and another left, in one situation. Advantage: the score of the "
        "alternative's history minus that of the skill taken (from −1 to +1), with its 95% interval. Only "
        "supported ones are more than a hint, and all are associations: runs may differ in other ways, too."
    )
    heads = ("taken", "not taken", "situation", "made in, histories", "advantage", "what differs", "support")
    caption = (
        f"The first {len(shown)} of {len(made)}"
        if len(shown) < len(made)
        else f"All {len(made)} that have an advantage"
    )
    return section("Choices and their alternatives", note, table(heads, map(_choice, shown), caption))


def _choice(choice: Choice) -> Markup:
    runs = counted(len({point.run for point in choice.points}), "run")
    level = level_words(choice.level, choice.levels)
    histories = f"{choice.n_selected} taken, {choice.n_alternative} not" + (f"; {level}" if level else "")
    return tag(
        "tr",
        tag("td", short(choice.selected, 60), class_="break"),
        tag("td", short(choice.alternative, 60), class_="break"),
        tag("td", situation(choice.context or choice.context_hash), class_="break"),
        tag("td", runs, facts(histories)),
        tag(
            "td",
            signed(choice.advantage),
            facts(interval(choice.low, choice.high, signed, unknown="no interval")),
        ),
        tag("td", tag("strong", _called(choice)), tag("br"), short(choice.parts.words, 160)),
        tag("td", short(f"{choice.support}: {choice.support_reason}", 160)),
    )


def _called(choice: Choice) -> str:
    if not choice.succeeds or isinstance(choice.q, Unscored):
        return choice.called
    return f"{choice.called} ({p_value(choice.q, 'q')} among {choice.q_family})"


def situation(context: str) -> str:
    """A context as people write it: ``step policy, goods special``; anything else as it was recorded."""
    try:
        known = msgspec.json.decode(context, type=dict[str, str | int | float | bool | None])
    except (msgspec.DecodeError, ValueError):
        return short(context, 120)
    return short(", ".join(f"{key} {value}" for key, value in known.items()) or context, 120)


def better_ways_section(corpus: Corpus, ways: Sequence[BetterWay], *, full: bool) -> Markup | None:
    """Supported statements whose worse option failed runs took; nothing if there is none."""
    if not ways:
        return None
    shown = ways if full else ways[:FOCUSED]
    left = f" {len(ways) - len(shown)} more are in the full report." if len(ways) > len(shown) else ""
    plans = corpus.plans
    shuffled = plans.shuffled_supported_share
    chance = f" With shuffled outcomes, {percent(shuffled, 1)} are." if isinstance(shuffled, float) else ""
    note = (
        "Other options taken by runs of the same task in the same plan state, by expected gain. Each "
        f"failed run counts once. {plans.supported:,} of {plans.alternatives:,} alternatives are "
        f"supported.{chance} These are associations.{left}"
    )
    listed = tag("ol", *(_way(corpus, way, full=full) for way in shown), class_="fix")
    return section("Where another option succeeded more often", note, listed)


def _way(corpus: Corpus, way: BetterWay, *, full: bool) -> Markup:
    digests = [digest for digest, _ in way.runs]
    named = digests if full else digests[:NAMED]
    took = f"{counted(way.often.count, 'failed run')} of {way.often.n:,} took the other way"
    return tag(
        "li",
        tag("p", short(statement_words(way.statement), 500)),
        tag(
            "p", f"{took}: gain {decimal(way.gain, 3)}, 95% interval {interval(way.low, way.high, digits=3)}."
        ),
        run_list("Runs to look at", [[corpus.runs[d].run_id] for d in named], len(digests)),
        class_="card",
    )
