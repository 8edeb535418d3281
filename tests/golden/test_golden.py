"""What users see: sessions at the command line and on pages, stored as files; ``make golden`` renews them.

A file holds commands and steps, each with all that they show. Its folder is the name of the world that they
run in. A change of a figure or a word is in the diff of these files.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from visits import Visit
from worlds import make

from untaken.cli import main
from untaken.views import json_schema

STORED = Path(__file__).parent
NAMES = sorted(path.relative_to(STORED).as_posix() for path in STORED.glob("*/*.txt"))
REMARK, SHOW, COMMAND, STEP = "$ # ", "$ cat ", "$ untaken ", "> "
DIGITS = 9
"""Of a figure: the last ones depend on the machine's own arithmetic."""
USAGE = re.compile(r"^usage: [^\0]*?(?=^untaken[^\n]*: error: )|\(choose from [^)]*\)", re.M)
"""How Python words it, which differs by version."""
MOMENT = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|\+00:00| UTC)?)?")


def rounded(value: Any) -> Any:
    """The same document with figures to `DIGITS` digits."""
    if isinstance(value, dict):
        return {name: rounded(part) for name, part in value.items()}
    if isinstance(value, list):
        return [rounded(part) for part in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def document(printed: str) -> str:
    """A document that fits its schema, a line a value."""
    found = json.loads(printed)
    jsonschema.validate(found, json_schema(found["schema"].removeprefix("untaken.").partition("/")[0]))
    return json.dumps(rounded(found), indent=1, ensure_ascii=False) + "\n"


def answer(line: str, visit: Visit, capsys: pytest.CaptureFixture[str]) -> str:
    """What a line of a session gives now."""
    if line.startswith(STEP):
        return visit.does(line.removeprefix(STEP)) + "\n"
    if line.startswith(REMARK):
        return ""
    if line.startswith(SHOW):
        return Path(line.removeprefix(SHOW)).read_text("utf-8") + "\n"
    capsys.readouterr()  # what a page may have logged
    code = main(shlex.split(line.removeprefix(COMMAND)))
    out, err = capsys.readouterr()
    out = document(out) if line.endswith(" --json") and out else out
    err = USAGE.sub("", err)
    return f"{out}{err}{f'[exit {code}]' if code else ''}\n"


def session(stored: str, visit: Visit, capsys: pytest.CaptureFixture[str], begun: str) -> Iterator[str]:
    """The lines of a stored session, each with what it gives now; times since it was begun are no words."""
    here = str(Path.cwd())

    def timeless(found: re.Match[str]) -> str:
        text = re.match(r"[\d:.T-]+", found[0].replace(" ", "T"))[0].rstrip(".T")
        now = datetime.now(UTC).isoformat()
        return "NOW" if begun[: len(text)] <= text <= now[: len(text)] else found[0]

    for line in stored.splitlines():
        if line.startswith((REMARK, SHOW, COMMAND, STEP)):
            yield f"{line}\n{MOMENT.sub(timeless, answer(line, visit, capsys)).replace(here, '.')}"


@pytest.mark.parametrize("name", NAMES)
def test_what_users_see_is_what_is_stored(name, tmp_path, request, monkeypatch, capsys) -> None:
    path, begun = STORED / name, datetime.now(UTC).isoformat()
    make(path.parent.name, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    capsys.readouterr()
    seen = "".join(session(path.read_text("utf-8"), Visit(monkeypatch), capsys, begun))
    if request.config.getoption("--store"):
        path.write_text(seen, "utf-8", newline="\n")
    assert seen == path.read_text("utf-8"), "not as stored; if it should be so: make golden"
