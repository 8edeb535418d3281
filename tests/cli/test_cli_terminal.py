"""What a ledger or a plan says never steers a terminal."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from untaken.cli import main
from untaken.cli.console import Console
from untaken.views.documents import dump

HOSTILE = "a\x1b[31mb\x9b2Jc\x7fd\u202ee\u2028f\x07"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_document_has_no_character_that_steers_a_terminal_and_says_the_same() -> None:
    text = dump({"name": HOSTILE, HOSTILE: ["ü", "注文"]})
    assert all(char.isprintable() or char == "\n" for char in text)
    assert json.loads(text) == {"name": HOSTILE, HOSTILE: ["ü", "注文"]}
    assert "注文" in text


def test_an_exported_text_is_spelled_out_on_a_terminal_and_as_it_is_in_a_file() -> None:
    shown, kept = Terminal(), io.StringIO()
    for out in (shown, kept):
        Console(out=out, err=io.StringIO()).write(f"id,title\n1,{HOSTILE}\n")
    assert all(char.isprintable() or char == "\n" for char in shown.getvalue())
    assert shown.getvalue().startswith("id,title\n1,a\\x1b[31mb")
    assert kept.getvalue() == f"id,title\n1,{HOSTILE}\n"


ADDRESSES = (
    "s3://AKIA0001:SECRETKEY@bucket/runs",
    "http://ann:SECRETKEY@127.0.0.1:9/runs.jsonl?sig=SECRETKEY",
    "postgresql://ann:SECRETKEY@localhost/untaken",
)


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("verb", ["score", "score --json", "convert -o out", "review --workspace"])
def test_no_message_tells_what_is_secret_in_an_address(
    address: str,
    verb: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*verb.split(), address]) == 2
    out, err = capsys.readouterr()
    assert "SECRETKEY" not in out + err
    assert address.partition("@")[2].partition("?")[0] in err
