"""What workers save: CPU seconds and memory of the caller and of its workers, for `docs/scale.md`.

The runs are those of `benchmarks/corpus.py`, in files of 250. Each count of workers is measured in a process
of its own, with one thread for NumPy, as commands have it; 0 is one process that does it all.

    python benchmarks/workers.py [runs] [workers …]
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from corpus import a_ledger, whole_of
from scoring import GRAPH

from untaken.analysis.corpus import evaluate_corpus
from untaken.ledger import heads_path, save_heads

RUNS_PER_FILE = 250


def write(folder: Path, runs: int) -> None:
    """The ledgers with their heads, and the plan graph."""
    lines, heads = a_ledger(runs)
    names = list(heads)
    at = 0
    for first in range(0, runs, RUNS_PER_FILE):
        some = {name: heads[name] for name in names[first : first + RUNS_PER_FILE]}
        end = at + sum(head.events for head in some.values())
        ledger = folder / f"{first:08}.jsonl"
        ledger.write_bytes(b"".join(line + b"\n" for line in lines[at:end]))
        save_heads(heads_path(ledger), some)
        at = end
    graph = GRAPH.replace(b"id: refund\n", b'id: refund\ntasks: ["*"]\n', 1)
    (folder / "refund.plan.yaml").write_bytes(graph)


def measure(folder: str, workers: int) -> None:
    """Prints one row."""
    begin = perf_counter()
    _ = whole_of(evaluate_corpus(folder, folder, cluster=workers or None)).ranking
    wall = perf_counter() - begin
    caller, others = (resource.getrusage(of) for of in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    seconds = [use.ru_utime + use.ru_stime for use in (caller, others)]
    sizes = [use.ru_maxrss // 1024 for use in (caller, others)]
    print(f"{workers:7} {wall:7.1f} {seconds[0]:10.1f} {seconds[1]:12.1f} {sizes[0]:12} {sizes[1]:15}")


def main(runs: int, counts: list[str]) -> None:
    """Prints the table."""
    with TemporaryDirectory() as folder:
        # In a process of its own, too: those started from it would count its memory as theirs.
        subprocess.run([sys.executable, __file__, "--", folder, "write", str(runs)], check=True)
        print(
            f"{runs:,} runs\nworkers  wall s   caller s   workers s   caller MiB   one worker MiB", flush=True
        )
        for workers in counts:
            words = [sys.executable, __file__, "--", folder, workers]
            subprocess.run(words, check=True, env=os.environ | {"OPENBLAS_NUM_THREADS": "1"})


if __name__ == "__main__":
    if sys.argv[3:4] == ["write"]:
        write(Path(sys.argv[2]), int(sys.argv[4]))
    elif sys.argv[1:2] == ["--"]:
        measure(sys.argv[2], int(sys.argv[3]))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 30_000, sys.argv[2:] or ["0", "2"])
