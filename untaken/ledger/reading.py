"""One pass over a ledger: every line to its run, every fault to whom it concerns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from untaken.errors import UntakenError, Where
from untaken.ledger.chain import Break, Chain
from untaken.ledger.decoding import LineFault, decode_event, run_of
from untaken.ledger.model import Integrity, Run
from untaken.ledger.source import View

_HINTS = {
    "ALTERED": "Conclude nothing from this run; fetch the ledger again from where it was written.",
    "TRUNCATED": "The end of the run is missing; fetch the ledger again from where it was written.",
    "MALFORMED": "Correct the program that wrote this line; a lenient read keeps the other runs.",
}


class Reading:
    """One pass over a ledger: the chain of each run, and the faults of the file itself."""

    def __init__(self, view: View, report: Callable[[UntakenError], None], *, keep: bool) -> None:
        self.file_faults: list[Integrity] = []
        self._view = view
        self._heads = view.heads or {}
        self._report = report
        self._keep = keep
        self._open: dict[str, Chain] = {}
        self._seen: set[str] = set()

    def chains(self, last_lines: Mapping[str, int] | None = None) -> Iterator[Chain]:
        """The chain of every run: at its last line where `last_lines` tells it, else at the end of the file."""
        number = 0
        try:
            for number, line in enumerate(self._view.lines(), 1):
                run_id = self._feed(number, line)
                if last_lines is not None and last_lines.get(run_id) == number and run_id in self._open:
                    yield self._closed(run_id)
        except UntakenError as error:
            self._file_fault(error)
        if not number and not self._heads:
            self._file_fault(self._error("ledger-empty", "there is no event in it", hint="Nothing was recorded here."))
        for run_id in [*self._open, *(run_id for run_id in self._heads if run_id not in self._seen)]:
            yield self._closed(run_id)

    def run(self, chain: Chain) -> Run | None:
        """The run of a chain; ``None`` where not even its start is readable."""
        if not chain.kept:
            return None
        return Run(events=tuple(chain.kept), integrity=chain.integrity(), source=self._view.name)

    def _feed(self, number: int, line: bytes) -> str:
        """Give one line to its run, whose id is returned; empty where it cannot be told."""
        try:
            event = decode_event(line)
        except LineFault as fault:
            return self._malformed(number, line, fault)
        run_id = event.run_id
        chain = self._open.get(run_id) or self._begun(run_id)
        if chain.broken is None:
            if chain.extend(event, line, number) and self._keep:
                chain.kept.append(event)
            if chain.broken is not None:
                self._fault(chain.broken, run_id)
        return run_id

    def _begun(self, run_id: str) -> Chain:
        chain = self._open[run_id] = Chain(run_id, self._heads.get(run_id))
        self._seen.add(run_id)
        return chain

    def _closed(self, run_id: str) -> Chain:
        chain = self._open.pop(run_id, None) or Chain(run_id, self._heads.get(run_id))
        if chain.broken is None and (broken := chain.end()):
            self._fault(broken, run_id)
        return chain

    def _malformed(self, number: int, line: bytes, fault: LineFault) -> str:
        run_id = run_of(line)
        if run_id is None:
            where = Where(file=self._view.name or None, line=number, column=fault.column)
            self._file_fault(UntakenError(fault.code, fault.message, where=where, hint=_HINTS["MALFORMED"]))
            return ""
        chain = self._open.get(run_id) or self._begun(run_id)
        if chain.broken is None:
            chain.fail(fault, number)
            assert chain.broken
            self._fault(chain.broken, run_id)
        return run_id

    def _fault(self, broken: Break, run_id: str) -> None:
        where = Where(file=self._view.name or None, line=broken.line, column=broken.column, run=run_id)
        self._report(UntakenError(broken.code, broken.reason, where=where, hint=_HINTS[broken.verdict]))

    def _file_fault(self, error: UntakenError) -> None:
        where = error.where
        self.file_faults.append(
            Integrity(run_id="", verdict="MALFORMED", reason=error.message, line=where.line, column=where.column)
        )
        self._report(error)

    def _error(self, code: str, message: str, *, hint: str) -> UntakenError:
        return UntakenError(code, message, where=Where(file=self._view.name or None), hint=hint)
