"""What is sent or kept of a ledger: its runs and their scores, made of it when somebody asks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
from msgspec.structs import replace

from untaken.errors import Finding, Score, Unscored
from untaken.facts.scaling.distant import DistantRun, Ledger, RunRecord, RunSource, Same, ScoreRecord
from untaken.plans import GraphSet
from untaken.scoring import DetailLater, MissingRule, ScoreDetail, score_detail


class Scoring(msgspec.Struct, frozen=True, kw_only=True):
    """What runs are scored against, and under which rule.

    Attributes:
        missing: how sub-goals without a verdict count; under the other rule a score is only counted again.
        verdicts: globs over VERDICT.by.
        detail: whether what each score rests on is wanted, too: where every run's will be shown.
        features: whether those of each run are wanted (`take_features`): where failed runs are compared.
    """

    graphs: GraphSet
    missing: MissingRule = "fail"
    verdicts: tuple[str, ...] = ()
    detail: bool = False
    features: bool = False


class OwnFigures(msgspec.Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """What the score of a run has of its own; in all the rest, most runs end as others do.

    `detail` is only sent where it is wanted; otherwise it is worked out again.
    """

    run_id: str
    digest: str
    agent: str
    task_id: str
    task_repeat: int | None
    model: str | None
    cost: Score
    steps: Score
    detail: ScoreDetail | None = None


class KeptScore(NamedTuple):
    """A `ScoreRecord`, encoded: without `OwnFigures`, and these; none where the run has no score."""

    ending: bytes
    own: bytes


class LedgerRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What is sent or kept of one ledger.

    Attributes:
        scores: of each run its `KeptScore`, with the place of its ending among `endings`; empty where no run
            was scored.
        endings: each once, as most runs share theirs with others.
    """

    runs: tuple[RunRecord, ...]
    scores: tuple[tuple[int, bytes], ...]
    endings: tuple[bytes, ...]
    findings: tuple[Finding, ...]


class LedgerTable:
    """The record of a ledger, whose runs and scores are made of it when somebody asks: a `KeptLedger`."""

    def __init__(
        self, record: LedgerRecord, path: Path | None, ledger: Ledger, scoring: Scoring | None, same: Same
    ) -> None:
        """The table of a ledger.

        Args:
            record: as it is kept.
            path: of the ledger, if it is a file of this machine: detail is read from its lines.
            ledger: what gives the events of runs whose lines cannot be found by place.
            scoring: what the scores hold under; ``None`` where there are none.
            same: what these runs share with others.
        """
        self._record, self._path, self._ledger, self._scoring, self.same = record, path, ledger, scoring, same
        self.scoring = (scoring.graphs, scoring.verdicts) if scoring else (None, ())
        self._endings: dict[int, ScoreRecord] = {}

    @property
    def runs(self) -> list[DistantRun]:
        """The runs, in the order of the ledger."""
        return [DistantRun(about, self, place) for place, about in enumerate(self._record.runs)]

    def source(self, place: int) -> RunSource:
        """Where the run at a place is read again."""
        about = self._record.runs[place]
        return RunSource(about, (self._path and about.lines(self._path)) or self._ledger)

    def kept_score(self, place: int) -> KeptScore | None:
        """The score of the run at a place, as it is kept."""
        if self._scoring is None:
            return None
        ending, own = self._record.scores[place]
        return KeptScore(self._record.endings[ending], own)

    def scored(self, place: int) -> ScoreRecord | None:
        """The score of the run at a place; its detail is worked out from its lines when somebody looks."""
        if self._scoring is None:
            return None
        at, kept = self._record.scores[place]
        record = self._endings.get(at)
        if record is None:
            record = self._endings[at] = self.same.record(_score.decode(self._record.endings[at]))
        score, missing, scoring = record.score, record.missing, self._scoring
        if score is None:
            return record
        own = _own.decode(kept)

        def detail() -> ScoreDetail:
            run = self.source(place)()
            graph, _ = scoring.graphs.for_task(run.task_id, run.started.graph)
            if isinstance(graph, Unscored):
                raise TypeError("a run with a score has a plan graph")
            return score_detail(run, graph, scoring.verdicts, missing)

        score = replace(
            score,
            run_id=own.run_id,
            digest=own.digest,
            agent=self.same.value(own.agent),
            task_id=self.same.value(own.task_id),
            task_repeat=own.task_repeat,
            model=self.same.value(own.model),
            cost=own.cost,
            steps=own.steps,
            detail=DetailLater(own.detail or detail),
        )
        return replace(record, score=score)


NO_DETAIL: Final = DetailLater(ScoreDetail(nodes=(), progress=()))
_NOTHING_OWN: Final[Mapping[str, Any]] = {
    **dict.fromkeys(("run_id", "digest", "agent", "task_id"), ""),
    **dict.fromkeys(("task_repeat", "model")),
    **dict.fromkeys(("cost", "steps"), 0.0),
    "detail": NO_DETAIL,
}
"""The fields of a score that `OwnFigures` takes the place of."""

_record = msgspec.msgpack.Decoder(LedgerRecord)
_own = msgspec.msgpack.Decoder(OwnFigures)
_score = msgspec.msgpack.Decoder(ScoreRecord, dec_hook=lambda *_: NO_DETAIL)
# The detail of a score is the one part that is no plain data.
_encoded = msgspec.msgpack.Encoder(enc_hook=lambda _: None).encode


def encode_score(record: ScoreRecord, *, detail: bool = False) -> KeptScore:
    """The score of a run; what it rests on stays in the ledger, unless it is wanted."""
    score = record.score
    if score is None:
        return KeptScore(_encoded(record), b"")
    figures = {name: getattr(score, name) for name in _NOTHING_OWN}
    own = OwnFigures(**figures | {"detail": score.detail.known if detail else None})
    ending = replace(record, score=replace(score, **_NOTHING_OWN))
    return KeptScore(_encoded(ending), _encoded(own))


def encoded_score(run: DistantRun) -> KeptScore | None:
    """The score of a run that was scored before; as it came, where nobody has asked for it."""
    if "scored" not in run.__dict__ and isinstance(run.ledger, LedgerTable):
        return run.ledger.kept_score(run.place)  # never decoded to be encoded again
    return None if run.scored is None else encode_score(run.scored)


def encode_ledger(runs: Sequence[tuple[RunRecord, KeptScore | None]], findings: Sequence[Finding]) -> bytes:
    """The record of a ledger, as MessagePack; scores are as `encode_score` gives them."""
    endings: dict[bytes, int] = {}
    kept = [score for _, score in runs if score is not None]
    scores = [(endings.setdefault(score.ending, len(endings)), score.own) for score in kept]
    return _encoded(
        LedgerRecord(
            runs=tuple([run for run, _ in runs]),
            scores=tuple(scores),
            endings=tuple(endings),
            findings=tuple(findings),
        )
    )


def decode_ledger(content: bytes) -> LedgerRecord:
    """What `encode_ledger` gave.

    Raises:
        msgspec.MsgspecError: for anything else.
    """
    return _record.decode(content)
