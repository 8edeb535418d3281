"""The transcript of one run with all that is known of its events."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from untaken.analysis import Corpus, Taxonomy, assignments_of, notes_of
from untaken.errors import number
from untaken.judging import known_texts_to_judges, texts_to_judges
from untaken.ledger import Run
from untaken.scoring import EventMarks, Mark, Transcript, transcript_of
from untaken.views.plan_words import did_words

if TYPE_CHECKING:
    from untaken.counterfactual import EvaluatedPath

WORDS_CHARS = 300


def run_transcript(
    corpus: Corpus,
    digest: str,
    *,
    taxonomy: Taxonomy | None = None,
    search: bool = True,
    part: int = 0,
) -> Transcript:
    """One run of a corpus as a conversation: sub-goals, plan changes, decisive step, notes, failure modes.

    `search` for possible prompt injections as in `run_report`; `part` as in `transcript_of`.
    """
    run = corpus.runs[digest]
    path = corpus.plans.runs.get(digest) if any(one.mutates for one in corpus.graphs.graphs) else None
    found = [_plan_changes(path)] if path is not None else []
    texts = (texts_to_judges(run) if search else known_texts_to_judges(run)) or ()
    injection = [Mark(kind="injection", words="Possible prompt injection")]
    # Without a quote nothing was found: from this event on the run was too long to search.
    injections = {seq: injection for seq, quote in texts if quote}
    found += [_notes(run), _modes(run, taxonomy), injections]
    return transcript_of(run, corpus.scores[digest], marks=found, part=part)


def _plan_changes(path: EvaluatedPath) -> EventMarks:
    """Each plan change with the forecast after it; the decisive one of a failed run is named."""
    marks: dict[int, list[Mark]] = {}
    for one in path.decisions:
        forecast, change = number(one.forecast), number(one.change)
        chance = "" if forecast is None else f"; success forecast {forecast:.0%}"
        moved = "" if change is None else f" ({change:+.0%})"
        words = f"{did_words(one.decision.option)}{chance}{moved}"[:WORDS_CHARS]
        decisive = one.decision.seq == path.decisive_seq
        marks.setdefault(one.decision.seq, []).append(
            Mark(kind="decisive" if decisive else "plan_change", words=f"{words[:1].upper()}{words[1:]}")
        )
    return marks


def _notes(run: Run) -> EventMarks:
    marks: defaultdict[int, list[Mark]] = defaultdict(list)
    for note in notes_of(run):
        if note.place.event is not None:
            words = f"{note.author or 'unnamed'}: {note.text}"[:WORDS_CHARS]
            marks[note.place.event].append(Mark(kind="note", words=words))
    return marks


def _modes(run: Run, taxonomy: Taxonomy | None) -> EventMarks:
    names = {mode.id: mode.name for mode in taxonomy.modes} if taxonomy is not None else {}
    marks: defaultdict[int, list[Mark]] = defaultdict(list)
    for one in assignments_of(run):
        if one.place.event is not None and one.status == "accepted":
            words = names.get(one.mode, one.mode)[:WORDS_CHARS]
            marks[one.place.event].append(Mark(kind="failure_mode", words=words))
    return marks
