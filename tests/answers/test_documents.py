"""What the schemas of documents refuse, and that an unknown number has its reason beside it."""

from __future__ import annotations

import json

import desk
import jsonschema
import pytest

from untaken.cli import main
from untaken.plans import parse_graph
from untaken.views.documents import Document, Keys
from untaken.views.schemas import SCHEMAS, json_schema


@pytest.mark.parametrize(
    "change",
    [{"more": 1}, {"schema": "untaken.gate/2"}, {"met": "yes"}, {"checks": {}}, {"checks": [{}]}],
    ids=[
        "a key too many",
        "another schema",
        "a text for a truth",
        "an object for a list",
        "a key that lacks",
    ],
)
def test_a_schema_refuses_what_the_types_do_not_allow(change, tmp_path, capsys) -> None:
    folder = desk.write_folder(tmp_path)
    words = f"gate {folder}/ledgers --graphs {folder}/graphs --require coverage>=0.5 --resamples 9 --json"
    main(words.split())
    found = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, json_schema("gate"))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(found | change, json_schema("gate"))


PLACES = set(
    "seq reference_seq decisive_seq decided_at first last completed_at event note like_seq line column"  # noqa: SIM905
    " nearest statement group level advantage_level task_repeat graph_version current time_limit n_tasks"
    " least unanswered".split()
)
"""Numbers that say where or which: ``null`` is *none there*, not *not known*."""
RECORDS = {"memory-apply": {"cost", "steps"}, "graph-check": {"version", "sub_goals", "edges"}}
"""Lines of a file as they are there; a plan graph that could not be read, whose findings say why."""
DOCUMENTS = [name for name, kind in SCHEMAS.items() if isinstance(kind, Keys)]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_number_of_a_document_that_may_be_unknown_has_its_reason_beside_it(name: str) -> None:
    found = numbers_without_reason(json_schema(name))
    known = PLACES | RECORDS.get(name, set())
    assert [at for at in found if at.rpartition(".")[2] not in known] == []


def numbers_without_reason(schema: Document, at: str = "") -> list[str]:
    """Where numbers may be ``null`` and no reason can stand beside them."""
    found = [one for part in schema.get("anyOf", ()) for one in numbers_without_reason(part, at)]
    properties = schema.get("properties", {})
    for key, each in properties.items():
        kinds = {part.get("type") for part in each.get("anyOf", ())}
        if "null" in kinds and kinds & {"number", "integer"} and f"{key}_reason" not in properties:
            found.append(f"{at}.{key}")
        found += numbers_without_reason(each, f"{at}.{key}")
    for more in (schema.get("items"), schema.get("additionalProperties")):
        found += numbers_without_reason(more, at) if isinstance(more, dict) else []
    return found


@pytest.mark.parametrize(
    "check",
    [
        "outcome",
        "verdict",
        {"verdict": "human:*"},
        {"verdict": ["human:*", "test"]},
        {"verdict": {"by": ["test"]}},
    ],
    ids=str,
)
def test_the_schema_of_plan_graphs_takes_every_form_of_a_check_that_files_take(check: object) -> None:
    graph = {"id": "desk", "sub_goals": [{"id": "pay", "check": check}]}
    jsonschema.validate(graph, json_schema("graph"))
    parse_graph(json.dumps(graph), name="desk.plan.json")


def test_the_schema_of_plan_graphs_refuses_another_word_for_a_check() -> None:
    graph = {"id": "desk", "sub_goals": [{"id": "pay", "check": "success"}]}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(graph, json_schema("graph"))
