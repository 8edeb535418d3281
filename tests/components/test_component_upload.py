"""What a person is told about the files that were brought."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from components.upload import integrity_words, show_taken
from untaken.errors import Finding
from untaken.intake import Taken
from untaken.ledger import Integrity

FAULT = Finding(
    code="file-not-recognised", message="<b>what</b> is this", severity="error", hint="Try again."
)
SOUND = Taken(name="sound.jsonl", kind="ledger", new=True, runs=2, integrity=())
BROKEN = Taken(
    name="broken.jsonl",
    kind="ledger",
    new=True,
    runs=1,
    integrity=(Integrity(run_id="r", verdict="ALTERED", reason="a byte differs"),),
)
UNKNOWN = Taken(name="![x](http://e.example).exe", kind=None, findings=(FAULT,))


def shown(*taken: Taken) -> AppTest:
    def page(taken):  # the body is run as a script of its own, which knows no name from here
        from components.upload import show_taken

        show_taken(taken)

    return AppTest.from_function(page, args=(taken,)).run()


@pytest.mark.parametrize(
    ("desc", "taken", "marks"),
    [
        ("sound", (SOUND,), ["✓"]),
        ("broken ledgers are taken in and marked", (BROKEN, SOUND), ["⚠", "✓"]),
        ("an unknown file does not hide the good ones", (UNKNOWN, SOUND), ["✗", "✓"]),
    ],
)
def test_each_file_has_a_row_with_its_outcome(desc: str, taken: tuple[Taken, ...], marks: list[str]) -> None:
    app = shown(*taken)
    assert not app.exception
    assert list(app.dataframe[0].value[""]) == marks, desc


def test_faults_are_counted_in_words() -> None:
    app = shown(SOUND, BROKEN, UNKNOWN)
    assert app.warning[0].value == (
        "2 of 3 files taken in; 1 of them with faults; 1 could not be used. The reasons stand below."
    )
    assert "Try again." in app.dataframe[0].value["next step"].tolist()


def test_nothing_brought_says_nothing() -> None:
    assert show_taken(()) is None
    assert not shown().dataframe


def test_integrity_is_counted_by_verdict() -> None:
    runs = ("INTACT", "INTACT", "ALTERED")
    verdicts = tuple(Integrity(run_id=str(n), verdict=v, reason="") for n, v in enumerate(runs))
    one = Taken(name="x", kind="ledger", integrity=verdicts)
    assert integrity_words(one) == "2 INTACT · 1 ALTERED"
