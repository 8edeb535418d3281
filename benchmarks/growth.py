"""How the cost of a run grows with the number of runs, and the most memory that evaluating them takes.

Each size is a process of its own: it evaluates the ledger file and holds what that gives. It says the most
memory it ever had (VmHWM), and what that cost as a multiple of the floor of `corpus.py`.
`benchmarks/growth.json` keeps the result, `docs/performance.md` its table.

    python benchmarks/growth.py [runs] [runs] ...
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from corpus import HERE, PAGE, a_ledger, peak_mb, whole_of
from scoring import GRAPH, cpu, floor

from untaken.analysis.corpus import evaluate_corpus
from untaken.plans import GraphSet, parse_graph

TABLE = "<!-- benchmarks/growth.py writes from here -->", "<!-- to here, growth -->"
ROUNDS = 2


def evaluate(path: Path) -> dict[str, Any]:
    """Read and evaluate a file; its peak of memory, and the median ratio to the floor."""
    text = GRAPH.replace(b"id: refund\n", b'id: refund\ntasks: ["*"]\n', 1)
    graphs = GraphSet.of([parse_graph(text, name="bench", format="yaml")])
    peak, ratios = None, []
    for _ in range(ROUNDS):
        whole = cpu(lambda: whole_of(evaluate_corpus(path, graphs)))
        peak = peak or peak_mb()
        ratios.append(whole / floor_of(path))
    return {"peak_mb": peak, "ratio_to_floor": median(ratios)}


def floor_of(path: Path) -> float:
    """CPU seconds of the floor over the lines of a file."""
    lines = path.read_bytes().splitlines()
    return cpu(lambda: floor(lines))


def measure(sizes: list[int]) -> None:
    """Print the table, and write it."""
    found: list[dict[str, Any]] = []
    for runs in sizes:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "runs.jsonl"
            path.write_bytes(b"".join(line + b"\n" for line in a_ledger(runs)[0]))
            said = subprocess.run(
                [sys.executable, __file__, str(path)], check=True, capture_output=True, text=True
            ).stdout
            found.append({"runs": runs, "file_mb": path.stat().st_size // 1_000_000, **json.loads(said)})
        print(found[-1])
    (HERE / "growth.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(TABLE[0])
    after = rest.partition(TABLE[1])[2]
    rows = [
        f"| {one['runs']:,} | {one['file_mb']:,} | {one['ratio_to_floor']:.2f} | {one['peak_mb']:,} |"
        for one in found
    ]
    head = ["| runs | file, MB | read and evaluate, × floor | peak memory, MB |", "|---|---|---|---|"]
    table = "\n".join(["", *head, *rows, ""])
    PAGE.write_text(before + TABLE[0] + table + "\n" + TABLE[1] + after, encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) == 2 and Path(sys.argv[1]).is_file():
        print(json.dumps(evaluate(Path(sys.argv[1]))))
    else:
        measure([int(size) for size in sys.argv[1:]] or [10_000, 30_000])
