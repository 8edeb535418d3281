"""The digest of a run is its id in links and reviews: what others write about it later leaves it alone."""

from __future__ import annotations

import pytest
from builders import RunBuilder, a_run

from untaken.ledger import Run, read_ledger
from untaken.ledger.events import CounterfactualInsight, ReviewNote, SkillSelection


def read(builder: RunBuilder) -> Run:
    (run,) = read_ledger(builder.ledger())
    return run


def finished() -> RunBuilder:
    return a_run("r1").call("look").verdict("s", True, "test").finish()


def unfinished() -> RunBuilder:
    return a_run("r1").call("look")


@pytest.mark.parametrize("begin", [finished, unfinished])
def test_verdicts_notes_and_insights_do_not_change_it(begin: type[RunBuilder]) -> None:
    before = read(begin())
    later = begin().verdict("s", False).add(ReviewNote, author="ann", text="hm")
    later.add(CounterfactualInsight, decision_point=0, selected="a", alternative="b", delta=0.2)
    after = read(later)
    assert after.digest == before.digest
    assert after.integrity.head != before.integrity.head


def test_it_is_the_hash_of_run_finished() -> None:
    builder = finished()
    head = builder.head.sha256
    assert (
        read(
            builder.verdict("s", True).add(SkillSelection, selected="a", alternatives=[], context_hash="c")
        ).digest
        == head
    )


def test_what_the_run_did_itself_changes_it() -> None:
    digests = {
        read(b).digest for b in (unfinished(), unfinished().verdict("s", True).call("pay"), finished())
    }
    assert len(digests) == 3


def test_a_broken_copy_never_replaces_the_run() -> None:
    whole = finished().verdict("s", True)
    data = whole.ledger()
    (broken,), _ = read_ledger(data[:-20], strict=False)
    assert broken.integrity.broken
    assert broken.digest != read(finished()).digest


def test_who_ran_is_its_name_with_what_is_recorded_of_model_version_and_prompt() -> None:
    recorded = {"model": "m", "version": "2", "prompt_version": "p"}
    assert a_run(agent="a", **recorded).run().identity == ("a", "m", "2", "p")
    assert a_run(agent="a").run().identity == ("a", "", "", "")
    assert a_run(agent="a", metadata={"agent_version": "3"}).run().identity == ("a", "", "3", "")
