"""The run's state: merge patches, then the final state."""

from __future__ import annotations

import copy

import pytest
from builders import a_run

from untaken.scoring.expressions import evaluated
from untaken.scoring.trace import StateFold, Trace, merge_patch

# RFC 7386, appendix A, as far as target and patch are objects
RFC_7386 = [
    ({"a": "b"}, {"a": "c"}, {"a": "c"}),
    ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
    ({"a": "b"}, {"a": None}, {}),
    ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
    ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
    ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
    ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
    ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
    ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
    ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ({"a": [1]}, {"a": [True]}, {"a": [True]}),
]


@pytest.mark.parametrize(("target", "patch", "want"), RFC_7386)
def test_merge_patch_follows_the_rfc_and_never_changes_the_patch(target, patch, want) -> None:
    given = copy.deepcopy(patch)
    merge_patch(target, patch)
    merge_patch(target, {"later": {"x": 1}})
    target.pop("later")
    assert target == want
    assert [type(v) for v in target.values()] == [type(v) for v in want.values()]
    assert patch == given


def folded(builder) -> StateFold:
    trace = Trace(builder.run())
    fold = StateFold(trace.states)
    fold.forward(trace.last)
    return fold


def test_the_state_is_the_fold_of_its_patches() -> None:
    fold = folded(a_run().state(a=1, b={"x": 1}).state(b={"y": 2}).state(a=None).finish())
    assert fold.state == {"b": {"x": 1, "y": 2}}
    assert fold.changed == {"a": 3, "b": 2}


def test_a_recorded_final_state_replaces_its_fields_whole_and_keeps_the_others() -> None:
    builder = (
        a_run()
        .state(kept=1, order={"id": 1, "open": True})
        .finish(final_state={"order": {"id": 1}, "n": None})
    )
    assert folded(builder).state == {"kept": 1, "order": {"id": 1}, "n": None}


def test_a_field_is_said_to_change_only_where_it_does() -> None:
    fold = folded(a_run().state(a=1).state(a=1).finish(final_state={"a": 1, "b": 2}))
    assert fold.changed == {"a": 1, "b": 3}


def test_what_is_remembered_of_small_values_does_not_stop_an_expression_that_reads_a_list_too() -> None:
    state = {"a": 1, "b": [1, 2]}
    assert evaluated("state.a == 1 && size(state.b) == 2", ("a", "b"), state) is True
    assert evaluated("state.a == 1", ("a",), state) is True
