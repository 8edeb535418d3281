"""AgentRx: tau-bench runs, and people's labels of the steps at which failed ones went wrong.

The runs are tau-bench records; a label names one by its `task_id`. Its steps count the messages of the
trajectory, the system's first, as the `index` of the records does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from untaken.traces import tau_bench
from untaken.traces.agentrx_labels import AgentRxLabels
from untaken.traces.importer import importer
from untaken.traces.intake import Intake
from untaken.traces.sample import Confidence, Sample
from untaken.traces.sources import Source


def _recognise(sample: Sample) -> Confidence:
    if sample.mentions("trajectory_id", "failures"):
        return Confidence.LIKELY
    if tau_bench.IMPORTER.recognise(sample) is Confidence.NO:
        return Confidence.NO
    return Confidence.CERTAIN if sample.mentions("traj", "index") else Confidence.POSSIBLE


def _convert(sources: Sequence[Source], intake: Intake) -> None:
    labels = AgentRxLabels()
    tau_bench.convert(labels.read(sources, intake), intake, labels)
    labels.unmet()


IMPORTER: Final = importer(
    name="agentrx",
    title="AgentRx failure labels",
    what="τ-bench runs with people's labels of failing steps: root causes as verdicts, kinds as modes.",
    recognise=_recognise,
    convert=_convert,
    passes=2,
    joins=True,
    agent=("(file name)",),
    task=("task_id",),
    task_text=("info.task.instruction",),
    outcome=("reward",),
)
