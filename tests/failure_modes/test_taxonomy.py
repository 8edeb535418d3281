"""The taxonomy: changes keep history, old assignments keep their meaning, files are read strictly."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from threading import Thread
from time import sleep
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from untaken import limits
from untaken.analysis.failure_modes import (
    PRESETS,
    Taxonomy,
    change_taxonomy,
    create_mode,
    edit_mode,
    find_mode,
    import_modes,
    kept_taxonomy,
    merge_modes,
    parse_taxonomy,
    preset_modes,
    restore_mode,
    retire_mode,
    split_mode,
    taxonomy_yaml,
)
from untaken.atomic_file import change_file
from untaken.errors import UntakenError

ANN: dict[str, Any] = {"by": "human:ann", "at": datetime(2026, 1, 2, tzinfo=UTC)}


def taxonomy(*names: str) -> Taxonomy:
    made = Taxonomy()
    for name in names:
        made, _ = create_mode(made, name, **ANN)
    return made


def test_a_new_mode_gets_an_id_from_its_name_and_a_colour_of_its_own() -> None:
    made = taxonomy("Policy not checked", "Überprüfung fehlt", "!!!")
    assert [mode.id for mode in made.modes] == ["policy-not-checked", "überprüfung-fehlt", "mode"]
    assert len({mode.colour for mode in made.modes}) == 3
    assert made.version == 3


def test_a_renamed_mode_keeps_its_id_and_says_what_it_was_called() -> None:
    made = edit_mode(taxonomy("Old"), "old", name="New", why="clearer", **ANN)
    (mode,) = made.modes
    assert (mode.id, mode.name, made.version) == ("old", "New", 2)
    change = mode.history[-1]
    assert (change.version, change.author, change.what) == (2, "human:ann", "changed name")
    assert (change.why, change.before.name) == ("clearer", "Old")
    assert edit_mode(made, "old", name=" New ", **ANN) is made
    assert import_modes(made, made.modes, **ANN) is made


def test_what_was_assigned_to_a_merged_mode_counts_as_the_other_until_it_is_restored() -> None:
    made = merge_modes(taxonomy("A", "B", "C"), ["a"], "b", **ANN)
    made = merge_modes(made, ["b"], "c", **ANN)
    assert [made.current(one) for one in ("a", "b", "c", "unknown")] == ["c", "c", "c", "unknown"]
    assert [mode.id for mode in made.active] == ["c"]
    made = restore_mode(made, "a", **ANN)
    assert (made.current("a"), [mode.id for mode in made.active]) == ("a", ["a", "c"])
    assert [c.what for c in made.by_id["a"].history] == ["created it", "merged it into B", "restored it"]


def test_what_was_assigned_to_a_split_or_retired_mode_keeps_its_own_name() -> None:
    made = split_mode(taxonomy("A", "B"), "a", ["A", "A two"], **ANN)
    made = retire_mode(made, "b", **ANN)
    assert (made.current("a"), made.by_id["a"].into) == ("a", ["a-2", "a-two"])
    assert (made.current("b"), made.name("b")) == ("b", "B")
    assert [mode.id for mode in made.active] == ["a-2", "a-two"]
    assert [c.what for c in made.by_id["a"].history] == ["created it", "split it into A, A two"]


REFUSED = [
    ("a name in use, whatever its case", lambda t: create_mode(t, " a ", **ANN)),
    ("no name", lambda t: create_mode(t, "  ", **ANN)),
    ("a name that is too long", lambda t: create_mode(t, "x" * 101, **ANN)),
    ("a split into one", lambda t: split_mode(t, "a", ["X"], **ANN)),
    ("a split into two of one name", lambda t: split_mode(t, "a", ["X", "x "], **ANN)),
    ("a split into a name in use", lambda t: split_mode(t, "a", ["B", "C"], **ANN)),
    ("a merge into a retired mode", lambda t: merge_modes(t, ["a"], "gone", **ANN)),
    ("retiring twice", lambda t: retire_mode(t, "gone", **ANN)),
    ("a colour that is no colour", lambda t: edit_mode(t, "a", colour="red;}", **ANN)),
]


@pytest.mark.parametrize(("_desc", "change"), REFUSED, ids=[desc for desc, _ in REFUSED])
def test_a_change_that_the_taxonomy_does_not_allow_is_refused(_desc: str, change: Any) -> None:
    made = retire_mode(taxonomy("A", "B", "Gone"), "gone", **ANN)
    with pytest.raises(UntakenError) as fault:
        change(made)
    assert fault.value.code == "taxonomy-invalid"


def test_an_unknown_mode_names_the_known_ones() -> None:
    with pytest.raises(UntakenError, match="no failure mode 'x'") as fault:
        find_mode(taxonomy("A", "B"), "x")
    assert (fault.value.code, fault.value.hint) == ("mode-unknown", "Modes in the taxonomy: a, b.")
    assert find_mode(taxonomy("Some name"), "some NAME").id == "some-name"


CIRCLE = "{id: a, name: A, status: merged, into: [b]}, {id: b, name: B, status: merged, into: [a]}"
FILES = [
    ("two of one id", "modes: [{id: a, name: A}, {id: a, name: B}]", "two modes have the id 'a'"),
    ("two of one name", "modes: [{id: a, name: A}, {id: b, name: ' a'}]", "two modes are called 'a'"),
    (
        "merged into nothing",
        "modes: [{id: a, name: A, status: merged, into: [b]}]",
        "'a' became 'b', which is",
    ),
    ("merged in a circle", f"modes: [{CIRCLE}]", "'a' was merged into itself"),
    ("merged without a target", "modes: [{id: a, name: A, status: merged}]", "is merged and became 0 modes"),
    ("an unknown field", "modes: [{id: a, name: A, colr: red}]", "unknown field `colr`"),
    ("no YAML", "modes: [", ""),
    ("an alias", "modes: &m []\nversion: *m", ""),
]


@pytest.mark.parametrize(("_desc", "text", "want"), FILES, ids=[desc for desc, _, _ in FILES])
def test_a_file_that_is_no_taxonomy_says_why(_desc: str, text: str, want: str) -> None:
    with pytest.raises(UntakenError) as fault:
        parse_taxonomy(f"schema: untaken.failure-modes/1\n{text}\n", name="failure_modes.yaml")
    assert (fault.value.code, fault.value.where.file) == ("taxonomy-invalid", "failure_modes.yaml")
    assert want in fault.value.message


LINES = st.text(min_size=1, max_size=60).filter(lambda text: text.strip() and text.isprintable())


@given(names=st.lists(LINES, min_size=1, max_size=5, unique_by=lambda n: " ".join(n.split()).casefold()),
       words=st.text(max_size=200))  # fmt: skip
def test_whatever_people_write_is_read_back_as_it_was(names: list[str], words: str) -> None:
    made = Taxonomy()
    for name in names:
        made, _ = create_mode(made, name, definition=words, examples=[words, name], **ANN)
    assert parse_taxonomy(taxonomy_yaml(made)) == made


@pytest.mark.parametrize(("preset", "modes"), [("mast", 14), ("agentrx", 9)])
def test_a_preset_is_imported_once_and_leaves_what_is_there(preset: Any, modes: int) -> None:
    own = taxonomy(PRESETS[preset][0][1])
    made = import_modes(own, preset_modes(preset), **ANN)
    assert (len(made.modes), made.version) == (modes, own.version + 1)
    assert made.modes[0] == own.modes[0]
    assert all(mode.definition and mode.origin == preset for mode in made.modes[1:])
    assert import_modes(made, preset_modes(preset), **ANN) is made


def test_of_eight_people_at_once_nobody_loses_a_change_or_waits_for_many_others(tmp_path: Path) -> None:
    file = tmp_path / "number"
    file.write_bytes(b"0")
    others: list[int] = []

    def now() -> int:
        return int(file.read_bytes())

    def slowly(number: int) -> bytes:
        sleep(0.002)
        return str(number).encode()

    def person() -> None:
        for _ in range(25):
            sleep(0.002)  # nobody saves again at once: the next in the queue would not yet be awake
            asked_at = now()
            others.append(change_file(file, now, lambda number: number + 1, slowly) - asked_at)

    people = [Thread(target=person) for _ in range(8)]
    for each in people:
        each.start()
    for each in people:
        each.join()
    assert now() == 200
    # They take turns. Not the longest wait of all: a busy machine may wake a thread late.
    waits = sorted(others)
    assert waits[100] >= 4
    assert waits[189] <= 40


def test_what_could_not_be_read_again_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = change_taxonomy(tmp_path, lambda taxonomy: create_mode(taxonomy, "Slow", by="ada")[0])
    monkeypatch.setattr(limits, "GRAPH_FILE_BYTES", 2_000)
    with pytest.raises(UntakenError, match="bytes"):
        change_taxonomy(tmp_path, lambda t: create_mode(t, "Long", definition="x" * 1_900, by="ada")[0])
    assert kept_taxonomy(tmp_path) == kept
