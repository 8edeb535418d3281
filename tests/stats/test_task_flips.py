"""The patterns of signs that the tests of pairs of agents try."""

from __future__ import annotations

import numpy as np
import pytest

from untaken.stats import ranks


@pytest.mark.parametrize("tasks", [0, 1, 2, ranks.EXACT_UP_TO])
def test_of_few_tasks_every_pattern_is_tried_once_up_to_its_mirror_image(tasks: int) -> None:
    (every,) = ranks.task_flips(tasks, seed=1)
    assert every.shape == (2 ** max(0, tasks - 1), tasks)
    assert set(np.unique(every)) <= {-1.0, 1.0}
    assert len(np.unique(every, axis=0)) == len(every)
    assert tasks == 0 or len(np.unique(every[:, -1])) == 1  # of a pattern and its opposite only one


@pytest.mark.parametrize("tasks", [ranks.EXACT_UP_TO + 1, ranks.BLOCK // 800])
def test_of_more_tasks_the_observed_pattern_and_random_ones_come_in_blocks(tasks: int) -> None:
    blocks = list(ranks.task_flips(tasks, seed=1))
    assert max(block.size for block in blocks) <= ranks.BLOCK
    assert sum(map(len, blocks)) == ranks.FLIPS
    assert np.all(blocks[0] == 1.0)
    random = np.concatenate([block[:, :50] for block in blocks[1:]])
    assert set(np.unique(random)) == {-1.0, 1.0}
    assert abs(random.mean()) < 5 / np.sqrt(random.size)
