"""One round of error analysis in five steps, and how far a workspace has come in it (§9)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct

from untaken.analysis import Taxonomy, filed_texts, notes_of
from untaken.ledger import Run
from untaken.numbers import counted
from untaken.views.mode_analysis import ModeAnalysis

READ: Final = 10
"""Failed runs of a first round: enough to see what is frequent, and read within an hour."""
StepName = Literal["read", "notes", "modes", "pivot", "issue"]


class RoundStep(Struct, frozen=True, kw_only=True):
    """One step of the round.

    Attributes:
        title: what to do; `words`: how far it is.
        done, of: progress; finished where `done` reaches `of`.
        run: digest of the run to open for it; empty where there is none.
        view: of the Failure modes page, for steps that are made there.
    """

    name: StepName
    title: str
    words: str
    done: int
    of: int
    run: str = ""
    view: str = ""

    @property
    def finished(self) -> bool:
        """Whether there is nothing left to do."""
        return self.done >= self.of


def round_steps(
    runs: Mapping[str, Run], found: ModeAnalysis, taxonomy: Taxonomy, *, issues: int, pivot_seen: bool
) -> tuple[RoundStep, ...]:
    """The five steps: read failed runs, write notes, group them into modes, look at the pivot, add an issue.

    Args:
        runs: of the workspace, by digest.
        found: its failure modes so far.
        taxonomy: of the workspace.
        issues: how many it has.
        pivot_seen: somebody looked at the matrix since there were modes.
    """
    failed = [runs[one.run] for one in found.read if one.failed]
    # Where fewer runs failed than a round asks for, those that did are enough.
    wanted = min(READ, len(failed) + len(found.order))
    noted = {run.digest: written for run in failed if (written := notes_of(run))}
    notes = [note for some in noted.values() for note in some]
    filed = {(one.note.run, one.note.seq) for one in filed_texts(failed, taxonomy) if one.note and one.modes}
    unfiled = [note for note in notes if (note.run, note.seq) not in filed]
    modes = len(found.pivot.modes)
    return (
        RoundStep(
            name="read",
            title=f"Read {counted(wanted, 'failed run')}",
            words=f"{min(len(failed), wanted)} of {wanted} read",
            done=len(failed),
            of=max(wanted, 1),
            run=found.order[0].run if found.order else "",
        ),
        RoundStep(
            name="notes",
            title="Note what you see",
            words=f"{min(len(noted), wanted)} of {counted(wanted, 'run')} with a note",
            done=len(noted),
            of=max(wanted, 1),
            run=next((run.digest for run in failed if run.digest not in noted), "")
            or (found.order[0].run if found.order else ""),  # all that were read have a note
        ),
        RoundStep(
            name="modes",
            title="Group notes into modes",
            words=f"{len(notes) - len(unfiled)} of {counted(len(notes), 'note', 'have')} a mode",
            done=len(notes) - len(unfiled),
            of=max(len(notes), 1),
            run=unfiled[0].run if unfiled else "",
        ),
        RoundStep(
            name="pivot",
            title="See where modes occur",
            words=f"{counted(modes, 'mode')} in {counted(found.failed, 'failed run')}",
            done=int(pivot_seen and modes > 0),
            of=1,
            view="modes",
        ),
        RoundStep(
            name="issue",
            title="Track the worst as an issue",
            words=counted(issues, "issue"),
            done=min(issues, 1),
            of=1,
            view="issues",
        ),
    )
