"""Scores and verdicts go back to the tool a trace came from: as files, and sent where an address is given."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from builders import a_graph, a_run

from untaken.cli import main
from untaken.plans import save_graph
from untaken.scoring import score_run
from untaken.views.exporting import evaluated_run, inspect_lines, langfuse_lines, phoenix_lines
from untaken.views.exporting.sending import KEY

PLAN = a_graph({"id": "pay", "check": {"verdict": {}}}, graph_id="g")
SECRET = "pk-1:sk-very-secret"


def reviewed(run_id: str) -> Any:
    run = a_run(run_id, graph="g").call("pay", ok=True).finish(True)
    return run.verdict("pay", True, "human:ann", reason="Paid.").verdict("pay", False, "judge:m")


def results(run_id: str) -> list[Any]:
    run = reviewed(run_id).run()
    return [evaluated_run(run, score_run(run, PLAN))]


def test_langfuse_gets_scores_of_the_trace_with_ids_that_stay() -> None:
    (line,) = langfuse_lines(results("langfuse/t1"))
    found = {one["body"]["name"]: one["body"] for one in json.loads(line)["batch"]}
    assert {one["type"] for one in json.loads(line)["batch"]} == {"score-create"}
    assert found.keys() == {"completion", "diagnosis", "sub_goal:pay", "verdict:pay"}
    assert {one["traceId"] for one in found.values()} == {"t1"}
    assert (found["completion"]["dataType"], found["completion"]["value"]) == ("NUMERIC", 1.0)
    assert (found["sub_goal:pay"]["dataType"], found["sub_goal:pay"]["value"]) == ("BOOLEAN", 1.0)
    assert found["diagnosis"]["dataType"] == "CATEGORICAL"
    assert list(langfuse_lines(results("langfuse/t1"))) == [line]


def test_phoenix_gets_annotations_of_the_trace_by_who_says_so() -> None:
    (line,) = phoenix_lines(results("otel/" + "a" * 32))
    found = [one for one in json.loads(line)["data"] if one["name"] == "verdict:pay"]
    want = [("HUMAN", 1.0, "untaken/human:ann"), ("LLM", 0.0, "untaken/judge:m")]
    assert [(one["annotator_kind"], one["result"]["score"], one["identifier"]) for one in found] == want
    assert {one["trace_id"] for one in json.loads(line)["data"]} == {"a" * 32}


def test_inspect_gets_edits_with_their_author() -> None:
    found = [json.loads(line) for line in inspect_lines(results("inspect/run7/a/b/2"))]
    edit = next(one for one in found if one["score_name"] == "untaken/verdict:pay")
    assert (edit["run_id"], edit["sample_id"], edit["epoch"]) == ("run7", "a/b", 2)
    assert edit["edit"]["provenance"]["author"] == "human:ann"
    assert (edit["edit"]["value"], edit["edit"]["explanation"]) == (1.0, "Paid.")
    assert all(isinstance(one["edit"]["value"], float) for one in found)  # Inspect takes means of all scores
    completion = next(one["edit"] for one in found if one["score_name"] == "untaken/completion")
    assert completion["explanation"].startswith("clean: ")


def test_phoenix_gets_the_hex_id_of_a_trace_whose_id_was_written_as_a_number() -> None:
    (line,) = phoenix_lines(results(f"otel/{int('1d' * 16, 16)}"))
    assert {one["trace_id"] for one in json.loads(line)["data"]} == {"1d" * 16}
    assert list(phoenix_lines(results("langfuse/t1"))) == []


@pytest.mark.parametrize("lines", [langfuse_lines, phoenix_lines, inspect_lines])
def test_runs_that_came_from_elsewhere_are_left_out(lines: Any) -> None:
    assert list(lines(results("r1"))) == []


class Tool(BaseHTTPRequestHandler):
    """Keeps what it gets, and gives `answer`."""

    got: list[tuple[str, str, Any]]
    answer: tuple[int, bytes]
    wait = "0"
    answers: dict[str, list[tuple[int, bytes]]]  # by path, before `answer`

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        type(self).got.append((self.path, self.headers.get("Authorization", ""), json.loads(body)))
        first = type(self).answers.get(self.path)
        code, text = first.pop(0) if first else type(self).answer
        self.send_response(code)
        if code == 429:
            self.send_header("Retry-After", type(self).wait)
        if code == 302:
            self.send_header("Location", "http://127.0.0.1:9/elsewhere")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def tool() -> Iterator[tuple[type[Tool], str]]:
    handler = type(
        "Handler", (Tool,), {"got": [], "answers": {}, "answer": (207, b'{"successes": [], "errors": []}')}
    )
    server = HTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield handler, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    (tmp_path / "a.jsonl").write_bytes(reviewed("langfuse/t1").ledger())
    save_graph(PLAN, tmp_path / "g.plan.yaml")
    return tmp_path


Told = tuple[pytest.MonkeyPatch, pytest.CaptureFixture[str]]


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Told:
    """Where a key is set, and what is printed."""
    return monkeypatch, capsys


def export(desk: Path, *options: str) -> int:
    return main(["export", str(desk / "a.jsonl"), "--graphs", str(desk / "g.plan.yaml"), *options])


def test_what_is_sent_is_what_the_file_holds_and_the_key_is_told_to_nobody(
    desk: Path, tool: tuple[type[Tool], str], told: Told
) -> None:
    (handler, address), (monkeypatch, capsys) = tool, told
    monkeypatch.setenv(KEY, SECRET)
    out = desk / "scores.jsonl"
    assert export(desk, "--to", "langfuse", "-o", str(out), "--send", address) == 0
    ((path, authorization, body),) = handler.got
    assert path == "/api/public/ingestion"
    assert authorization == "Basic cGstMTpzay12ZXJ5LXNlY3JldA=="
    assert out.read_text("utf-8") == json.dumps(body, separators=(",", ":"), ensure_ascii=False) + "\n"
    shown = capsys.readouterr()
    assert "1 request sent" in shown.out
    assert f"1 run, {len(body['batch'])} results → " in shown.out
    assert "secret" not in shown.out + shown.err + out.read_text("utf-8")


def test_scores_go_one_by_one_where_langfuse_no_longer_takes_many(
    desk: Path, tool: tuple[type[Tool], str], capsys: pytest.CaptureFixture[str]
) -> None:
    handler, address = tool
    many, one = "/api/public/ingestion", "/api/public/scores"
    handler.answers = {many: [(404, b"{}")], one: [(429, b""), (200, b'{"id": "x"}'), (400, b"{}")]}
    out = desk / "scores.jsonl"
    assert export(desk, "--to", "langfuse", "-o", str(out), "--send", address) == 0
    scores = [event["body"] for event in json.loads(out.read_text("utf-8"))["batch"]]
    assert [body for path, _, body in handler.got if path == one] == [scores[0], *scores]
    shown = capsys.readouterr()
    assert f"{len(scores) - 1} requests sent" in shown.out
    assert "refused 1 result" in shown.err


@pytest.mark.parametrize(("to", "path"), [("phoenix", "/v1/trace_annotations"), ("otel", "/v1/traces")])
def test_other_tools_get_theirs_with_a_bearer_key(
    to: str, path: str, desk: Path, tool: tuple[type[Tool], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    handler, address = tool
    monkeypatch.setenv(KEY, "k")
    (desk / "a.jsonl").write_bytes(reviewed("otel/" + "a" * 32).ledger())
    assert export(desk, "--to", to, "--send", address) == 0
    assert [(one[0], one[1]) for one in handler.got] == [(path, "Bearer k")]


ANSWERS = {
    "refused": ((401, b"no"), "export-not-sent"),
    "somewhere else": ((302, b""), "export-not-sent"),
    "results refused": ((207, b'{"errors": [{"id": "x"}]}'), "results-refused"),
}


@pytest.mark.parametrize("desc", ANSWERS)
def test_what_was_not_taken_is_said_without_the_key(
    desc: str, desk: Path, tool: tuple[type[Tool], str], told: Told
) -> None:
    (handler, address), (monkeypatch, capsys) = tool, told
    handler.answer, code = ANSWERS[desc]
    monkeypatch.setenv(KEY, SECRET)
    assert export(desk, "--to", "langfuse", "--send", address) == (2 if code == "export-not-sent" else 0)
    shown = capsys.readouterr()
    assert code in shown.err
    assert "secret" not in shown.out + shown.err
    assert len(handler.got) == 1


REFUSED = {
    "in the clear": ("http://example.org", "k", "export-address"),
    "a key in the address": ("https://a:b@127.0.0.1:9", "", "export-address"),
    "a key of two lines": ("http://127.0.0.1:9", "k\nX: y", "export-key"),
    "nobody there": ("http://127.0.0.1:9", "k", "export-not-sent"),
}


@pytest.mark.parametrize("desc", REFUSED)
def test_a_key_goes_nowhere_it_should_not(desc: str, desk: Path, told: Told) -> None:
    (address, key, code), (monkeypatch, capsys) = REFUSED[desc], told
    monkeypatch.setenv(KEY, key)
    assert export(desk, "--to", "langfuse", "--send", address) == 2
    assert code in capsys.readouterr().err


def test_a_hostile_answer_is_no_fault_of_this_program(
    desk: Path, tool: tuple[type[Tool], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    handler, address = tool
    waited: list[float] = []
    monkeypatch.setattr("untaken.views.exporting.sending.time.sleep", waited.append)
    handler.wait = "9" * 5_000
    handler.answers = {"/api/public/ingestion": [(429, b""), (200, b"[" * 500_000)]}
    assert export(desk, "--to", "langfuse", "-o", str(desk / "out.jsonl"), "--send", address) == 0
    assert waited == [60]
