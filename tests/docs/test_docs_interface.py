"""The page of names says exactly what there is: events, files, verbs, documents, tables, pages, colours."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, get_args

import desk
import foreign_files
import msgspec
import pytest
from doc_pages import ROOT, items, names, occurring_keys, page, rows, section

import untaken
from components.compare import choice
from components.memory import view
from components.review import body
from components.shared import navigation, state
from components.shared.options import NAMES
from scripts.document_keys import FINDING, groups
from scripts.reference import views_tables
from scripts.verb_options import verbs
from untaken import facts, limits
from untaken.analysis.ranking.compared.tables import METRICS
from untaken.app_folder import SIGN_IN
from untaken.cli import main, parser
from untaken.counterfactual.memory import Flag, Observed, Signal
from untaken.counterfactual.run_evaluation import DeltaVerdict, EvaluationStatus, Support
from untaken.facts import TABLES as FACT_TABLES
from untaken.judging import WhyUnscored
from untaken.judging.asking.access import SETTING
from untaken.judging.asking.question import KEY_SETTING
from untaken.ledger import event_type
from untaken.ledger import events as e
from untaken.plans import AnswerSpec, Check, PlanGraph, Rule, SubGoal, ToolCallSpec, parse_graph
from untaken.scoring.run_score import Diagnosis, Status
from untaken.simulator.record import PlannedStep, PlanningRecord
from untaken.views import SCHEMAS, json_schema, statuses
from untaken.workspace.database import STORE

TEXT = page("docs/interface.md")
EVENTS, GRAPH = section(TEXT, "## 1. Native ledger events"), section(TEXT, "## 2. Plan graph file")
DOCUMENTS = section(TEXT, "### JSON documents")
PYTHON, PAGES = section(TEXT, "## 4. Python"), section(TEXT, "## 5. Pages")
ENVELOPE = ("run_id", "seq", "ts", "prev")


# Events and files


def described() -> dict[str, str]:
    """The words about the fields of each event type."""
    tables = [cells for cells in rows(EVENTS, "type") if cells[0].strip("`").isupper()]
    return {cells[0].strip("`"): cells[1] for cells in tables}


def test_every_event_type_is_listed_and_no_other() -> None:
    assert sorted(described()) == sorted(map(event_type, get_args(e.AnyEvent)))


def test_the_envelope_is_listed_in_the_order_in_which_it_is_written() -> None:
    assert [cells[0] for cells in rows(EVENTS, "field")] == ["`type`", *(f"`{name}`" for name in ENVELOPE)]


@pytest.mark.parametrize("kind", get_args(e.AnyEvent), ids=event_type)
def test_every_field_of_an_event_is_listed_and_marked_where_it_may_be_left_out(kind: type[e.Event]) -> None:
    words = described()[event_type(kind)]
    fields = [f for f in msgspec.structs.fields(kind) if f.name not in ENVELOPE]
    assert [f.name for f in fields if f"`{f.name}`" not in words] == []
    marked = [f.name for f in fields if f"`{f.name}`?" in words]
    assert marked == [f.name for f in fields if not f.required]


def test_what_may_follow_the_end_of_a_run_is_listed() -> None:
    told = next(line for line in EVENTS.splitlines() if line.startswith("A run begins"))
    after = told.split("After `RUN_FINISHED` only", 1)[1].split("may follow", 1)[0]
    assert sorted(names(after)) == sorted(map(event_type, e.AFTER_RUN))


@pytest.mark.parametrize(("table", "kind"), [("A record:", PlanningRecord), ("A step:", PlannedStep)])
def test_every_field_of_a_record_of_planning_is_listed_and_no_other(
    table: str, kind: type[msgspec.Struct]
) -> None:
    told = [name for item in items(section(TEXT, "### Record of planning"), table) for name in names(item)]
    assert sorted(told) == sorted(kind.__struct_fields__)


LINES = [("holds one observation per line:", Observed), ("in `x.signals.jsonl`", Signal)]


@pytest.mark.parametrize(("before", "kind"), LINES)
def test_every_field_of_a_line_beside_the_ledger_is_listed(before: str, kind: type[msgspec.Struct]) -> None:
    told = EVENTS.split(before, 1)[1].split("\n\n", 1)[0]
    assert [name for name in kind.__struct_fields__ if f"`{name}`" not in told] == []


@pytest.mark.parametrize(
    ("table", "kind"), [("graph", PlanGraph), ("sub-goal", SubGoal), ("check", Check), ("rule", Rule)]
)
def test_every_field_of_a_plan_graph_is_listed_and_no_other(table: str, kind: type[msgspec.Struct]) -> None:
    told = [name for cells in rows(GRAPH, table) for name in names(cells[0])]
    assert sorted(told) == sorted(kind.__struct_fields__)


def test_every_field_of_an_expected_call_is_listed() -> None:
    told = next(cells for cells in rows(GRAPH, "check") if cells[0] == "`tool_call`")[2]
    assert [name for name in ToolCallSpec.__struct_fields__ if f"`{name}`" not in told] == []
    assert [name for name in AnswerSpec.__struct_fields__ if f"`{name}`" not in told] == []
    assert f"up to {limits.SUB_GOALS:,}" in GRAPH


def test_the_plan_graph_shown_is_valid() -> None:
    shown = GRAPH.split("```yaml\n", 1)[1].split("```", 1)[0]
    assert len(parse_graph(shown, name="refund.plan.yaml").sub_goals) == 4


# Command line and documents


def test_every_verb_has_a_section_and_no_other() -> None:
    told = re.findall(r"^## (untaken .*)$", page("docs/cli.md"), re.MULTILINE)
    assert sorted(told) == sorted(["untaken workspace", *(name for name, _ in verbs(parser()))])


def test_every_schema_is_named() -> None:
    assert [name for name in SCHEMAS if f"`{name}`" not in TEXT and f"**`untaken.{name}/" not in TEXT] == []


@pytest.mark.parametrize("words", ["formats", "convert", "graph check", "schema"])
def test_documents_hold_what_is_listed(
    words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graph = desk.write_folder(tmp_path / "world") / "graphs"
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "robot-airline.json").write_text(json.dumps([foreign_files.tau_record()]))
    given = {
        "convert": ["--from", "tau-bench", str(tmp_path / "results"), "-o", str(tmp_path / "out")],
        "graph check": [str(graph)],
    }
    assert main([*words.split(), *given.get(words, []), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    mappings = ("findings[]", "reads")  # of any keys
    found = {p: keys for p, keys in occurring_keys(document) if not p.endswith(mappings)}
    schema = json_schema("schemas" if words == "schema" else words.replace(" ", "-"))
    keys = {group.place or "document": group.names for group in groups(schema) if group.names != FINDING}
    assert keys == found
    assert f"**`{document['schema']}`**" in DOCUMENTS


@pytest.mark.parametrize(
    "choices", [Status, Diagnosis, DeltaVerdict, Support, EvaluationStatus, Flag, WhyUnscored]
)
def test_every_word_a_key_may_hold_is_listed(choices: Any) -> None:
    assert [word for word in get_args(choices) if f"`{word}`" not in DOCUMENTS] == []


def test_every_metric_is_listed_in_its_order() -> None:
    told = next(line for line in DOCUMENTS.splitlines() if line.startswith("Metrics:"))
    assert names(told) == list(METRICS)


# Python and tables


def test_every_public_name_is_listed_and_no_other() -> None:
    assert sorted(items(PYTHON)) == sorted(f"`{name}`" for name in untaken.__all__)


def test_every_table_is_listed() -> None:
    told = page("docs/tables.md")
    for level, tables in (("##", views_tables()), ("###", FACT_TABLES)):
        assert [name for name in tables if f"\n{level} {name}\n" not in told] == []


@pytest.mark.parametrize("name", [*views_tables()])
def test_the_page_of_tables_names_every_column_and_how_to_read_its_reason(name: str) -> None:
    _, columns = views_tables()[name]
    told = section(page("docs/tables.md"), f"## {name}")
    reasons = [key.removesuffix("_reason") for key in columns if f"`{key}`" not in told]
    assert [key for key in reasons if f"`{key}`?" not in told] == []


def test_every_question_on_the_page_of_facts_has_an_answer(tmp_path: Path) -> None:
    folder = desk.write_folder(tmp_path)
    where = [str(folder / "ledgers"), "--graphs", str(folder / "graphs")]
    assert main(["export", *where, "--to", "parquet", "-o", str(tmp_path / "facts")]) == 0
    questions = re.findall(r"```sql\n(.*?)```", page("docs/facts.md"), re.DOTALL)
    assert len(questions) == 5
    with facts.open(tmp_path / "facts") as opened:
        assert [text for text in questions if not len(opened.sql(text))] == []


# Pages and colours


def test_every_page_is_listed_and_no_other() -> None:
    titles = [title for _, title in navigation.PAGES]
    assert items(PAGES, "*Share report* is on Overview, Rankings and Data.") == titles
    stems = {path.stem for path in (ROOT / "pages").glob("*.py")}
    assert stems <= {name for name, _ in navigation.PAGES}
    assert [stem for stem in stems if f"`/{stem}`" not in PAGES] == []


def test_every_query_parameter_is_listed_and_no_other() -> None:
    assert items(PAGES, "Query parameters:") == [
        f"`{name}`"
        for name in (*(*state.SELECTION, *choice.ADDRESS, *view.ADDRESS, *state.SCOPE, body.ADDRESS), *NAMES)
    ]
    variables = {name.strip("`") for name in items(PAGES, "Environment variables:")}
    assert variables == {state.FOLDER, state.DEMO, STORE, SETTING, KEY_SETTING, SIGN_IN}


def test_the_colours_are_those_of_the_app() -> None:
    told = rows(section(TEXT, "## 6. Colours"), "status")
    drawn = [[f"`{s}`", y.fill, y.line, y.icon, y.line_name] for s, y in statuses.STATUS.items()]
    assert told == drawn
    dark = {s: y.shaded(dark=True) for s, y in statuses.STATUS.items()}
    want = [[f"`{s}`", y.fill, y.line, y.ink] for s, y in dark.items()]
    assert rows(section(TEXT, "## 6. Colours"), "in the dark theme") == want
    border = f"a border of {statuses.CRITICAL_BORDER} pixels instead of {statuses.BORDER}"
    assert f"{statuses.STAR} and {border}" in TEXT
