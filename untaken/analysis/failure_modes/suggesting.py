"""Which failure modes a note may mean: those of the notes most like it (§9).

Texts are compared as bags of words weighted by TF-IDF (Salton and Buckley 1988), by their cosine. Nothing is
fetched and no model is asked. What comes out is a suggestion: it counts once a person accepts it.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct

from untaken import stats
from untaken.analysis.failure_modes.assignments import (
    Assignment,
    Note,
    Place,
    assignments_of,
    counted,
    notes_of,
)
from untaken.analysis.failure_modes.failure_mode import Taxonomy
from untaken.errors import Score, Unscored
from untaken.ledger import Run

NEIGHBOURS: Final = 3
"""Notes that vote; `benchmarks/mode_suggestions.py` measures how often they are right."""
LEAST: Final = 0.1
"""Cosine below which two texts have nothing in common but common words."""
DEFINITION: Final = 0.5
"""What the likeness to a mode's own words weighs beside that to a note that a person filed."""
MOST: Final = 3
NOTES: Final = 20_000
"""Notes that are compared, the newest ones."""
MEASURED: Final = 1_000
"""Notes on which the quality of suggestions is measured, the newest ones."""
_WORD: Final = re.compile(r"\w+")
_SMALL: Final = frozenset(
    (
        *("a", "an", "and", "are", "as", "at", "be", "by", "did", "does", "for", "from", "had", "has"),
        *("have", "in", "is", "it", "its", "of", "on", "or", "that", "the", "then", "this", "to", "was"),
        *("were", "which", "with"),
    )
)
"""Words that every note has; negations are none of them."""


class FiledText(Struct, frozen=True, kw_only=True):
    """Words that are known to mean some modes.

    Attributes:
        modes: ids, as the taxonomy names them now.
        note: where the words are from; ``None`` for a mode's own name, definition and examples.
    """

    text: str
    modes: tuple[str, ...]
    note: Note | None = None


class Suggestion(Struct, frozen=True, kw_only=True):
    """A mode that a text may mean.

    Attributes:
        mode: its id.
        likeness: cosine of the text with the one most like it, 0 to 1.
        like: the note most like it; ``None`` where that is the mode's own definition.
    """

    mode: str
    likeness: float
    like: Note | None


class ModeSuggester:
    """Suggests modes by the texts that people have filed.

    Args:
        filed: what is known; of very many the last ones are used.
    """

    def __init__(self, filed: Iterable[FiledText]) -> None:
        self._filed = list(filed)[-NOTES:]
        counts = [Counter(_words(one.text)) for one in self._filed]
        self._documents = Counter(word for count in counts for word in count)
        self._postings: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for place, count in enumerate(counts):
            for word, weight in self._weights(count).items():
                self._postings[word].append((place, weight))

    def suggest(
        self, text: str, *, without: Collection[str] = (), leave_out: Collection[str] = (), most: int = MOST
    ) -> tuple[Suggestion, ...]:
        """The modes that a text may mean, the likeliest first: by the votes of its nearest texts, then by
        the likeness of the single text most like it.

        Args:
            text: such as a note (untrusted).
            without: ids of modes that are not suggested: those assigned or dismissed already.
            leave_out: digests of runs whose notes are not asked.
            most: how many at most.
        """
        alike = self._alike(text)
        ranked = sorted(
            (-likeness, place)
            for place, likeness in alike.items()
            if likeness >= LEAST and not self._is_of(place, leave_out)
        )
        votes: dict[str, float] = defaultdict(float)
        best: dict[str, tuple[float, int]] = {}
        for rank, (_, place) in enumerate(ranked):
            for mode in self._filed[place].modes:
                if rank < NEIGHBOURS:
                    votes[mode] += alike[place]
                best.setdefault(mode, (alike[place], place))  # ranked: the first is the nearest
        order = sorted(best, key=lambda mode: (-votes.get(mode, 0.0), -best[mode][0], mode))
        return tuple(
            Suggestion(mode=mode, likeness=best[mode][0], like=self._filed[best[mode][1]].note)
            for mode in order
            if mode not in without
        )[:most]

    def _is_of(self, place: int, runs: Collection[str]) -> bool:
        note = self._filed[place].note
        return note is not None and note.run in runs

    def _alike(self, text: str) -> dict[int, float]:
        """Cosine with every text that shares a word, weighed by what kind of text it is."""
        found: dict[int, float] = defaultdict(float)
        for word, weight in self._weights(Counter(_words(text))).items():
            for place, other in self._postings.get(word, ()):
                found[place] += weight * other
        return {
            place: likeness * (1.0 if self._filed[place].note else DEFINITION)
            for place, likeness in found.items()
        }

    def _weights(self, count: Counter[str]) -> dict[str, float]:
        """(1 + ln tf) · (ln((1 + N) / (1 + df)) + 1), scaled to length 1."""
        total = len(self._filed)
        raw = {
            word: (1 + math.log(n)) * (math.log((1 + total) / (1 + self._documents[word])) + 1)
            for word, n in count.items()
        }
        # `fsum` is exact: the order of the words changes nothing.
        # a text may have no words
        length = math.sqrt(math.fsum(weight * weight for weight in raw.values())) or 1.0
        return {word: weight / length for word, weight in raw.items()}


class SuggestionQuality(Struct, frozen=True, kw_only=True):
    """How often the first suggestion is right on notes that people filed, each run's own notes left out.

    Attributes:
        notes, runs: how many; unscored below two runs.
        right: share of notes of which the first suggestion is one of their modes; a note without a suggestion
            counts as wrong. With its 95% interval, clustered by run.
        majority: the share that always suggesting the most frequent mode gets right.
        silent: notes without any suggestion.
    """

    notes: int
    runs: int
    right: Score
    low: Score
    high: Score
    majority: Score
    silent: int


def suggestion_quality(filed: Sequence[FiledText]) -> SuggestionQuality:
    """Suggests for each filed note what the notes of other runs say, and compares with what people said."""
    suggester = ModeSuggester(filed)
    known = [one for one in filed if one.note is not None][-MEASURED:]
    by_run: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    silent = 0
    for one in known:
        run = one.note.run if one.note else ""
        first = suggester.suggest(one.text, leave_out=(run,), most=1)
        silent += not first
        # Pairs of answers: (True, True) is a hit.
        by_run[run].append((True, bool(first) and first[0].mode in one.modes))
    right, low, high = stats.agreement_share(list(by_run.values()))
    if len(by_run) < 2:
        right = low = high = Unscored("needs filed notes on at least two runs")
    most = Counter(mode for one in known for mode in one.modes).most_common(1)
    return SuggestionQuality(
        notes=len(known),
        runs=len(by_run),
        right=right,
        low=low,
        high=high,
        majority=most[0][1] / len(known) if most else Unscored("no note is filed yet"),
        silent=silent,
    )


def filed_texts(runs: Iterable[Run], taxonomy: Taxonomy) -> list[FiledText]:
    """What is known of the active modes: their own words, then the notes that people filed, oldest first."""
    own = [
        FiledText(text=" ".join((mode.name, mode.definition, *mode.examples)), modes=(mode.id,))
        for mode in taxonomy.active
    ]
    active = {mode.id for mode in taxonomy.active}
    found = [(note, modes) for run in runs for note, modes in _filed_in(run, taxonomy) if active & {*modes}]
    found.sort(key=lambda one: one[0].at)
    return own + [
        FiledText(text=note.text, modes=tuple(mode for mode in modes if mode in active), note=note)
        for note, modes in found
    ]


def _filed_in(run: Run, taxonomy: Taxonomy) -> Iterator[tuple[Note, tuple[str, ...]]]:
    """The notes of a run with the modes that were read from them, or else assigned at the same place.

    Where a mode was assigned with a reason and at a place without a note, its reason is such a note.
    """
    accepted = counted(run)
    notes = notes_of(run) if accepted else ()
    for note in notes:
        meant = (a.mode for a in accepted if a.note == note.seq or (a.note is None and a.place == note.place))
        yield note, tuple(dict.fromkeys(map(taxonomy.current, meant)))
    noted = {note.place for note in notes}
    for one in accepted:
        # A reason that was given with a mode says as much as a note.
        if one.note is None and one.place not in noted and one.reason and one.reason.strip():
            yield _reason_as_note(one, one.reason), (taxonomy.current(one.mode),)


def _reason_as_note(one: Assignment, reason: str) -> Note:
    return Note(
        run=one.run,
        run_id=one.run_id,
        seq=one.seq,
        text=reason,
        author=one.by,
        at=one.at,
        place=one.place,
        imported=one.imported,
    )


def settled_modes(run: Run, place: Place, taxonomy: Taxonomy, *, by: str) -> set[str]:
    """The modes not to suggest to somebody at a place: accepted there, or dismissed by this person."""
    here = [one for one in assignments_of(run) if one.place == place]
    return {taxonomy.current(one.mode) for one in here if one.status == "accepted" or one.by == by}


def judged_suggestions(run: Run, taxonomy: Taxonomy) -> tuple[Assignment, ...]:
    """What judges suggested in a run, without what a person accepted or dismissed at the same place."""
    words = [] if run.integrity.broken else assignments_of(run)
    settled = {(taxonomy.current(one.mode), one.place) for one in words if one.status != "suggested"}
    return tuple(
        one
        for one in words
        if one.status == "suggested" and (taxonomy.current(one.mode), one.place) not in settled
    )


def _words(text: str) -> Sequence[str]:
    return [word for word in _WORD.findall(text.casefold()) if word not in _SMALL]
