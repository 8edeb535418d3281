"""The digest of a run is its id in links and reviews: what others write about it later leaves it alone."""

from __future__ import annotations

from dataclasses import replace

import pytest
from builders import EPOCH, RunBuilder, a_run

from untaken.errors import Unscored
from untaken.ledger import Run, copies_of, read_ledger, trails_of_copies
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
    builder.verdict("s", True).add(SkillSelection, selected="a", alternatives=[], context_hash="c")
    assert read(builder).digest == head


def test_what_the_run_did_itself_changes_it() -> None:
    more = unfinished().verdict("s", True).call("pay")
    assert len({read(builder).digest for builder in (unfinished(), more, finished())}) == 3


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


def test_a_copy_is_a_run_of_the_same_task_agent_and_doings() -> None:
    def made(name: str, **started: str) -> RunBuilder:
        return a_run(name, **started).select("walk", "ride").call("look", ok=True)

    first, again, late = (made(name).finish() for name in ("r1", "r2", "r3"))
    others = [
        made("other task", task="t2").finish(),
        made("other agent", agent="b").finish(),
        made("other outcome").finish(False),
        made("other cost").finish(cost=0.7),
        made("other call").call("pay").finish(),
        made("no end"),
        a_run("other choice").select("ride", "walk").call("look", ok=True).finish(),
        a_run("other answer").select("walk", "ride").call("look", ok=False).finish(),
    ]
    runs = [one.run() for one in (first, *others, again, late)]
    digest = runs[0].digest
    assert copies_of(runs) == {runs[-2].digest: digest, runs[-1].digest: digest}
    assert set(trails_of_copies(runs)) >= {digest, runs[-2].digest, runs[-1].digest}
    assert trails_of_copies(runs[:-2]).keys() <= {digest, runs[-3].digest}
    assert copies_of([runs[0], runs[0]]) == {}


def test_what_is_not_recorded_of_a_run_is_not_made_up() -> None:
    run = a_run(metadata={"team": "a", "seed": 7, "note": None}).run()
    assert run.named(["seed", "note", "team", "absent"]) == (("seed", "7"), ("team", "a"))
    assert a_run().run().named(["seed"]) == ()
    assert run.started_at == EPOCH
    assert all(isinstance(one.run().success, Unscored) for one in (a_run(), a_run().finish(None)))
    assert [a_run().finish(success).run().success for success in (True, False)] == [True, False]
    assert run.imported(run.started)
    assert not replace(run, appended_here=frozenset({0})).imported(run.started)
