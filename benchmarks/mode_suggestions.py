"""How often the suggested failure mode is the one that people gave, on AgentRx' labelled failure steps.

Each labelled step has a reason in words and a category. The first mode suggested for a reason, by the three
reasons most like it (untaken.analysis.failure_modes.suggesting), is right or wrong. Twice: without the
reasons of the
same run, as when a new run is read, and with all other ones. Beside it: always suggesting the most frequent
category. Intervals are clustered by run.

    python benchmarks/mode_suggestions.py

Reads UNTAKEN_REAL_DATA, else ../shared/data beside the repository; without records it says so and ends.
"""

from __future__ import annotations

import json
import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from untaken.analysis.failure_modes import (
    RUN,
    FiledText,
    ModeSuggester,
    Note,
    SuggestionQuality,
    suggestion_quality,
)
from untaken.stats.kappa import agreement_share

RECORDS = Path(os.environ.get("UNTAKEN_REAL_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
SETS = {
    "Magentic-One": ("magentic_one_ground_truth.json",),
    "tau-bench retail": ("tau_ground_truth.even_tasks.json",),
    "both": ("magentic_one_ground_truth.json", "tau_ground_truth.even_tasks.json"),
}


def labelled(files: Iterable[Path]) -> list[FiledText]:
    """Every labelled step as a note that is filed under its category; one category has two spellings."""
    return [
        FiledText(text=failure["step_reason"], modes=(_category(failure["failure_category"]),), note=note)
        for file in files
        for run in json.loads(file.read_text(encoding="utf-8"))
        for seq, failure in enumerate(run["failures"])
        for note in [_note(f"{file.name} {run['trajectory_id']}", seq, failure["step_reason"])]
    ]


def _category(words: str) -> str:
    return words.replace("Instruction/Plan", "Instruction").casefold().replace("-", " ")


def _note(run: str, seq: int, text: str) -> Note:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    return Note(run=run, run_id=run, seq=seq, text=text, author=None, at=at, place=RUN, imported=True)


def with_own_run(filed: Sequence[FiledText]) -> tuple[float, float, float]:
    """Share of right first suggestions where only the note itself is left out, with its interval."""
    by_run: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    for place, one in enumerate(filed):
        others = ModeSuggester([*filed[:place], *filed[place + 1 :]])
        first = others.suggest(one.text, most=1)
        by_run[one.note.run if one.note else ""].append((True, bool(first) and first[0].mode in one.modes))
    share, low, high = agreement_share(list(by_run.values()))
    return float(share), float(low), float(high)  # type: ignore[arg-type]


def main() -> None:
    folder = RECORDS / "agentrx"
    if not folder.is_dir():
        print(f"No records in {folder}; set UNTAKEN_REAL_DATA.")
        return
    print(f"{'notes of':<18}{'n':>5}{'runs':>6}  {'run left out':<24}{'note left out':<24}majority  silent")
    for name, files in SETS.items():
        filed = labelled(folder / file for file in files)
        found: SuggestionQuality = suggestion_quality(filed)
        own = with_own_run(filed)
        most = Counter(one.modes[0] for one in filed).most_common(1)[0][1] / len(filed)
        by_run = f"{found.right:.1%} ({found.low:.1%} to {found.high:.1%})"
        by_note = f"{own[0]:.1%} ({own[1]:.1%} to {own[2]:.1%})"
        print(f"{name:<18}{found.notes:>5}{found.runs:>6}  {by_run:<24}{by_note:<24}{most:>8.1%}", end="")
        print(f"{found.silent:>8}")


if __name__ == "__main__":
    main()
