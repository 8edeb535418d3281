"""What is worked out of a ranking on request: agents two by two, pass^k, quadrants, what drives gaps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from untaken.lazy_imports import imported_on_first_use

if TYPE_CHECKING:
    from untaken.analysis.ranking.compared.drivers import (
        contributions as contributions,
        sub_goal_gaps as sub_goal_gaps,
        task_gaps as task_gaps,
    )
    from untaken.analysis.ranking.compared.pairs import compare as compare
    from untaken.analysis.ranking.compared.pass_k import (
        pass_hat_k as pass_hat_k,
        pass_k_curve as pass_k_curve,
    )
    from untaken.analysis.ranking.compared.quadrants import quadrant_points as quadrant_points
    from untaken.analysis.ranking.compared.tables import (
        Cells as Cells,
        RunsByCell as RunsByCell,
        by_cell as by_cell,
        metric_cells as metric_cells,
        table_of as table_of,
    )
    from untaken.analysis.ranking.compared.workflow import (
        WORKFLOW_METRIC as WORKFLOW_METRIC,
        workflow_verdicts as workflow_verdicts,
    )

# It computes, and NumPy is slow to load.
__getattr__, __dir__ = imported_on_first_use(__name__)
