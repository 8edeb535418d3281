"""The loss report says where: the first three places of each field that was dropped, defaulted or derived."""

from __future__ import annotations

import json
from pathlib import Path

import foreign_files

from untaken.ledger import read_ledger
from untaken.traces import convert


def test_the_first_three_dropped_values_are_named_with_record_and_path(tmp_path: Path) -> None:
    records = [foreign_files.tau_record(task_id=n) for n in range(5)]
    for record in records[1:]:
        record["surprise"] = {"deep": [1, {"odd key": "x"}]}
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "robot-airline.json").write_text(json.dumps(records))
    done = convert("tau-bench", [tmp_path / "in"], tmp_path / "out")
    report = json.loads(done.loss_report.read_text("utf-8"))
    (file,) = report["conversions"][0]["files"]
    field = file["fields"]["[].surprise.deep[].odd key"]
    assert (field["dropped"], field["dropped_at"]) == (
        4, [f"record {n}: surprise.deep[1].odd key" for n in (2, 3, 4)]
    )  # fmt: skip
    kept = [one for one in file["fields"].values() if not one["dropped"]]
    assert kept
    assert all(one["dropped_at"] == [] for one in kept)


def test_the_first_three_records_without_a_value_are_named(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for n in range(2):
        messages = [{"role": "user", "content": f"ticket {n}"}, {"role": "assistant", "content": "done"}]
        (tmp_path / "in" / f"{n}.json").write_text(json.dumps({"messages": messages}))
    lines = [json.dumps({"messages": [{"role": "user", "content": f"line {n}"}]}) for n in range(5)]
    (tmp_path / "in" / "many.jsonl").write_text("\n".join(lines))
    done = convert("openai-messages", [tmp_path / "in"], tmp_path / "out")
    by_name = {loss.name: loss for loss in done.losses}
    assert by_name["many.jsonl"].defaulted["RUN_FINISHED.cost"] == 5
    first = by_name["many.jsonl"].defaulted_at["RUN_FINISHED.cost"]
    runs = [run.run_id for path in done.ledgers for run in read_ledger(path)]
    assert len(first) == 3
    assert len(set(first)) == 3
    assert set(first) <= {f"run {run_id}" for run_id in runs}
    assert by_name["1.json"].lines()[0].startswith("1 record, 1 run; 4 of 4 values kept")
    assert len(by_name["1.json"].defaulted_at["RUN_FINISHED.cost"]) == 1
    words = "\n".join(by_name["many.jsonl"].lines())
    assert f"not recorded, default used: RUN_FINISHED.cost (5; first: {', '.join(first)})" in words


def test_a_hostile_name_in_a_place_is_bounded_and_escaped(tmp_path: Path) -> None:
    record = foreign_files.tau_record()
    record["\x1b[2J" + "x" * 10_000] = 1
    (tmp_path / "robot-airline.json").write_text(json.dumps([record]))
    done = convert("tau-bench", [tmp_path / "robot-airline.json"], tmp_path / "out")
    (loss,) = done.losses
    places = [place for field in loss.fields for place in field.dropped_at]
    assert places
    assert all(len(place) < 300 and "\x1b" not in place for place in places)
