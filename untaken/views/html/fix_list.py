"""What to fix first, each with how often, how much and where; runs that contradict themselves; choices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from untaken.analysis import Corpus, FixItem, Triage
from untaken.counterfactual import Choice, level_words
from untaken.errors import Unscored, first_few
from untaken.numbers import counted, decimal, interval, p_value, signed
from untaken.scoring import cause_words
from untaken.views.advising import Advised, AdvisedChoice
from untaken.views.html.markup import Markup, facts, row, run_list, run_name, section, short, table, tag
from untaken.views.html.summary import gain_words
from untaken.views.plan_words import groups_words
from untaken.views.review import cause_of
from untaken.views.statuses import STAR

FOCUSED: Final = 5
CONTRADICTIONS: Final = 8
CHOICES: Final = 40
NAMED: Final = 5


def fix_section(corpus: Corpus, found: Triage, *, full: bool) -> Markup:
    """What to fix, most failed runs first, and what is listed apart."""
    every = found.items
    shown = every if full else every[:FOCUSED]
    # Items that are only missed have no failed run.
    most = max((item.failed_runs for item in shown), default=0) or 1
    cards = [_card(corpus, item, found, most, full=full) for item in shown]
    left = f" {len(every) - len(shown)} more are in the full report." if len(every) > len(shown) else ""
    note = (
        f"{short(found.headline, 300)}. Each failed run counts once: where it fails first, by its log, "
        f"leaving out what successful runs leave undone as often. ✓ marks what to act on.{left}"
    )
    listed = [tag("ol", *cards, class_="fix")] if cards else []
    return section("What to fix first", note, *listed, *_apart(corpus, found, full=full))


def _card(corpus: Corpus, item: FixItem, found: Triage, most: int, *, full: bool) -> Markup:
    width, height = 420, 8
    bar = tag(
        "svg",
        tag(
            "rect",
            x=0,
            y=0,
            width=max(2.0, width * item.failed_runs / most),  # still seen where it is small
            height=height,
            rx=4,
            fill="var(--accent)",
        ),
        viewBox=f"0 0 {width} {height}",
        preserveAspectRatio="none",
        class_="bar",
        width="100%",
        aria_hidden="true",
    )
    agents = [tag("span", f"{short(a, 40)} {n}", class_="pill") for a, n in list(item.agents.items())[:4]]
    names = [corpus.runs[digest].run_id for digest in item.runs]
    mark = "✓ " if item.recommended else ""
    return tag(
        "li",
        tag("h3", mark, short(item.title, 120), f" {STAR}" if item.critical else ""),
        bar,
        tag("p", f"{_often(item, found)}: {short(item.reason, 400)}. ", gain_words(item)),
        tag("p", f"{'Recommended' if item.recommended else 'Not recommended'}: {short(item.why, 200)}.")
        if item.why
        else "",
        _example(corpus, item),
        tag("p", *agents),
        run_list("Runs to look at", [[name] for name in (names if full else names[:NAMED])], len(names)),
        class_="card",
    )


def _example(corpus: Corpus, item: FixItem) -> str:
    """What was expected and what was there, in the first of its failed runs."""
    if not item.failed_runs:
        return ""
    run = corpus.runs[item.runs[0]]
    words = cause_of(run, corpus.scores[run.digest], "failed", corpus.graphs).in_words
    return tag("p", "For example, ", run_name(run.run_id), f": {short(words, 300)}", class_="facts")


def _often(item: FixItem, found: Triage) -> str:
    missed = ""
    if item.critical and item.missed:
        missed = (
            f"Not completed in {counted(item.missed, 'run')}, {item.missed_successes:,} of them successful"
        )
    if not item.failed_runs:
        return missed or "Not completed"
    failed = f"{item.failed_runs:,} of {counted(found.failed, 'failed run', 'fail')} first here"
    return f"{failed}. {missed}" if missed else failed


def _apart(corpus: Corpus, found: Triage, *, full: bool) -> list[Markup]:
    """Failed runs and sub-goals that no item counts."""
    parts = []
    for group in found.infrastructure:
        loops = "; they may be looping" if group.kind == "step_limit" else ""
        unknown = f", {group.no_outcome:,} without an outcome" if group.no_outcome else ""
        failed = f"{counted(group.failed_runs, 'failed run')}{unknown}{loops}"
        words = f"Ended by {group.kind.replace('_', ' ')}: {failed}"
        parts.append((words, group.runs))
    if found.unscored_failed_runs:
        parts.append(
            (
                f"{counted(len(found.unscored_failed_runs), 'failed run')} not scored",
                found.unscored_failed_runs,
            )
        )
    made = []
    for words, digests in parts:
        names = [[corpus.runs[digest].run_id] for digest in (digests if full else digests[:NAMED])]
        made.append(run_list(words, names, len(digests)))
    for one in found.left_out:
        if one.doubt:
            made.append(tag("p", f"Not counted as a failure: {short(one.doubt_words, 300)}"))
    return made


def causes_section(found: Triage, *, full: bool) -> Markup | None:
    """What failed runs have in common; nothing if there is none."""
    if not found.causes:
        return None
    shown = found.causes if full else found.causes[:CONTRADICTIONS]
    rows = [
        row(
            f"{len(cause.runs):,}",
            short(cause.sub_goal, 80) + (f" {STAR}" if cause.critical else ""),
            short(cause_words(cause), 300),
        )
        for cause in shown
    ]
    note = (
        "In at least 3 failed runs of 2 tasks. “Elsewhere” are runs that passed the same sub-goal and called "
        "the same tool. p is exact, adjusted for the number of values tried."
    )
    caption = f"{len(shown)} of {counted(len(found.causes), 'cause')}"
    return section(
        "Why they fail there", note, table(("failed runs", "fails first at", "cause"), rows, caption)
    )


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
    named = [short(titles.get(goal, goal), 60) for goal in sub_goals]
    return f"undone: {first_few(named, 3)}" if sub_goals else "everything completed"


def choices_section(corpus: Corpus) -> Markup | None:
    """Choices over all runs, with the history of the alternative."""
    made = [c for c in corpus.choices.listed if not isinstance(c.advantage, Unscored)]
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
    runs = counted(choice.points.runs, "run")
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


def advised_section(corpus: Corpus, choices: Advised, *, full: bool) -> Markup | None:
    """Choices that succeeded more often, then what is only cheaper; nothing if there is neither."""
    if not choices.choices and not choices.cheaper:
        return None
    shown = choices.choices if full else choices.choices[:FOCUSED]
    left = len(choices.choices) - len(shown)
    more = f" {left} more are in the full report." if left else ""
    note = (
        "By success alone, inside one task and agent, most gain first. ✓ marks what may be followed. These "
        f"are associations: runs may differ in other ways, too.{_plan_groups(corpus)}{more}"
    )
    listed = [tag("ol", *(_advised(corpus, one, full=full) for one in shown), class_="fix")] if shown else []
    return section("Choices that succeeded more often", note, *listed, *_cheaper(choices, full=full))


def _plan_groups(corpus: Corpus) -> str:
    return f" Of plan decisions: {groups_words(corpus.plans)}." if corpus.plans.supported else ""


def _advised(corpus: Corpus, one: AdvisedChoice, *, full: bool) -> Markup:
    digests = [digest for digest, _ in one.runs]
    named = digests if full else digests[:NAMED]
    caution = [tag("p", tag("strong", f"{short(one.cautions or one.reason, 300)}."))] if one.reason else []
    where = f" ({situation(one.context)})" if one.context else ""
    gain = f"gain {decimal(one.gain, 3)}, 95% interval {interval(one.gain_low, one.gain_high, digits=3)}"
    return tag(
        "li",
        *caution,
        tag(
            "p",
            "✓ " if one.recommended else "",
            f"{short(one.selected, 80)} → {short(one.alternative, 80)}{where}: {short(one.words, 500)}",
        ),
        tag("p", f"Taken in {one.often.count:,} of {counted(one.often.n, 'run')}: {gain}."),
        run_list("Runs to look at", [[corpus.runs[d].run_id] for d in named], len(digests)),
        class_="card",
    )


def _cheaper(choices: Advised, *, full: bool) -> list[Markup]:
    if not choices.cheaper:
        return []
    shown = choices.cheaper if full else choices.cheaper[:FOCUSED]
    rows = [
        row(
            short(one.selected, 60),
            short(one.alternative, 60),
            situation(one.context or one.context_hash),
            short(one.words, 300),
            f"{len(one.runs):,}",
        )
        for one in shown
    ]
    heads = ("taken", "cheaper or shorter", "situation", "what differs", "runs")
    return [table(heads, rows, f"Cheaper at the same success, {len(shown)} of {len(choices.cheaper)}")]
