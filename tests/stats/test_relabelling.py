"""Relabelling is the permutation test that counting every relabelling is."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest

from untaken.stats.relabelling import relabelled

REACHED = np.array([[1, 1, 1, 1, 1, 1, 1, 1], [1, 1, 0, 1, 1, 1, 1, 0]], dtype=bool)
DONE = np.array([[1, 0, 1, 0, 1, 1, 0, 1], [1, 0, 0, 1, 0, 1, 1, 0]], dtype=bool)
SECOND = np.array([0, 1, 0, 1, 0, 1, 1, 0], dtype=bool)
STRATA = np.array([0, 0, 0, 0, 1, 1, 1, 1])


def differences(second: np.ndarray) -> list[float]:
    """Of each row that both sides reached anywhere: Mantel and Haenszel's weighted mean over strata."""
    found = []
    for reached, done in zip(REACHED, DONE, strict=True):
        parts = []
        for stratum in (0, 1):
            k1, k0 = (done[reached & (second == side) & (stratum == STRATA)] for side in (True, False))
            if k1.size and k0.size:
                parts.append((k1.size * k0.size / (k1.size + k0.size), k1.mean() - k0.mean()))
        if parts:
            found.append(abs(sum(w * d for w, d in parts) / sum(w for w, _ in parts)))
    return found


def test_the_share_is_that_of_every_relabelling_inside_strata() -> None:
    ways = [set(permutations(SECOND[one == STRATA])) for one in (0, 1)]
    every = [max(differences(np.array([*a, *b]))) for a, b in product(*ways)]
    assert len(set(every)) > 3
    for largest in sorted(set(every))[1:]:
        want = np.mean([one >= largest - 1e-12 for one in every])
        asked = {"reached": REACHED.tolist(), "done": DONE.tolist(), "strata": STRATA.tolist(), "seed": 1}
        found = relabelled(**asked, second=SECOND.tolist(), largest=largest, shuffles=4_000)
        assert found == pytest.approx(want, abs=0.03)


def test_the_real_labels_are_one_of_the_relabellings() -> None:
    asked = {"reached": [[True, True]], "done": [[True, False]], "second": [True, False], "strata": [0, 0]}
    assert relabelled(**asked, largest=1.0, shuffles=9, seed=0) == 1.0
    assert relabelled(**asked, largest=1.5, shuffles=9, seed=0) == 0.1
    apart = asked | {"strata": [0, 1]}  # no stratum has both sides: nothing differs
    assert relabelled(**apart, largest=0.0, shuffles=9, seed=0) == 0.1
