"""What tests build is what a reader reads."""

from __future__ import annotations

from io import BytesIO

from builders import a_run

from untaken.ledger import read_ledger


def test_a_built_run_equals_the_ledger_read_back() -> None:
    builder = a_run("r", agent="a", task="t").plan("x").call("look", "x", ok=True, q=1).state(done=True)
    builder.say("hello").select("s", "t").verdict("x", True, evidence=(2,)).finish(success=True).verdict(
        "x", None
    )
    (read,) = read_ledger(BytesIO(builder.ledger()), heads={"r": builder.head})
    assert read.events == builder.run().events
    assert read.integrity.verdict == "INTACT"
    assert read.digest == builder.run().digest
