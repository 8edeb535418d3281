"""Is Good and Turing's share of unseen failure modes right? Estimate against truth on people's labels.

AgentRx labels every failure of 38 runs with one of its categories. In random orders the first 5, 10 and 20
runs are read; the estimate from them is compared with the truth: the share of the failures of the runs left
whose category was not seen. A failure is a category of a run, each once. The truth rests on the runs left
alone, so that it varies, too: the interval is for the share in all runs, and cannot hold it always.

    python benchmarks/saturation.py

Reads UNTAKEN_REAL_DATA, else ../shared/data beside the repository; without records it says so and ends.
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from untaken.stats.unseen import unseen_share

RECORDS = Path(os.environ.get("UNTAKEN_REAL_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
FILES = ("tau_ground_truth.even_tasks.json", "magentic_one_ground_truth.json")
READ = (5, 10, 20)
ORDERS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Means over orders: `held` is how often the interval holds the truth, `width` how wide it is."""

    read: int
    estimate: float
    truth: float
    held: float
    width: float


def labelled_runs(folder: Path) -> list[frozenset[str]]:
    """The categories of each labelled run."""
    labels = [one for file in FILES for one in json.loads((folder / file).read_text("utf-8"))]
    return [frozenset(each["failure_category"].strip() for each in one["failures"]) for one in labels]


def estimate_against_truth(
    runs: Sequence[frozenset[str]], read: int, *, orders: int = ORDERS, seed: int = 0
) -> Row:
    """Reads the first `read` runs of random orders and looks at the others."""
    rng, rows = random.Random(seed), []
    for _ in range(orders):
        order = rng.sample(runs, len(runs))
        seen = Counter(mode for run in order[:read] for mode in run)
        coming = [mode for run in order[read:] for mode in run]
        truth = sum(mode not in seen for mode in coming) / len(coming)
        found = unseen_share(seen.values(), read)
        ends = (found.share, found.low, found.high)
        share, low, high = (float(end) for end in ends if isinstance(end, float))
        rows.append((share, truth, low <= truth <= high, high - low))
    estimate, truth, held, width = (fmean(column) for column in zip(*rows, strict=True))
    return Row(read=read, estimate=estimate, truth=truth, held=held, width=width)


def main() -> None:
    """Prints a row for each number of runs read."""
    folder = RECORDS / "agentrx"
    if not folder.is_dir():
        print(f"no records in {folder}; set UNTAKEN_REAL_DATA")
        return
    runs = labelled_runs(folder)
    modes = Counter(mode for run in runs for mode in run)
    print(f"{len(runs)} labelled runs, {len(modes)} categories, {modes.total()} failures, {ORDERS} orders")
    print("read  estimate  truth  interval holds it  width")
    for read in READ:
        row = estimate_against_truth(runs, read)
        print(f"{read:>4}  {row.estimate:>8.3f}  {row.truth:.3f}  {row.held:>17.1%}  {row.width:.2f}")


if __name__ == "__main__":
    main()
