"""Looks for possible prompt injections in a process of its own: no page waits for it.

Every text of a run is looked at in all the ways in which a model might read it (`untaken.judging.readings`).
For thousands of runs that takes longer than a visitor waits, and the interpreter runs one thread at a time.
"""

from __future__ import annotations

import signal
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Thread
from time import monotonic
from typing import Final

import msgspec

from untaken.errors import UntakenError
from untaken.judging import RunSearch
from untaken.ledger import ABOUT_RUN, AnyEvent, Chain
from untaken.workspace import Workspace, end_with_app, output_to_app, process_for_app

_SENT_EVERY: Final = 1.0
"""Seconds after which what was found by then is sent."""
_ENTRY: Final = "from untaken.analysis.background_reading import work; work()"


ReadingJob = tuple[str, set[str]]
"""What a process is to read: the folder of a workspace, and digests of ledgers in it."""
Texts = tuple[tuple[int, str], ...]
"""What was found in a run, as it is kept with the run (`TEXTS_TO_JUDGES`)."""


class BackgroundReading:
    """A process that reads ledgers once more.

    Args:
        folder: of the workspace.
        ledgers: by digest.
        ended: called with `found` once it has ended.

    Attributes:
        found: what it has found so far, by digest of the run; also of runs with nothing to be found.
    """

    def __init__(
        self, folder: Path, ledgers: Sequence[str], ended: Callable[[Mapping[str, Texts]], None]
    ) -> None:
        self.found: dict[str, Texts] = {}
        self._ended = ended
        job = str(folder), set(ledgers)
        # A daemon, so that the app need not wait for it to end.
        self._listener = Thread(target=self._listen, args=(job,), daemon=True)
        self._listener.start()

    @property
    def at_work(self) -> bool:
        """Whether more may be found."""
        return self._listener.is_alive()

    def wait(self) -> None:
        """Until it has ended."""
        self._listener.join()

    def _listen(self, job: ReadingJob) -> None:
        with (
            process_for_app(_ENTRY, msgspec.json.encode(job)) as output,
            suppress(msgspec.DecodeError),  # it was killed: who needs more asks again
        ):
            for line in output:
                self.found.update(msgspec.json.decode(line, type=dict[str, Texts]))
        self._ended(self.found)


def work() -> None:
    """What the process does: reads its job, and writes a line for each part of it that is done.

    A workspace that cannot be read ends it: the pages say what is wrong.
    """
    output = output_to_app()
    folder, wanted = msgspec.json.decode(sys.stdin.buffer.readline(), type=ReadingJob)
    end_with_app()
    if not Path(folder).is_dir():  # a private area that was discarded: opening it would create it again
        return
    with suppress(UntakenError, OSError), Workspace(folder) as store:
        ledgers = [file for file in store.ledgers() if file.digest in wanted]
        looked: dict[str, _Looked] = defaultdict(_Looked)
        found: dict[str, Texts] = {}
        sent = monotonic()
        for chain in store.look_through(
            ledgers, lambda chain, events: looked[chain.run_id].look(chain, events)
        ):
            run = looked.pop(chain.run_id, None)
            if run and chain.broken is None:
                found[run.digest] = run.search.found()
            if monotonic() > sent + _SENT_EVERY:
                output.write(msgspec.json.encode(found) + b"\n")
                output.flush()
                found, sent = {}, monotonic()
        output.write(msgspec.json.encode(found) + b"\n")
        output.flush()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # it ends by itself now


class _Looked:
    """A run on its way through the search: what was found in it, and its `Run.digest` so far."""

    __slots__ = ("_finished", "digest", "search")

    def __init__(self) -> None:
        self.search, self.digest = RunSearch(), ""
        self._finished = False

    def look(self, chain: Chain, events: Sequence[AnyEvent]) -> None:
        """The next events of the run."""
        self.search.look(events)
        if self._finished:
            return
        places = range(len(events) - 1, -1, -1)
        own = next((at for at in places if not isinstance(events[at], ABOUT_RUN)), None)
        if own is not None:
            # The hash of the run's last own line, which the line after it names as `prev`.
            self.digest = events[own + 1].prev if own + 1 < len(events) else chain.last
        self._finished = chain.finished
        if self._finished:
            self.search.finish()
