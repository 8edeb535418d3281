"""The pages of decisions and of memory: filters, the chosen choice, any snapshot, weak signals."""

from __future__ import annotations

import shutil
from itertools import product
from pathlib import Path

import desk
import pytest
from builders import a_run
from histories import lines_of
from sessions import SAMPLES, filled, go_to, metrics, said, sent, session, show_tab, table
from streamlit.testing.v1 import AppTest
from test_app_pages import HOSTILE, acted_upon

from untaken.analysis.corpus import evaluate_corpus
from untaken.analysis.memories import POLICY, remembered
from untaken.counterfactual.diagnostics import ROUNDS
from untaken.counterfactual.memory import PolicyMemory, applied_signals
from untaken.ledger import SkillSelection
from untaken.views.memory import signals_waiting
from untaken.workspace import Workspace

Patch = pytest.MonkeyPatch


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``bad`` fails in 8 runs, ``good`` succeeds in 8, in one readable context; ``new`` was never taken.

    ``eager`` takes both, ``calm`` only ``good``.
    """
    runs = []
    for n, (taken, left, success) in product(range(8), (("bad", "good", False), ("good", "bad", True))):
        agent = "calm" if success and n > 3 else "eager"
        run = a_run(f"{taken}{n}", agent=agent, task="ferry", task_repeat=n, metadata={"seed": n})
        choice = {"selected": taken, "context_hash": "7a3f", "context": {"step": "boarding"}}
        for alternatives in ([left], [left, "new"]):
            run.add(SkillSelection, alternatives=alternatives, **choice)
        runs.append(run.finish(success, cost=1.0 + n % 3, steps=3))
    return filled(tmp_path_factory.mktemp("history"), *runs)


@pytest.fixture
def app(history: Path, monkeypatch: Patch) -> AppTest:
    return show_tab(session(history, monkeypatch, "decisions"), "every-open", True)


def choose(app: AppTest, words: str) -> AppTest:
    """Take the choice whose name holds these words."""
    picker = app.selectbox(key="choice_picker")
    at = next(n for n, name in enumerate(picker.options) if words in name)
    picker.select_index(at).run()
    return app


def test_hostile_skills_and_contexts_are_words_in_a_chosen_choice(tmp_path: Path, monkeypatch: Patch) -> None:
    other = f"b{HOSTILE}"
    with Workspace(tmp_path) as store:
        for n in range(2):
            run = a_run(f"{n}{HOSTILE}", agent=HOSTILE, task=HOSTILE)
            run.select(HOSTILE, other, context=HOSTILE).select(other, HOSTILE, context=HOSTILE)
            store.add(f"{n}.jsonl", run.finish(bool(n), cost=1.0, cost_unit=HOSTILE).ledger())
    app = session(tmp_path, monkeypatch, "decisions")
    for at in range(2):
        app.selectbox(key="choice_picker").select_index(at).run()
        assert acted_upon(app) == set()
        assert any("onerror" in words for place, words in sent(app) if place == "PageLink.label")


def test_logged_odds_give_estimates_with_their_effective_size(tmp_path: Path, monkeypatch: Patch) -> None:
    with Workspace(tmp_path) as store:
        for n in range(12):
            run = a_run(f"r{n}", task="ferry")
            for taken, left in (("bad", "good"), ("good", "bad"))[:: 1 if n % 3 else -1]:
                odds = {taken: 0.8, left: 0.2} if n % 3 else {taken: 0.2, left: 0.8}
                run.add(
                    SkillSelection,
                    selected=taken,
                    alternatives=[left],
                    context_hash=f"first {n % 3 > 0}" if len(run.events) == 1 else "second",
                    propensities=odds,
                )
            store.add(f"r{n}.jsonl", run.finish(n % 4 > 0, cost=1.0 + n % 3, steps=3).ledger())
    app = choose(session(tmp_path, monkeypatch, "decisions"), "bad → good · context second")
    words = said(app)
    assert "Estimate from logged probabilities" in words
    assert "SNIPS" in words
    assert "doubly robust" in words
    assert "Effective number of runs" in words
    assert (
        "of 12 decisions that offered both, 4 took the selected skill and 8 the alternative" in words.lower()
    )


def test_a_choice_that_is_not_here_selects_nothing(app: AppTest) -> None:
    for asked in ("0123456789abcdef", "", "../../etc", HOSTILE, "x" * 5_000):
        app.query_params["choice"] = asked
        app.run()
        assert acted_upon(app) == set()
        assert app.selectbox(key="choice_picker").value is None
        assert "Taken: bad" not in metrics(app)


def test_a_placebo_is_shown_on_request(tmp_path: Path, monkeypatch: Patch) -> None:
    shutil.copy(SAMPLES / "ledgers" / "eager-closer.jsonl", tmp_path)
    app = session(tmp_path, monkeypatch, "decisions")
    assert f"{ROUNDS} shuffles" not in said(app)
    app.toggle(key="placebo").set_value(True).run()
    assert f"{ROUNDS} shuffles" in said(app)
    assert "supported by chance alone" in said(app)


def test_more_rows_are_drawn_on_request(tmp_path: Path, monkeypatch: Patch) -> None:
    run = a_run("r").select("s", *(f"alt{i}" for i in range(25))).select("s", "alt0")
    app = session(filled(tmp_path, run.finish(True, cost=1.0)), monkeypatch, "decisions")
    button = app.button(key="more_choices")
    assert button.label == "Show more: 10 of 25 choices shown"
    button.click().run()
    assert app.button(key="more_choices").label == "Show more: 20 of 25 choices shown"
    app.button(key="more_choices").click().run()
    assert not [found for found in app.button if found.key == "more_choices"]


def test_nothing_says_what_an_alternative_would_have_done(app: AppTest) -> None:
    choose(app, "bad → good")
    words = " ".join(words for _, words in sent(app) if "<style>" not in words)
    assert "alt" in words
    assert "would" not in words.lower()
    assert "association" in said(app)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace with the desk's runs, day after day."""
    with Workspace(tmp_path) as store:
        store.add("desk.plan.yaml", desk.GRAPH)
        lines = [line for day, run in enumerate(desk.builders()) for line in lines_of(run, day)]
        store.add("runs.jsonl", b"".join(lines))
    return tmp_path


def memory_of(folder: Path) -> PolicyMemory:
    """What the workspace remembers of the agents compared, by the engine alone."""
    with Workspace(folder) as store:
        runs = store.read_runs()[0]
        careful = next(run for run in runs if run.agent == "careful")
        return remembered(runs, folder)[careful.digest]


def waiting(folder: Path) -> int:
    with Workspace(folder) as store:
        runs, graphs = store.read_runs()[0], store.graph_set()
    return len(signals_waiting(evaluate_corpus(runs, graphs, memory=remembered(runs, folder), resamples=9)))


def signals(folder: Path, monkeypatch: Patch) -> AppTest:
    """The page with the weak signals that wait."""
    return show_tab(session(folder, monkeypatch, "memory"), "memory_tabs", "Weak signals")


def test_signals_are_folded_in_only_where_asked_twice(folder: Path, monkeypatch: Patch) -> None:
    count, before = waiting(folder), memory_of(folder)
    assert count > 0
    app = signals(folder, monkeypatch)
    assert len(table(app, "Pending weak signals")) == count
    advised = app.button(key="memory_apply_advised")
    assert advised.disabled == (advised.label == "Apply the 0 advised")
    app.button(key="memory_apply_all").click().run()
    app.button(key="memory_apply_no").click().run()
    assert not (folder / POLICY).exists()

    app.button(key="memory_apply_all").click().run()
    app.button(key="memory_apply_yes").click().run()
    assert f"{count} weak signals applied" in said(app)
    assert metrics(app)["Signals waiting"] == "0"
    show_tab(app, "memory_tabs", "Applied signals")
    assert len(table(app, "Applied weak signals")) == count
    assert len(applied_signals(folder / POLICY)[0]) == count
    assert metrics(app)["Observations"] == str(len(before) + count)
    last = before.moments[-1]
    assert memory_of(folder).snapshot(last).digest == before.snapshot(last).digest

    app.run()
    assert f"{count} weak signals applied" not in said(app)
    assert waiting(folder) == 0


def test_a_damaged_file_of_applied_signals_is_said_and_costs_nothing_else(folder, monkeypatch) -> None:
    (folder / POLICY).write_bytes(b"nonsense\n")
    app = signals(folder, monkeypatch)
    assert metrics(app)["Observations"] == str(len(memory_of(folder)))
    app.button(key="memory_apply_all").click().run()
    app.button(key="memory_apply_yes").click().run()
    assert "Nothing was applied" in said(app)
    assert (folder / POLICY).read_bytes() == b"nonsense\n"
    go_to(app, "data")
    assert "memory-signals-unread" in table(app, "Findings")["code"].tolist()


def test_a_page_says_which_runs_are_identical_and_count_once(tmp_path: Path, monkeypatch: Patch) -> None:
    runs = [a_run(name, metadata={"seed": seed}) for name, seed in (("one", 1), ("again", 1), ("other", 2))]
    for run in runs:
        run.select("a", "b").select("b", "a").finish(True, cost=1.0, steps=2)
    app = session(filled(tmp_path, *runs), monkeypatch)
    for page in ("memory", "decisions"):
        words = said(go_to(app, page))
        assert words.count("did exactly the same as another of the same task and agent") == 1
        assert "1 run counted once in intervals and tests" in words


def test_the_memory_shown_is_that_of_the_agents_compared(folder: Path, monkeypatch: Patch) -> None:
    app = signals(folder, monkeypatch)
    assert metrics(app)["Observations"] == str(len(memory_of(folder)))
    assert "only agents with common tasks are compared" in said(app)
    app.selectbox(key="group").select("other").run()
    assert not app.metric
    assert "No history yet" in said(app)
