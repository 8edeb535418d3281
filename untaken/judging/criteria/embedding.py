"""How alike two criteria are: by embeddings of their words, or by the words themselves (§8).

The embeddings are those of wordllama, whose weights come with its package: nothing is fetched. Where it is
not installed the words are compared, which finds fewer of the pairs that say one thing in two ways.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from untaken.errors import UntakenError
from untaken.extras import load_extra
from untaken.judging.criteria.criterion import Criterion

if TYPE_CHECKING:
    from wordllama import WordLlamaInference

Measure = Literal["embedding", "words"]

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


@dataclass(frozen=True, slots=True, kw_only=True)
class CriteriaLikeness:
    """How alike the criteria are, pair by pair.

    Attributes:
        by: the measure; `WORDS_IN` says it in words.
        cosines: square; of the criteria in the order given.
    """

    by: Measure
    cosines: tuple[tuple[float, ...], ...]


def likeness(criteria: Sequence[Criterion], *, by: Measure | None = None) -> CriteriaLikeness:
    """How alike criteria are, by name and description."""
    texts = [f"{criterion.name}: {criterion.description}" for criterion in criteria]
    measure = by or usual_measure()
    cosines = _embedded(texts) if measure == "embedding" else _worded(texts)
    return CriteriaLikeness(by=measure, cosines=cosines)


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


def _embedded(texts: Sequence[str]) -> tuple[tuple[float, ...], ...]:
    if not texts:
        return ()
    vectors = embedder().embed(list(texts), norm=True)
    # The last digits of a matrix product differ between machines; a cosine near τ must not.
    return tuple(tuple(round(float(v), 6) for v in row) for row in vectors @ vectors.T)


def _worded(texts: Sequence[str]) -> tuple[tuple[float, ...], ...]:
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
