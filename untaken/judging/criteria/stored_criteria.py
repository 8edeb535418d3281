"""The criteria that a workspace keeps, and recorded replies of quantifiers beside them."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from untaken.atomic_file import change_file, write_whole
from untaken.errors import Finding, UntakenError, Where
from untaken.judging.criteria.criterion import CriteriaSet, Criterion, QuantifierRun
from untaken.judging.criteria.deterministic import ledger_criteria
from untaken.judging.criteria.editing import Edit, add
from untaken.judging.criteria.files import criteria_bytes, load_criteria, parse_criteria
from untaken.judging.criteria.recorded import CRITERIA, REPLIES, read_quantifier_runs
from untaken.ledger import JsonFault, parse_json

FILE: Final = "criteria.json"
PROPOSED: Final = "proposed.json"
"""What each seed proposed the last time."""
RECORDED: Final = "quantified"
"""Folder of recorded replies, each file beside its criteria."""
PEOPLE: Final = "people"
"""How the names of people's values among them begin."""
_STEM: Final = re.compile(r"[^A-Za-z0-9_-]+")


def kept_criteria(folder: Path) -> CriteriaSet:
    """The criteria of the workspace in `folder`; those that ledgers answer, where nothing was kept yet.

    Raises:
        UntakenError: ``criteria-invalid`` for a file changed by hand.
    """
    file = folder / FILE
    return load_criteria(file) if file.exists() else replace(ledger_criteria(), id="workspace")


def change_criteria(folder: Path, change: Edit) -> CriteriaSet:
    """Change the workspace's criteria in one step, safe against concurrent changes.

    Raises:
        UntakenError: as `change` and `kept_criteria`; then nothing is written.
    """
    return change_file(folder / FILE, lambda: kept_criteria(folder), change, criteria_bytes)


def kept_runs(folder: Path) -> tuple[QuantifierRun, ...]:
    """Results of recorded quantifiers, pass by pass; empty if none were uploaded.

    Raises:
        UntakenError: as `read_quantifier_runs`.
    """
    return _read(folder, people=False)


def kept_people(folder: Path) -> tuple[QuantifierRun, ...]:
    """People's values among the recorded replies: those whose name begins with `PEOPLE`.

    Raises:
        UntakenError: as `read_quantifier_runs`.
    """
    return _read(folder, people=True)


def has_people(folder: Path) -> bool:
    """Whether people's values are among the recorded replies of the workspace in `folder`."""
    return any(_is_by_people(file) for file in (folder / RECORDED).glob(f"*{REPLIES}"))


def _is_by_people(file: Path) -> bool:
    return file.name.casefold().startswith(PEOPLE)


def _read(folder: Path, *, people: bool) -> tuple[QuantifierRun, ...]:
    files = sorted(f for f in (folder / RECORDED).glob(f"*{REPLIES}") if _is_by_people(f) is people)
    return tuple(run for file in files for run in read_quantifier_runs(file))


def keep_answers(folder: Path, answers: Mapping[str, Sequence[Sequence[Criterion]]]) -> None:
    """Keep what each seed proposed, for the number of different criteria by seeds."""
    write_whole(folder / PROPOSED, msgspec.json.encode(answers))


def kept_answers(folder: Path) -> dict[str, list[list[Criterion]]]:
    """What each seed proposed the last time, by the way of asking; empty where nothing was proposed yet.

    Raises:
        UntakenError: ``criteria-invalid`` for a file changed by hand.
    """
    file = folder / PROPOSED
    if not file.exists():
        return {}
    try:
        return msgspec.convert(parse_json(file.read_bytes()), dict[str, list[list[Criterion]]])
    except (JsonFault, msgspec.ValidationError) as error:
        hint = "Delete it and propose again."
        where = Where(file=str(file))
        raise UntakenError("criteria-invalid", f"no proposals: {error}", where=where, hint=hint) from error


def kept_digest(folder: Path) -> str:
    """Changes whenever the criteria or the recorded replies of the workspace do: a key for caches."""
    digest = sha256()
    for file in (folder / FILE, folder / PROPOSED, *sorted((folder / RECORDED).glob("*"))):
        if file.is_file():
            digest.update(f"{file.name}\0".encode() + sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def take_in_criteria(folder: Path, files: Sequence[tuple[str, bytes]]) -> tuple[Finding, ...]:
    """Add criteria files and recorded replies to the workspace; a bad file never blocks the good ones.

    Criteria join those of the workspace, where a name that is known stays as it is. Replies are kept beside
    the criteria of the same name, which must come with them.

    Returns:
        One finding per file: a note on the result, or the problem.
    """
    return tuple(_take_in(folder, name, data, files) for name, data in files)


def forget_replies(folder: Path) -> int:
    """Delete the uploaded replies; returns how many passes there were."""
    files = list((folder / RECORDED).glob("*"))
    for file in files:
        file.unlink()
    return sum(file.name.endswith(REPLIES) for file in files)


def _take_in(folder: Path, name: str, data: bytes, files: Sequence[tuple[str, bytes]]) -> Finding:
    try:
        if name.endswith(REPLIES):
            message = _take_replies(folder, name, data, files)
        else:
            message = _take_criteria(folder, name, data)
    except UntakenError as error:
        return _named(error, name).finding()
    return Finding(code="criteria-taken-in", message=message, where=Where(file=name), severity="note")


def _take_criteria(folder: Path, name: str, data: bytes) -> str:
    found = parse_criteria(data, name=name)
    before = len(kept_criteria(folder).criteria)
    after = len(change_criteria(folder, lambda known: add(known, found.criteria)).criteria)
    return f"{len(found.criteria)} criteria, {after - before} of them new"


def _take_replies(folder: Path, name: str, data: bytes, files: Sequence[tuple[str, bytes]]) -> str:
    stem = name.removesuffix(REPLIES)
    criteria = next((content for other, content in files if other in {stem + e for e in CRITERIA}), None)
    if criteria is None:
        raise UntakenError(
            "criteria-missing",
            "these replies have no criteria file",
            where=Where(file=name),
            hint=f"Upload NAME{CRITERIA[0]} or NAME{CRITERIA[1]} together with NAME{REPLIES}.",
        )
    plain = _STEM.sub("-", stem.replace("\\", "/").rsplit("/", maxsplit=1)[-1]).strip("-")[:60] or "run"
    place = folder / RECORDED
    place.mkdir(exist_ok=True)
    kept, other = place / f"{plain}{REPLIES}", sha256(criteria + data).hexdigest()[:6]
    if kept.exists() and kept.read_bytes() != data:
        plain = f"{plain}-{other}"  # another pass of the same name
    # Read in a draft first, so that a bad file leaves nothing; in the same folder, so that a move is whole.
    with tempfile.TemporaryDirectory(dir=folder, prefix=".criteria-") as draft:
        for ending, content in ((CRITERIA[1], criteria), (REPLIES, data)):
            (Path(draft) / f"{plain}{ending}").write_bytes(content)
        (run,) = read_quantifier_runs(Path(draft) / f"{plain}{REPLIES}")
        for ending in (CRITERIA[1], REPLIES):  # the criteria first: replies are read beside them
            (Path(draft) / f"{plain}{ending}").replace(place / f"{plain}{ending}")
    unread = f", {len(run.unparseable)} of them unreadable" if run.unparseable else ""
    return f"{len(run.items)} replies by {len(run.criteria)} criteria{unread}"


def _named(error: UntakenError, name: str) -> UntakenError:
    """The same error, of the file as its owner calls it."""
    where = Where(file=name, line=error.where.line, column=error.where.column)
    return UntakenError(error.code, error.message, where=where, hint=error.hint)
