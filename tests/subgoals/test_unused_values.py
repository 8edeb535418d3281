"""Was it there to know: where an expected value was shown to the agent, and where the used one came from."""
# ruff: noqa: E501  (tables of cases)

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from builders import RunBuilder, a_graph, a_run
from hypothesis import given
from hypothesis import strategies as st

from untaken.scoring import score_run
from untaken.scoring.seen_texts import SeenTexts, ShownText, sought
from untaken.scoring.unused import UnusedValue, in_words, unused_fields, unused_values_of


def unused(run: RunBuilder, *others: RunBuilder, **expected: Any) -> tuple[UnusedValue, ...]:
    graph = a_graph({"id": "book", "check": {"tool_call": {"name": "book", "arguments": expected}}})
    made = run.finish(False).run()
    node = score_run(made, graph).node("book")
    siblings = [SeenTexts(other.finish().run()) for other in others]
    return unused_values_of(SeenTexts(made), graph, node, others=siblings)


def asked(text: str) -> RunBuilder:
    return a_run().say("You book flights.", "system").say(text, "user")


FORMS: list[tuple[str, str, Any]] = [
    ("word for word", "Take HAT276 please", "HAT276"),
    ("another case", "take hat276", "HAT276"),
    ("a sign in front", "order #W257 is late", "#W257"),
    ("an underscore for a blank", "a one way ticket", "one_way"),
    ("spaces", "New   York\nCity", "new york city"),
    ("a number with thousands", "you owe $1,250.00", 1250),
    ("a number as text", "the fee is 50", "50.00"),
    ("a date by its month", "on May 20, 2024", "2024-05-20"),
    ("a date without its year", "on the 20th of May", "2024-05-20"),
    ("a date with slashes", "on 5/20/2024", "2024-05-20"),
    ("a date with slashes and a short year", "on 5/20/24", "2024-05-20"),
    ("a short month", "on 20 Sep 2024", "2024-09-20"),
    ("a blank inside an id", "take HAT 276", "HAT276"),
    ("an id without its blank", "take hat276.", "HAT 276"),
    ("a phone number with other signs", "call +1 (555) 123-4567", "555.123.4567"),
    ("a phone number without signs", "call 5551234567", "555-123-4567"),
    ("the last name first", "the booking of Lee, Ann.", "Ann Lee"),
    ("the last names first, in capitals", '{"name": "GARCIA LOPEZ, MARIA"}', "Maria Garcia Lopez"),
    ("the first name first", "for Ann Lee", "Lee, Ann"),
    ("a name in two fields", '{"first_name": "Ann", "last_name": "Lee"}', "Ann Lee"),
]


@pytest.mark.parametrize(("desc", "text", "value"), FORMS, ids=[case[0] for case in FORMS])
def test_a_value_is_found_in_the_forms_that_people_write(desc: str, text: str, value: Any) -> None:
    (found,) = unused(asked(text).call("book", flight="other"), flight=value)
    assert (found.knowledge, found.event, found.source) == ("shown", 2, "user")


NO_FORMS: list[tuple[str, str, Any, str]] = [
    ("a part of a word", "HAT2765", "HAT276", "never_shown"),
    ("a word", "take the other", "HAT276", "never_shown"),
    ("a part of a number in parts", "call 555-123-45678", "555-123-4567", "never_shown"),
    ("a list of numbers", "ids 555, 123, 4567", "5551234567", "never_shown"),
    ("a short id in a sentence", "12 a day", "12A", "never_shown"),
    ("names of two people", "from Tom Lee, Ann Smith and others", "Ann Lee", "never_shown"),
    ("a list of first names", "Lee, Ann, and Tom", "Ann Lee", "never_shown"),
    ("words that are no name", "a class, economy is full", "Economy Class", "never_shown"),
    ("another day", "on May 21, 2024", "2024-05-20", "never_shown"),
    ("a day by its distance", "delay it by one day", "2024-05-20", "may_be_computed"),
    ("tomorrow", "leave tomorrow", "2024-05-20", "may_be_computed"),
    ("an amount", "twice 25 please", 50, "may_be_computed"),
    ("a long number is an id", "the product", "9523456873", "never_shown"),
    ("a number by its argument's name", "the product", 12, "may_be_computed"),
    ("true or false", "insured please", True, "may_be_computed"),
]


@pytest.mark.parametrize(("desc", "text", "value", "want"), NO_FORMS, ids=[case[0] for case in NO_FORMS])
def test_only_ids_names_words_and_dates_are_never_shown(desc: str, text: str, value: Any, want: str) -> None:
    (found,) = unused(asked(text).call("book", flight="other"), flight=value)
    assert (found.knowledge, found.missing) == (want, want == "never_shown")


ID = st.from_regex(r"[A-Z]{2,4}[ -]?[0-9]{3,6}", fullmatch=True)
WORD = st.one_of(ID, st.sampled_from(["a", "12", "7", "Ann", "Lee", "of", "the", "555-12"]))


@given(value=ID, words=st.lists(WORD, max_size=8), between=st.sampled_from([" ", ", ", "-", "\n"]))
def test_what_is_shown_has_every_letter_and_digit_of_the_value_in_turn(
    value: str, words: list[str], between: str
) -> None:
    def bare(text: str) -> str:
        return "".join(filter(str.isalnum, text))

    text = between.join(words)
    shown = ShownText(seq=0, source="user", text=text).shows(sought(value))
    assert bare(value) in bare(text) or not shown
    assert not ShownText(seq=0, source="user", text=f"x{bare(value)}").shows(sought(value))
    assert ShownText(seq=0, source="user", text=f"{text}, {bare(value)}").shows(sought(value))


NAMES = st.lists(st.from_regex(r"[A-Z][a-z]{2,6}", fullmatch=True), min_size=4, max_size=8, unique=True)


@given(names=NAMES, joint=st.sampled_from([", ", " and ", "; "]))
def test_nobody_in_a_list_of_people_has_the_last_name_of_another(names: list[str], joint: str) -> None:
    people = list(zip(names[::2], names[1::2], strict=False))
    text = ShownText(seq=0, source="user", text=joint.join(map(" ".join, people)))
    for (_, last), (first, _) in pairwise(people):
        assert not text.shows(sought(f"{first} {last}"))


def seen_by(run: RunBuilder) -> UnusedValue:
    (found,) = unused(run.call("book", flight="HAT201"), flight="HAT276")
    return found


SHOWS_NOTHING: list[tuple[str, RunBuilder]] = [
    ("a state", asked("hi").state(flight="HAT276")),
    ("what the agent says", asked("hi").say("HAT276 it is")),
    ("its own argument", asked("hi").call("look", q="HAT276")),
    ("an echo", asked("hi").call("look", q="HAT276").observe("no flight HAT276", ok=False, call_id="c1")),
    (
        "an echo of an earlier argument",
        asked("hi").call("note", text="HAT276").call("list").observe("HAT276", ok=True, call_id="c2"),
    ),
    ("the user's own tool", asked("hi").call("phone", by="user").observe("HAT276", ok=True, call_id="c1")),
    ("what a simulated user was told", a_run(metadata={"input": "Book HAT276"}).say("hi", "user")),
]


@pytest.mark.parametrize(("desc", "run"), SHOWS_NOTHING, ids=[case[0] for case in SHOWS_NOTHING])
def test_what_the_agent_was_never_shown_shows_nothing(desc: str, run: RunBuilder) -> None:
    assert seen_by(run).knowledge == "never_shown"


SHOWS: list[tuple[str, RunBuilder, int, str]] = [
    ("an answer", asked("hi").call("look").observe({"no": "HAT276"}, ok=True, call_id="c1"), 4, "look"),
    ("a failed answer", asked("hi").call("look").observe("try HAT276", ok=False, call_id="c1"), 4, "look"),
    ("a system prompt", a_run().say("Prefer HAT276", "system"), 1, "system"),
    ("the task, where no message asks", a_run(metadata={"input": "Book HAT276"}), 0, "instruction"),
    ("an answer before the agent used it", asked("hi").call("list").observe("HAT276", ok=True, call_id="c1").call("look", q="HAT276"), 4, "list")
]  # fmt: skip


@pytest.mark.parametrize(("desc", "run", "event", "source"), SHOWS, ids=[case[0] for case in SHOWS])
def test_messages_instructions_and_answers_show_a_value(desc, run, event, source) -> None:
    found = seen_by(run)
    assert (found.knowledge, found.event, found.source) == ("shown", event, source)


def test_what_comes_after_the_call_was_not_there_to_know() -> None:
    run = asked("hi").call("book", flight="HAT201").say("I said HAT276", "user")
    (found,) = unused(run, flight="HAT276")
    assert found.missing


def test_the_used_value_is_traced_too() -> None:
    (shown,) = unused(asked("HAT201 or HAT276").call("book", flight="HAT201"), flight="HAT276")
    assert (shown.used, shown.used_event, shown.used_source) == ('"HAT201"', 2, "user")
    assert in_words(shown) == (
        'flight "HAT276" was shown in event 2 (user); "HAT201" was used, shown in event 2 (user)'
    )
    (invented,) = unused(asked("hi").call("book", flight="HAT201"), flight="HAT276")
    assert invented.used_event is None
    assert "in no text the run saw" in in_words(invented)
    (amount,) = unused(asked("hi").call("book", fee=7), fee=9)
    assert in_words(amount) == "fee 9 was not shown as such, it may be computed; 7 was used, may be computed"


def test_what_showed_it_to_another_run_of_the_task_is_named() -> None:
    other = a_run("r2").call("search", to="SEA").observe("HAT276 at 9", ok=True, call_id="c1")
    (found,) = unused(asked("hi").call("book", flight="HAT201"), other, flight="HAT276")
    elsewhere = found.elsewhere
    assert (elsewhere.run_id, elsewhere.seq, elsewhere.source) == ("r2", 2, "search")
    assert elsewhere.arguments == '(to = "SEA")'
    assert not found.doubted
    assert "Run r2 was shown it in event 2 by search" in in_words(found)


@pytest.mark.parametrize(("others", "doubted"), [(0, False), (1, False), (2, True)])
def test_what_no_run_of_the_task_was_shown_is_a_doubt_about_the_plan_from_three_runs_on(
    others: int, doubted: bool
) -> None:
    siblings = [a_run(f"o{n}").say("hello", "user") for n in range(others)]
    (found,) = unused(asked("hi").call("book", flight="HAT201"), *siblings, flight="HAT276")
    assert found.doubted is doubted
    assert ("the plan may be wrong" in in_words(found)) is doubted


def test_values_inside_lists_and_mappings_are_looked_for_one_by_one() -> None:
    call = asked("from HAT1").call("book", flights=[{"no": f"HAT{n}"} for n in (9, 8, 2, 2)])
    found = unused(call, flights=[{"no": "HAT1"}, {"no": "HAT2"}, {"no": "HAT3"}])
    assert [(one.expected, one.knowledge) for one in found] == [
        ('"HAT1"', "shown"),
        ('"HAT3"', "never_shown"),
    ]
    assert in_words(found[0]).endswith('; "HAT9", "HAT8" were used')


def test_free_text_and_a_completed_sub_goal_have_no_unused_values() -> None:
    assert unused(asked("hi").call("book", flight="HAT276", note="x"), flight="HAT276") == ()
    assert unused(asked("hi").call("book", why="x", no=1), why="The customer wants a refund", no=1) == ()


def test_of_a_tool_that_was_never_called_the_whole_run_is_looked_through() -> None:
    (found,) = unused(asked("hi").call("look").say("HAT276", "user"), flight="HAT276")
    assert (found.call, found.knowledge, found.event) == (None, "shown", 4)
    (found,) = unused(asked("hi").call("look"), flight="HAT276")
    assert found.missing
    assert in_words(found) == 'flight "HAT276" was never shown to this run; the tool was never called'


KINDS: list[tuple[Any, str, str]] = [
    (None, "", "choice"),
    (True, "flight_id", "choice"),
    (17, "seats", "amount"),
    (17, "flight_id", "id"),
    ("0", "seats", "amount"),
    ("07", "seats", "id"),
    ("12345", "seats", "amount"),
    ("123456", "seats", "id"),
    ("#123456", "seats", "id"),
    ("-1.5", "seats", "amount"),
    ("2024-05-20", "", "date"),
    ("HAT276", "", "id"),
    ("HAT 276", "", "word"),
    (" HAT276 ", "", "id"),
    ("window", "", "word"),
]


@pytest.mark.parametrize(("value", "argument", "want"), KINDS)
def test_ids_amounts_dates_and_words_are_told_apart(value: Any, argument: str, want: str) -> None:
    assert sought(value, argument).kind == want


def test_a_place_in_a_list_has_the_lists_name_and_a_field_its_own() -> None:
    listed = unused(asked("hi").call("book", user_ids=[1], seats=[1]), user_ids=[17], seats=[17])
    assert [(one.argument, one.kind) for one in listed] == [("user_ids.0", "id"), ("seats.0", "amount")]
    (inner,) = unused(asked("hi").call("book", who={"user_id": 1}), who={"user_id": 17})
    assert (inner.argument, inner.kind, inner.used) == ("who.user_id", "id", "1")


STATES = [
    # what the state has, what the check expects, argument, what is expected and used, knowledge
    ({"flight": "HAT001"}, "state.flight == 'HAT276'", [("state.flight", '"HAT276"', '"HAT001"', "shown")]),
    (
        {"flight": "HAT001"},
        "state.flight == 'HAT999'",
        [("state.flight", '"HAT999"', '"HAT001"', "never_shown")],
    ),
    ({"seats": 1}, "state.seats == 2", [("state.seats", "2", "1", "may_be_computed")]),
    ({"flight": "HAT276"}, "state.flight == 'HAT276'", []),
]


@pytest.mark.parametrize(("state", "check", "want"), STATES)
def test_a_field_of_the_state_with_another_value_is_looked_for_in_all_that_was_shown(
    state, check, want
) -> None:
    graph = a_graph({"id": "book", "check": {"expr": check}, "rules": [{"tool": "book"}]})
    run = asked("hi").call("book").state(**state).say("Take HAT276", "user").finish(False).run()
    found = unused_fields(SeenTexts(run), score_run(run, graph).node("book").differences)
    assert [(one.argument, one.expected, one.used, one.knowledge) for one in found] == want
