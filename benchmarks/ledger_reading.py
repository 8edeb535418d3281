"""How much dearer is reading a ledger than the floor under it?

The floor is what no reader of this format can leave out: split the file into lines, take the SHA-256 of each,
and decode each into its event. `read_ledger` adds the strict checks, the chain, the verdicts and the runs.

Printed: the ratio of CPU times, median of pairs that alternate in one process with the garbage collector off.
For two styles of the same ledger: as `LedgerWriter` writes it, and as another program might (spaces,
``+00:00``). Aim: at most 1.6 for the first.

    python benchmarks/ledger_reading.py [runs]
"""

from __future__ import annotations

import gc
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

import msgspec

from untaken.ledger import (
    GENESIS,
    AnyEvent,
    Head,
    LedgerWriter,
    Observation,
    RunFinished,
    State,
    ToolCall,
    heads_path,
    read_ledger,
    save_heads,
    verify_ledger,
)

PAIRS = 15
STEPS = 19
TEXT = 'The order was found; its status is "paid", and "refund": not yet requested. ' * 4
ACCENTED = TEXT.replace("order", "Verfügung")


def write_native(path: Path, runs: int) -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    ticks = (start + timedelta(seconds=n) for n in range(10**9))
    with LedgerWriter(path, clock=ticks.__next__, fsync="never") as ledger:
        for number in range(runs):
            run = ledger.start(run_id=f"run-{number}", agent="desk", task_id=f"refund-{number % 24}")
            for step in range(STEPS):
                call = f"c{step}"
                run.write(ToolCall, call_id=call, tool="search", arguments={"order": step, "note": TEXT})
                run.write(Observation, call_id=call, ok=True, content=TEXT if step % 2 else ACCENTED)
                run.write(State, state={"order": {"id": step, "status": "paid", "text": TEXT[:200]}})
            run.write(RunFinished, success=True, steps=STEPS, cost=0.5)


def write_foreign(path: Path, native: Path) -> None:
    last: dict[str, str] = {}
    count: dict[str, int] = {}
    with path.open("wb") as file:
        for line in native.read_bytes().splitlines():
            event = json.loads(line)
            run = event["run_id"]
            event |= {"ts": event["ts"].replace("Z", "+00:00"), "prev": last.get(run, GENESIS)}
            written = json.dumps(event, ensure_ascii=False).encode()
            file.write(written + b"\n")
            last[run], count[run] = sha256(written).hexdigest(), event["seq"] + 1
    save_heads(heads_path(path), {run: Head(events=count[run], sha256=last[run]) for run in last})


def floor(path: Path) -> None:
    decode = msgspec.json.Decoder(AnyEvent).decode
    kept = []
    with path.open("rb") as file:
        for line in file:
            content = line[:-1]
            sha256(content).hexdigest()
            kept.append(decode(content))


def cpu(work: Callable[[], object]) -> float:
    before = time.process_time()
    work()
    return time.process_time() - before


def ratios(path: Path, work: Callable[[], object]) -> Iterator[float]:
    for pair in range(PAIRS):
        if pair % 2:
            under, over = cpu(lambda: floor(path)), cpu(work)
        else:
            over, under = cpu(work), cpu(lambda: floor(path))
        gc.collect()
        yield over / under


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    with tempfile.TemporaryDirectory() as folder:
        native, foreign = Path(folder) / "native.jsonl", Path(folder) / "foreign.jsonl"
        write_native(native, runs)
        write_foreign(foreign, native)
        gc.disable()
        print(f"{runs} runs, {runs * (2 + 3 * STEPS):,} events, {native.stat().st_size / 2**20:.1f} MiB")
        print(f"{'':22}median   low  high   (× floor, CPU)")
        for path in (native, foreign):
            works = {
                "read_ledger": lambda path=path: read_ledger(path),
                "verify_ledger": lambda path=path: verify_ledger(path),
            }
            for name, work in works.items():
                found = sorted(ratios(path, work))
                label = f"{path.stem} {name}"
                print(f"{label:22}{statistics.median(found):6.2f}{found[0]:6.2f}{found[-1]:6.2f}")


if __name__ == "__main__":
    main()
