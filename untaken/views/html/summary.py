"""The whole report in one paragraph, written from the numbers; and the three numbers behind it."""

from __future__ import annotations

from untaken.analysis import Corpus, FixItem, Triage, metric_words
from untaken.errors import Unscored, number
from untaken.numbers import counted, interval, percent, points, signed
from untaken.views.first_page import Overview, Share
from untaken.views.html.better import leaders
from untaken.views.html.markup import Markup, short, tag, together


def lead(corpus: Corpus, seen: Overview, found: Triage, *, broken: int) -> Markup:
    """The paragraph to read if one reads nothing else; `broken`: records that are in no figure."""
    first = leaders(corpus.ranking, seen.metric)
    sentences = [_worked(seen, broken), _misleads(seen), first, _agree(seen), _first(found)]
    parts = [part for sentence in sentences if sentence for part in (sentence, " ")]
    return tag("section", tag("p", *parts[:-1]), class_="lead", aria_label="Summary")  # no blank at the end


def _worked(seen: Overview, out: int) -> Markup:
    agents, tasks = counted(seen.agents, "agent"), counted(seen.tasks, "task")
    who = f"{agents} made {counted(seen.runs - seen.broken, 'run')} of {tasks}."
    broken = f" {counted(out, 'more record')} left out as broken." if out else ""
    if not seen.succeeded.n:
        return together(who, broken, " None of them records whether it succeeded.")
    silent = f"; {seen.succeeded.left_out:,} more do not say" if seen.succeeded.left_out else ""
    of = f" Of the {counted(seen.succeeded.n, 'run')} with an outcome, "
    return together(who, broken, of, tag("strong", f"{_of(seen.succeeded)} succeeded"), f"{silent}.")


def _misleads(seen: Overview) -> Markup:
    lucky, unlucky = seen.lucky, seen.unlucky
    unlucky_words = f"{counted(unlucky.count, 'run')} failed although every sub-goal was completed"
    failed = f" {unlucky_words}." if unlucky.count else ""
    if not lucky.n:
        unknown = (
            "It is unknown whether success can be trusted: no success has evidence on a critical sub-goal."
        )
        return together(unknown, failed)
    where = f"the {lucky.n:,} successes with evidence" if lucky.n > 1 else "the one success with evidence"
    if not lucky.count:
        return together(f"Of {where}, none left out a critical sub-goal.", failed)
    hidden = tag("strong", f"{_of(lucky)} left out a critical sub-goal")
    return together(
        f"This can mislead: of {where}, ", hidden, f", and {unlucky_words}." if unlucky.count else "."
    )


def _agree(seen: Overview) -> Markup | None:
    agreement = seen.agreement
    if agreement is None or isinstance(agreement.tau_b, Unscored):
        unknown = "It is unknown whether the rankings by success and by sub-goals agree."
        return together(unknown) if seen.agents > 1 else None
    between = f"Between the ranking by success and the ranking by {metric_words(seen.metric)}, "
    if not seen.discordant:
        return together(between, tag("strong", "no two agents change places"), ".")
    places = f"{len(seen.discordant)} of {counted(seen.pairs, 'pair')} of agents change places"
    return together(between, tag("strong", places), ".")


def _first(found: Triage) -> Markup | None:
    if not found.items:
        return together(f"{short(found.headline, 200)}.")
    item = found.items[0]
    name = tag("strong", f"Fix first: “{short(item.title, 80)}”")
    if not item.failed_runs:
        return together(name, f", critical and not completed in {counted(item.missed, 'run')}.")
    failed = f"{item.failed_runs:,} of {counted(found.failed, 'failed run', 'fail')}"
    return together(name, f", where {failed} first: {short(item.reason, 300)}. {gain_words(item)}")


def gain_words(item: FixItem) -> str:
    """The success that a fix would gain, by the runs that passed there."""
    gain, low, high = number(item.gain), number(item.low), number(item.high)
    if gain is None or low is None or high is None:
        return ""
    span = f"(95% interval {interval(100 * low, 100 * high, digits=1)})"
    return (
        f"Gain in success, if these runs succeed as often as the {item.passed:,} that passed it: "
        f"{points(gain, sign=False)} percentage points {span}."
    )


def _of(share: Share) -> str:
    rate = share.rate
    return f"{share.count:,}" if isinstance(rate, Unscored) else f"{share.count:,} ({percent(rate)})"


def numbers(seen: Overview) -> Markup:
    """The three main numbers, each with its n."""
    tau = seen.agreement.tau_b if seen.agreement else Unscored("there are no two rankings to compare")
    return tag(
        "dl",
        _number(
            "Success, mean over tasks",
            percent(seen.task_mean),
            _success(seen),
        ),
        _number(
            "Successes with a critical sub-goal not completed",
            percent(seen.lucky.rate),
            _rests(seen.lucky, "successes with evidence", "more successes without such evidence"),
        ),
        _number(
            "Agreement of the two rankings (τ-b)",
            signed(tau),
            short(tau.reason, 160) if isinstance(tau, Unscored) else _interval(seen),
        ),
        class_="numbers",
    )


def _number(name: str, figure: str, rests: str) -> Markup:
    value = together(tag("dd", figure, class_="figure"), tag("dd", rests, class_="facts"))
    return tag("div", tag("dt", name), value, class_="number")


def _success(seen: Overview) -> str:
    rests = _rests(seen.succeeded, "runs that record an outcome", "more record none")
    if not seen.succeeded.n:
        return rests
    span = interval(seen.task_low, seen.task_high, percent)
    return f"95% interval {span}; {rests}, {percent(seen.succeeded.rate)} pooled"


def _rests(share: Share, of: str, left: str) -> str:
    if not share.n:
        return f"{share.left_out:,} {left.removeprefix('more ')}" if share.left_out else "nothing to count"
    more = f"; {share.left_out:,} {left}" if share.left_out else ""
    return f"{share.count:,} of {share.n:,} {of}{more}"


def _interval(seen: Overview) -> str:
    agreement = seen.agreement
    low, high = (number(agreement.low), number(agreement.high)) if agreement else (None, None)
    span = f"95% interval {interval(low, high, signed)}; " if low is not None and high is not None else ""
    places = f"{len(seen.discordant)} of {counted(seen.pairs, 'pair', 'change')} order"
    return f"{span}+1 is the same order, −1 the reverse; {places}"
