"""Messages about uploaded files."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace
from streamlit.testing.v1 import AppTest

from untaken.errors import Finding
from untaken.ledger import Integrity
from untaken.traces.format_info import FileLoss
from untaken.views.upload_results import stopped_uploads, together, uploads
from untaken.workspace.intake import UploadResult

FAULT = Finding(
    code="file-not-recognised", message="<b>what</b> is this", severity="error", hint="Try again."
)
SOUND = UploadResult(name="sound.jsonl", kind="ledger", new=True, runs=2, integrity=())
BROKEN = UploadResult(
    name="broken.jsonl",
    kind="ledger",
    new=True,
    integrity=(Integrity(run_id="r", verdict="ALTERED", reason="a byte differs"),),
)
UNKNOWN = UploadResult(name="![x](http://e.example).exe", kind=None, findings=(FAULT,))


def shown(*taken: UploadResult) -> AppTest:
    def page(taken):  # the body is run as a script of its own, which knows no name from here
        from components.data.upload import show_results

        show_results(taken)

    return AppTest.from_function(page, args=(taken,), default_timeout=60).run()


def heads(app: AppTest) -> list[str]:
    """The mark on each card."""
    return [
        line.value[0]
        for line in app.text
        if re.fullmatch(r"[✓⚠✗] ([^:]*|\d+ files: .*)|✗ !\[x\].*exe", line.value)
    ]


def test_each_file_has_a_card_with_its_outcome_and_its_reason_and_advice_is_said_once() -> None:
    assert heads(shown(SOUND)) == ["✓"]
    app = shown(SOUND, BROKEN, UNKNOWN, replace(UNKNOWN, name="![x](b).exe"))
    assert not app.exception
    assert heads(app) == ["⚠", "✗", "✗", "✓"]
    assert app.warning[0].value == (
        "2 of 4 files added; 1 of them with faults; 1 broken run, counted nowhere; 2 not added. "
        "The reasons are below."
    )
    reasons = [line.value for line in app.text if "is this" in line.value]
    assert reasons[0].startswith("✗ ![x](http://e.example).exe: <b>what</b> is this.")
    assert [line.endswith("Try again.") for line in reasons] == [True, False]
    assert not shown().dataframe


def test_a_card_names_what_a_file_held_what_was_lost_and_what_to_do() -> None:
    nothing = {"ledgers": (), "fields": (), "findings": (), "defaulted": {}, "synthesised": {}}
    loss = FileLoss(name="sound.jsonl", bytes=1, sha256="", records=1, runs=2, **nothing)
    hint = "Add time zones."
    found = Finding(code="naive-timestamps", message="no time zone", severity="warning", hint=hint)
    app = shown(replace(SOUND, kind="tau-bench", graphs=1, loss=loss, findings=(found,)))
    assert app.caption[0].value.replace("\\", "") == "τ-bench results · new · 2 runs · 1 plan graph"
    assert app.text[1].value == f"No time zone. {hint}"
    assert [line.value.split(":")[0] for line in app.expander[0].text] == ["Kept 0 of 0 values.", "Findings"]


def test_what_was_here_before_is_not_said_to_be_added() -> None:
    known = replace(SOUND, new=False)
    assert shown(known).success[0].value == "0 of 1 file added; 1 already here."
    assert shown(SOUND, known).success[0].value == "1 of 2 files added; 1 already here."


def test_files_of_one_kind_that_fared_alike_are_one_card() -> None:
    app = shown(*(replace(SOUND, name=f"{n}.jsonl") for n in range(30)), UNKNOWN, BROKEN)
    assert heads(app) == ["✗", "⚠", "✓"]
    assert "✓ 30 files: 0.jsonl, 1.jsonl, 2.jsonl and 27 more" in [line.value for line in app.text]
    assert any("run ledger · new · 60 runs" in line.value for line in app.caption)


def test_files_of_different_folders_and_archives_have_cards_of_their_own() -> None:
    taken = [replace(SOUND, name=name) for name in ("a/1.jsonl", "b/1.jsonl", "b/2.jsonl")]
    names = [one.row.name for one in together(uploads([*taken, ARCHIVE, member(SOUND)]))]
    assert names == ["a/1.jsonl", "2 files: b/1.jsonl, b/2.jsonl", "all.zip"]


ARCHIVE = UploadResult(name="all.zip", kind="archive", new=True)


def member(row: UploadResult, **changes: object) -> UploadResult:
    return replace(row, name=f"all.zip/{row.name}", **changes)


UPLOADS: list[tuple[str, tuple[UploadResult, ...], list[tuple[str, str, int, int]]]] = [
    ("a rejected file is not already here", (UNKNOWN,), [("✗", "not added", 0, 0)]),
    ("a broken file that came before", (replace(BROKEN, new=False),), [("✗", "not added", 0, 0)]),
    ("an archive and its members are one row", (ARCHIVE, member(SOUND), SOUND), [
        ("✓", "new", 2, 1), ("✓", "new", 2, 0)
    ]),
    ("an archive that gave nothing", (ARCHIVE, member(UNKNOWN)), [("✗", "not added", 0, 1)]),
    ("an empty archive", (ARCHIVE,), [("✗", "not added", 0, 0)]),
    ("an archive of traces without a run", (ARCHIVE, member(SOUND, runs=0)), [("✗", "not added", 0, 1)]),
    ("an archive with a bad member", (ARCHIVE, member(SOUND), member(UNKNOWN)), [("⚠", "new", 2, 2)]),
    ("an archive of broken ledgers", (ARCHIVE, member(BROKEN)), [("⚠", "new", 0, 1)]),
    ("heads alone", (ARCHIVE, member(UploadResult(name="h", kind="heads", new=True))), [("✓", "new", 0, 1)]),
    ("an archive that was here", (ARCHIVE, member(SOUND, new=False)), [("✓", "already here", 2, 1)]),
]  # fmt: skip


@pytest.mark.parametrize(("desc", "taken", "want"), UPLOADS, ids=[case[0] for case in UPLOADS])
def test_an_upload_is_one_row_that_says_what_it_gave(desc, taken, want) -> None:
    assert [(one.mark, one.status, one.runs, len(one.members)) for one in uploads(taken)] == want, desc


@pytest.mark.parametrize(
    ("desc", "arrived", "marks"),
    [
        ("nothing had arrived", (), ["✗", "✗"]),
        ("a file had arrived", (SOUND,), ["✗", "✓"]),
        ("a part of an archive had arrived", (SOUND, member(SOUND)), ["⚠", "✓"]),
    ],
)
def test_a_stopped_upload_says_of_each_file_whether_it_was_added(desc, arrived, marks) -> None:
    found = uploads(stopped_uploads(["all.zip", "sound.jsonl"], arrived))
    assert [one.mark for one in found] == marks, desc
    assert all(one.reasons[0].code == "upload-stopped" for one in found if one.mark != "✓")


def test_what_members_have_in_common_is_one_sentence_and_a_cell_holds_a_bounded_number_of_them() -> None:
    note = Finding(code="missing-outcome", message="no outcome is recorded", severity="note", hint="Join.")
    members = [member(replace(SOUND, name=f"{n}.json", kind="chat", findings=(note,))) for n in range(1_200)]
    (archive,) = uploads([ARCHIVE, *members, member(replace(UNKNOWN, name="x.exe"))])
    assert archive.finding_words == (
        "missing-outcome: no outcome is recorded (1,200 times) · file-not-recognised: <b>what</b> is this"
    )
    assert archive.next_step == "Join. · Try again."
    found = tuple(replace(FAULT, message=f"fault {n}", hint=f"Step {n}.") for n in range(80))
    (one,) = uploads([replace(UNKNOWN, findings=found)])
    assert one.finding_words.endswith("fault 49 · and 30 more")
    assert one.next_step.endswith("Step 49.")


def test_the_members_of_an_archive_are_listed_when_somebody_opens_it() -> None:
    app = shown(ARCHIVE, member(SOUND), member(BROKEN))
    assert not app.exception
    assert app.expander[0].label == "Details of 2 files"
    assert len(app.dataframe) == 0
