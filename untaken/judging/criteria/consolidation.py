"""Criteria that say the same in other words become one: how alike they are, and how many are left (§8)."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from itertools import chain
from math import sqrt
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from untaken.errors import UntakenError
from untaken.extras import load_extra
from untaken.judging.criteria.criterion import Criterion

if TYPE_CHECKING:
    from wordllama import WordLlamaInference

Measure = Literal["embedding", "words"]
Cosines = Sequence[Sequence[float]]
"""Square."""

USUAL_TAU: Final[dict[Measure, float]] = {"embedding": 0.5, "words": 0.4}
"""Above it two criteria say the same: none of 495 pairs of different criteria is (the tests hold the list).

Cosines of these small embeddings run lower than those of the sentence transformer that the paper uses
with 0.7 and 0.85."""
WORDS_IN: Final[dict[Measure, str]] = {
    "embedding": "cosine of embeddings (wordllama)",
    "words": "shared words (wordllama is not installed, so paraphrased criteria are not merged)",
}
_WORD: Final = re.compile(r"\w+")
_STEM: Final = 5
_SMALL: Final = frozenset(
    {"a", "an", "and", "are", "as", "at", "be", "by", "does", "for", "from", "has", "how", "in", "is", "it"}
    | {"no", "not", "of", "on", "or", "that", "than", "the", "this", "to", "was", "what", "which", "with"}
)
DRAWS: Final = 200
POINTS: Final = 12
"""Numbers of seeds that a curve is drawn at."""


class ConsolidatedCriterion(Struct, frozen=True, kw_only=True):
    """One criterion and the proposals merged into it.

    Attributes:
        criterion: the representative; its `merged` names the others.
        proposals: how many proposals were merged, including its own.
        least: the lowest cosine to a merged one; ``None`` if there is none.
    """

    criterion: Criterion
    proposals: int
    least: float | None


class Consolidation(Struct, frozen=True, kw_only=True):
    """What was left when similar criteria had become one.

    Attributes:
        groups: what was proposed most often first, then what was proposed first.
        tau: criteria with a cosine above it count as one.
        by: how alikeness was measured.
    """

    groups: tuple[ConsolidatedCriterion, ...]
    tau: float
    by: Measure

    @property
    def criteria(self) -> list[Criterion]:
        """The representatives."""
        return [group.criterion for group in self.groups]


class UniqueCount(Struct, frozen=True, kw_only=True):
    """How many different criteria some seeds give.

    Attributes:
        way: ``task`` or ``solution``.
        tau: 1 merges only equal names.
        seeds: how many were drawn, of `of` there are.
        mean, low, high: over `draws` draws without putting back; low to high hold the middle 95% of them.
    """

    way: str
    tau: float
    seeds: int
    of: int
    mean: float
    low: float
    high: float
    draws: int


def consolidate(
    criteria: Sequence[Criterion], *, tau: float | None = None, by: Measure | None = None
) -> Consolidation:
    """Make one of the criteria that are called the same or whose cosine is above τ.

    Representatives are chosen in one order: what was proposed most often under its name, then what came
    first. Each criterion joins the representative it is most like. So no chain of small steps
    makes one of two that are unlike, and the same proposals give the same result.

    Args:
        criteria: proposals, in the order in which they came.
        tau: threshold of the cosine; ``None`` for the measure's own (`USUAL_TAU`), 1 to merge equal names.
        by: the measure; by default embeddings where they can be made.
    """
    named: dict[str, list[Criterion]] = {}
    for criterion in criteria:
        named.setdefault(plain_name(criterion.name), []).append(criterion)
    order = sorted(named.values(), key=lambda same: -len(same))  # stable: of equals, what came first
    firsts = [same[0] for same in order]
    measure = by or usual_measure()
    cosines = likeness(firsts, measure)
    threshold = USUAL_TAU[measure] if tau is None else tau
    groups = _groups(range(len(firsts)), cosines, threshold)
    merged = [_merged(members, order, cosines) for members in groups]
    return Consolidation(groups=tuple(merged), tau=threshold, by=measure)


def unique_by_seeds(
    answers: Mapping[str, Sequence[Sequence[Criterion]]],
    *,
    taus: Sequence[float] | None = None,
    by: Measure | None = None,
    draws: int = DRAWS,
) -> tuple[UniqueCount, ...]:
    """The number of different criteria against the number of seeds (fig. 4 of the paper).

    Args:
        answers: for each way of asking, what each seed proposed.
        taus: thresholds; by default the usual one, a stricter one and 1.
        by: the measure.
        draws: times that seeds are drawn for each point; the drawing itself is seeded.
    """
    pool = [c for way in answers.values() for proposed in way for c in proposed]
    measure = by or usual_measure()
    cosines, usual = likeness(pool, measure), USUAL_TAU[measure]
    chosen = (usual, round((1 + usual) / 2, 2), 1.0) if taus is None else taus
    names = [plain_name(c.name) for c in pool]
    counts: list[UniqueCount] = []
    start = 0
    for way, seeds in answers.items():
        places: list[range] = []
        for proposed in seeds:
            places.append(range(start, start + len(proposed)))
            start += len(proposed)
        for tau in chosen:
            count = partial(_unique, names=names, cosines=cosines, tau=tau)
            counts += _curve(way, tau, places, count, draws)
    return tuple(counts)


def plain_name(name: str) -> str:
    """The name as it is compared: case, white space, hyphens and underscores make no difference."""
    return " ".join(name.replace("_", " ").replace("-", " ").split()).casefold()


def _groups(places: Sequence[int], cosines: Cosines, tau: float) -> list[list[int]]:
    """Members of each group, its representative first."""
    groups: list[list[int]] = []
    for place in places:
        near = [group for group in groups if cosines[place][group[0]] > tau] if tau < 1 else []
        if near:
            max(near, key=lambda group: cosines[place][group[0]]).append(place)
        else:
            groups.append([place])
    return groups


def _merged(
    members: Sequence[int], order: Sequence[Sequence[Criterion]], cosines: Cosines
) -> ConsolidatedCriterion:
    first, *others = members
    own = order[first][0]
    every = chain(own.merged, *((order[o][0].name, *order[o][0].merged) for o in others))
    names = [name for name in dict.fromkeys(every) if name != own.name]
    return ConsolidatedCriterion(
        criterion=replace(own, merged=names),
        proposals=sum(len(order[place]) for place in members),
        least=min((cosines[first][o] for o in others), default=None),
    )


def _curve(
    way: str, tau: float, seeds: Sequence[range], unique: Callable[[Sequence[int]], int], draws: int
) -> list[UniqueCount]:
    chance = random.Random(f"{way} {tau}")
    points = sorted({round(1 + (len(seeds) - 1) * i / (POINTS - 1)) for i in range(POINTS)}) if seeds else []
    curve = []
    for size in points:
        # All seeds can be drawn in one way only.
        drawn = (chance.sample(seeds, size) for _ in range(draws if size < len(seeds) else 1))
        counts = sorted(unique([place for seed in some for place in seed]) for some in drawn)
        edge = int(0.025 * len(counts))
        count = UniqueCount(
            way=way,
            tau=tau,
            seeds=size,
            of=len(seeds),
            mean=fmean(counts),
            low=counts[edge],
            high=counts[-1 - edge],
            draws=len(counts),
        )
        curve.append(count)
    return curve


def _unique(places: Sequence[int], names: Sequence[str], cosines: Cosines, tau: float) -> int:
    """Number of these proposals that `consolidate` leaves."""
    same: dict[str, list[int]] = {}
    for place in sorted(places):  # as they came, whatever the draw
        same.setdefault(names[place], []).append(place)
    order = sorted(same.values(), key=lambda members: -len(members))
    return len(_groups([members[0] for members in order], cosines, tau))


def likeness(criteria: Sequence[Criterion], by: Measure) -> Cosines:
    """How alike criteria are, pair by pair in the order given, by name and description."""
    texts = [f"{criterion.name}: {criterion.description}" for criterion in criteria]
    return _embedded(texts) if by == "embedding" else _worded(texts)


@cache
def usual_measure() -> Measure:
    """Embeddings where they can be made here, else words."""
    try:
        embedder()
    except (UntakenError, OSError):
        return "words"
    return "embedding"


@cache
def embedder() -> WordLlamaInference:
    """The embeddings' maker, loaded once.

    Raises:
        UntakenError: ``model-extra-missing``.
    """
    needed = "comparing embeddings needs {}, which is not installed"
    wordllama = load_extra("wordllama", "model-extra-missing", "judge", needed)
    weights = Path(wordllama.__file__).parent  # the weights in the wheel; it looks for them elsewhere
    made: WordLlamaInference = wordllama.WordLlama.load(cache_dir=weights, disable_download=True)
    return made


def _embedded(texts: Sequence[str]) -> Cosines:
    if not texts:
        return ()
    vectors = embedder().embed(list(texts), norm=True)
    # The last digits of a matrix product differ between machines; a cosine near τ must not.
    return tuple(tuple(round(float(v), 6) for v in row) for row in vectors @ vectors.T)


def _worded(texts: Sequence[str]) -> Cosines:
    counts = [_stems(text) for text in texts]
    norms = [sqrt(sum(n * n for n in one.values())) or 1.0 for one in counts]
    return tuple(
        tuple(
            round(sum(n * other[stem] for stem, n in one.items()) / (norm * norm_other), 6)
            for other, norm_other in zip(counts, norms, strict=True)
        )
        for one, norm in zip(counts, norms, strict=True)
    )


def _stems(text: str) -> Counter[str]:
    words = _WORD.findall(text.casefold())
    return Counter(word[:_STEM] for word in words if word not in _SMALL)
