"""The transcript in a real browser: any length, any text, without a server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from builders import a_graph, a_run
from screen import Open

from untaken.scoring import score_run
from untaken.scoring.transcript import Transcript, align_transcripts, transcript_of

sync_api = pytest.importorskip(
    "playwright.sync_api", reason="playwright is not installed: make test installs it"
)
expect = sync_api.expect
HERE = Path(__file__).parents[2] / "components" / "transcript"
HOSTILE = "<img src=x onerror=document.title='hit'><script>document.title='hit'</script>"
GRAPH = a_graph({"id": "pay", "title": f"Pay {HOSTILE}", "check": {"tool_call": {"name": "refund"}}})
PAGE = """<!doctype html><title>calm</title><style>%s</style><body>%s<script>%s
const acted = [];
const view = makeTranscript(document.body, { goal: (id) => acted.push(id), whole: (seq) => acted.push(seq) });
view.update(%s);
</script></body>"""


def drawn(at: Path, *transcripts: Transcript) -> str:
    """A page that holds the component alone; gives its address."""
    items: list[Any] = [msgspec.to_builtins(one.items) for one in transcripts]
    document = {"items": items[0]}
    if len(items) > 1:
        document |= {"right": items[1], "lines": msgspec.to_builtins(align_transcripts(*transcripts))}
    data = {"digest": "d", "items": json.dumps(document), "goals": [{"id": "pay", "words": "Pay"}]}
    data |= {"dark": False, "goal": None, "at": None, "help": "", "heads": []}
    given = json.dumps(data).replace("<", "\\u003c")
    source = [(HERE / f"transcript.{kind}").read_text("utf-8") for kind in ("css", "html", "js")]
    source[2] = (HERE / "markdown.js").read_text("utf-8") + source[2]
    page = at / "transcript.html"
    page.write_text(PAGE % (*source, given), "utf-8")
    return page.as_uri()


def long_run(steps: int) -> Transcript:
    run = a_run()
    for number in range(steps // 3):
        run.say(f"step {number}").call("search", ok=number != 3_000, q=number)
    run = run.call("refund", to=HOSTILE).say(f"needle {HOSTILE}").finish(False)
    return transcript_of(run.run(), score_run(run.run(), GRAPH))


def test_fifteen_thousand_steps_are_read_to_the_end_with_few_rows_in_the_page(open_page, tmp_path) -> None:
    page = open_page(drawn(tmp_path, long_run(15_000)))
    rows = page.locator(".t-row")
    expect(rows.first).to_contain_text("Run started")
    assert rows.count() < 60
    page.get_by_label("Search in this run").fill("needle")
    expect(page.get_by_role("status")).to_have_text("1 of 1")
    expect(page.locator("mark")).to_have_text("needle")
    page.get_by_role("button", name="Next error").click()
    expect(page.locator(".t-row.failed").first).to_be_visible()
    page.get_by_label("Jump to a sub-goal").select_option("pay")
    page.locator(".t-mark.completed").click()
    assert page.evaluate("acted") == ["pay"]
    page.get_by_label("Events of this run").evaluate("(frame) => { frame.scrollTop = frame.scrollHeight; }")
    expect(rows.last).to_contain_text("Run finished")
    assert rows.count() < 60


def test_words_of_the_record_stay_words_and_a_call_unfolds(open_page: Open, tmp_path: Path) -> None:
    page = open_page(drawn(tmp_path, long_run(3)))
    page.locator(".t-row", has_text="refund").get_by_role("button", expanded=False).click()
    expect(page.locator("dd").last).to_have_text(HOSTILE)
    assert page.locator(".transcript img, .transcript script").count() == 0
    assert page.title() == "calm"


MARKED = f"""# Plan {HOSTILE}
1. **look** at `a < b`
2. [pay](javascript:document.title='hit') ![x](http://e.example/x.png)

```
{HOSTILE}
```
> {HOSTILE}"""


def test_markdown_of_a_message_is_shown_as_elements_that_load_nothing_and_lead_nowhere(
    open_page: Open, tmp_path: Path
) -> None:
    run = a_run().say(MARKED).finish(False).run()
    page = open_page(drawn(tmp_path, transcript_of(run, score_run(run, GRAPH))))
    message = page.locator(".t-row", has_text="Plan")
    expect(message.locator(".t-text")).to_have_text(MARKED)
    page.get_by_role("button", name="Formatted").click()
    expect(message.locator("ol > li strong")).to_have_text("look")
    expect(message.locator("li code")).to_have_text("a < b")
    expect(message.locator("li").last).to_have_text("pay (javascript:document.title='hit') [image: x]")
    expect(message.locator("pre")).to_have_text(HOSTILE)
    expect(message.locator("blockquote")).to_have_text(HOSTILE)
    assert page.locator(".transcript :is(img, script, a)").count() == 0
    assert page.title() == "calm"


def test_two_runs_side_by_side_jump_from_difference_to_difference(open_page: Open, tmp_path: Path) -> None:
    made = (a_run().say("hello").call("search", q=1).call("refund", to=to) for to in ("card", "bank"))
    runs = [one.finish().run() for one in made]
    page = open_page(drawn(tmp_path, *(transcript_of(run, score_run(run, GRAPH)) for run in runs)))
    expect(page.locator(".t-row.pair")).to_have_count(5)
    expect(page.locator(".t-row.differs")).to_have_count(1)
    page.get_by_role("button", name="Next difference").click()
    expect(page.locator(".t-row.differs")).to_contain_text("bank")
