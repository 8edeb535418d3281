"""Plan changes at which runs of the same task that went another way succeeded more often."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from untaken.answers.plan_words import statement_words
from untaken.corpus import Corpus
from untaken.fix_first import BetterWay
from untaken.html.markup import Markup, run_list, section, short, tag
from untaken.present.numbers import counted, decimal, interval, percent

FOCUSED: Final = 5
NAMED: Final = 5


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
    return section("Where another option did better", note, listed)


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
