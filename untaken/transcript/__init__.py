"""A run as a conversation: who spoke, what was called and answered, what it meant for the plan."""

from untaken.transcript.alignment import AlignedItem, align_transcripts
from untaken.transcript.model import Mark, MarkKind, Transcript, TranscriptItem, TranscriptResult
from untaken.transcript.reading import EventMarks, transcript_of

__all__ = [
    "AlignedItem",
    "EventMarks",
    "Mark",
    "MarkKind",
    "Transcript",
    "TranscriptItem",
    "TranscriptResult",
    "align_transcripts",
    "transcript_of",
]
