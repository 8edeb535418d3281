"""YAML and JSON are read strictly: each document here is refused, with a reason and a place."""

from __future__ import annotations

from typing import Any

import pytest

from untaken import limits
from untaken.errors import UntakenError
from untaken.plans import parse_graph
from untaken.plans.strict_document import read_yaml

BILLION = "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nid: g\nsub_goals: []\n"

REFUSED = [
    {
        "desc": "duplicate key",
        "yaml": "id: g\nid: h\nsub_goals: []",
        "says": "'id' is given twice",
        "line": 2,
    },
    {
        "desc": "duplicate nested key",
        "yaml": "id: g\nsub_goals:\n - {id: a, id: b}",
        "says": "twice",
        "line": 3,
    },
    {"desc": "anchor", "yaml": "id: &x g\nsub_goals: []", "says": "anchors", "line": 1},
    {"desc": "alias", "yaml": "id: g\nsub_goals: *x", "says": "not", "line": 2},
    {"desc": "billion laughs", "yaml": BILLION, "says": "anchors", "line": 1},
    {"desc": "merge key", "yaml": "<<: {id: g}\nsub_goals: []", "says": "merge", "line": 1},
    {"desc": "Python tag", "yaml": "id: !!python/name:os.system g\nsub_goals: []", "says": "tags", "line": 1},
    {"desc": "own tag", "yaml": "id: !x g\nsub_goals: []", "says": "tags", "line": 1},
    {"desc": "standard tag", "yaml": "id: !!str g\nsub_goals: []", "says": "tags", "line": 1},
    {
        "desc": "second document",
        "yaml": "id: g\nsub_goals: []\n---\nid: h",
        "says": "second document",
        "line": 3,
    },
    {"desc": "list as key", "yaml": "? [a]\n: b\nid: g", "says": "key must be plain text", "line": 1},
    {
        "desc": "number that does not fit",
        "yaml": "id: g\nversion: 99999999999999999999",
        "says": "fit",
        "line": 2,
    },
    {"desc": "infinite number", "yaml": "id: g\nmetadata: {a: 1e999}", "says": "fit", "line": 2},
    {"desc": "broken indentation", "yaml": "id: g\n  sub_goals: []", "says": "not valid YAML", "line": 2},
    {"desc": "tab indentation", "yaml": "id: g\nsub_goals:\n\t- id: a", "says": "not valid YAML", "line": 3},
    {"desc": "control character", "yaml": "id: g\x00\nsub_goals: []", "says": "not valid YAML", "line": None},
    {"desc": "not closed", "yaml": "id: [g", "says": "not valid YAML", "line": 2},
]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case["desc"])
def test_yaml_is_refused_with_its_line(case: dict[str, Any]) -> None:
    with pytest.raises(UntakenError) as caught:
        parse_graph(case["yaml"], name="g.plan.yaml")
    assert caught.value.code == "plan-yaml"
    assert case["says"] in caught.value.message
    assert caught.value.where.file == "g.plan.yaml"
    if case["line"]:
        assert caught.value.where.line == case["line"]


@pytest.mark.parametrize("opening", ["[", "{a: ", "- ", "? "])
def test_deep_yaml_is_refused_quickly(opening: str) -> None:
    with pytest.raises(UntakenError) as caught:
        parse_graph(opening * 100_000, name="g.yaml")
    assert caught.value.code == "plan-yaml"


MEANS = [
    ("2024-01-02", "2024-01-02"),
    ("12:30:45", "12:30:45"),
    ("yes", "yes"),
    ("off", "off"),
    ("0x1f", "0x1f"),
    ("0o17", "0o17"),
    ("010", "010"),
    ("1_000", "1_000"),
    (".inf", ".inf"),
    (".nan", ".nan"),
    ("true", True),
    ("False", False),
    ("null", None),
    ("~", None),
    ("", None),
    ("7", 7),
    ("-7", -7),
    ("1.5", 1.5),
    ("1e3", 1000.0),
    ("'7'", "7"),
    ('"null"', "null"),
]


@pytest.mark.parametrize(("text", "want"), MEANS)
def test_plain_scalars_mean_what_they_mean_in_json(text: str, want: Any) -> None:
    value = read_yaml(f"a: {text}\n", "g.yaml").value["a"]
    assert value == want
    assert type(value) is type(want)


def test_the_key_on_stays_text() -> None:
    text = "id: g\nsub_goals: [{id: a, check: {expr: state.x, on: step}}]"
    check = parse_graph(text, name="g.yaml").sub_goals[0].check
    assert check is not None
    assert check.on == "step"


JSON_REFUSED = [
    {
        "desc": "duplicate key",
        "json": '{"id": "g", "id": "h", "sub_goals": []}',
        "says": '"id" occurs twice',
    },
    {"desc": "NaN", "json": '{"id": "g", "metadata": {"x": NaN}, "sub_goals": []}', "says": "NaN"},
    {"desc": "infinity", "json": '{"id": "g", "metadata": {"x": -Infinity}}', "says": "Infinity"},
    {"desc": "overflowing number", "json": '{"id": "g", "metadata": {"x": 1e999}}', "says": "fit"},
    {"desc": "huge whole number", "json": '{"id": "g", "version": ' + "9" * 5000 + "}", "says": "fit"},
    {"desc": "no column holds it", "json": f'{{"id": "g", "version": {1 << 63}}}', "says": "fit"},
    {"desc": "lone surrogate", "json": '{"id": "\\ud800", "sub_goals": []}', "says": "surrogate"},
    {"desc": "trailing comma", "json": '{"id": "g",}', "says": "not JSON"},
    {"desc": "deep", "json": '{"id":' + "[" * 100_000, "says": "deeper"},
    {"desc": "somewhat deep", "json": '{"id":' + "[" * 40 + "]" * 40 + "}", "says": "deeper"},
]


@pytest.mark.parametrize("case", JSON_REFUSED, ids=lambda case: case["desc"])
def test_json_is_refused(case: dict[str, Any]) -> None:
    with pytest.raises(UntakenError) as caught:
        parse_graph(case["json"], name="g.plan.json")
    assert caught.value.code == "plan-json"
    assert case["says"] in caught.value.message
    assert (caught.value.where.line, caught.value.where.column) > (0, 0)


SCHEMA = [
    {"desc": "unknown field", "yaml": "id: g\nsub_goals:\n  - id: a\n    crtical: true", "line": 3},
    {"desc": "wrong type", "yaml": "id: g\nsub_goals:\n  - id: a\n  - id: b\n    critical: 'yes'", "line": 5},
    {
        "desc": "unknown match",
        "yaml": "id: g\nsub_goals:\n- {id: a, check: {tool_call: {name: x, match: z}}}",
        "line": 3,
    },
    {"desc": "missing id", "yaml": "title: t\nsub_goals: []", "line": 1},
    {"desc": "another schema", "yaml": "schema: untaken.plan/2\nid: g\nsub_goals: []", "line": 1},
    {"desc": "empty id", "yaml": "id: g\nsub_goals:\n  - id: ''", "line": 3},
    {"desc": "a list at the top", "yaml": "- id: g", "line": 1},
    {"desc": "nothing at all", "yaml": "", "line": None},
]


@pytest.mark.parametrize("case", SCHEMA, ids=lambda case: case["desc"])
def test_schema_faults_point_at_their_line(case: dict[str, Any]) -> None:
    with pytest.raises(UntakenError) as caught:
        parse_graph(case["yaml"], name="g.yaml")
    assert caught.value.code == "plan-schema"
    assert caught.value.where.line == case["line"]


def test_a_flood_of_small_values_is_refused() -> None:
    with pytest.raises(UntakenError, match="more than 400,000 values"):
        parse_graph("a: [" + "1," * limits.YAML_VALUES + "]", name="g.yaml")


def test_a_file_over_the_size_limit_is_refused_unread() -> None:
    with pytest.raises(UntakenError) as caught:
        parse_graph(b"#" * (limits.GRAPH_FILE_BYTES + 1), name="g.yaml")
    assert caught.value.code == "plan-too-large"


def test_bytes_that_are_not_utf8_are_refused() -> None:
    with pytest.raises(UntakenError) as caught:
        parse_graph("id: é".encode("latin-1"), name="g.yaml")
    assert caught.value.code == "plan-not-utf8"


def test_a_byte_order_mark_is_no_content() -> None:
    text = "id: g\nsub_goals: [{id: a}]"
    assert parse_graph(b"\xef\xbb\xbf" + text.encode(), name="g.yaml") == parse_graph(text, name="g.yaml")
