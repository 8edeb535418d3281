"""Private areas: workspaces of one person each, beside the one that everybody shares.

What is uploaded to a private area is kept as it came, so that sharing it is the same upload once more.
"""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from untaken.errors import Finding, UntakenError, Where
from untaken.ledger import Draft, Event, Run
from untaken.workspace.database import LOCAL
from untaken.workspace.intake import Progress, UploadResult
from untaken.workspace.intake_process import take_in_apart
from untaken.workspace.scratch_folder import ScratchFolder
from untaken.workspace.versions import UPLOAD
from untaken.workspace.workspace import Workspace

PREFIX: Final = "untaken-private-"
NOT_SHARED: Final = "run-not-shared"
"""Code of the finding on a run that the other workspace does not have as it is here."""
_UPLOADS: Final = "uploads"
_LIST: Final = "uploads.jsonl"
_TOKEN_BYTES: Final = 32
_ENVELOPE: Final = frozenset(Event.__struct_fields__)


class KeptUpload(msgspec.Struct, frozen=True, kw_only=True):
    """A file as it was uploaded: its name (untrusted), its own name on disk, and the agent given for it."""

    name: str
    file: str
    agent: str | None


class PrivateAreas:
    """The private areas of one server, in a temporary folder that ends with it.

    A folder whose server was killed is removed when the next one opens its first area.
    """

    def __init__(self) -> None:
        self._scratch = ScratchFolder(PREFIX)
        self.folder = self._scratch.path

    def create(self, owner: str, shared: Workspace) -> str:
        """Makes an empty area with the plan graphs in force, and gives the token that opens it.

        Args:
            owner: who is signed in, or empty; nobody else opens it, even with the token.
            shared: the workspace whose plan graphs are copied, so that runs can be scored.
        """
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        folder = self._place(token, owner)
        (folder / _UPLOADS).mkdir(mode=0o700, parents=True)
        (folder / LOCAL).touch(mode=0o600)
        current = {graph.id: graph.version for graph in shared.graph_set().graphs}
        with Workspace(folder) as workspace:
            for file in shared.graphs():
                if file.path and current.get(file.graph_id or "") == file.graph_version:
                    workspace.add(file.name, file.path)
        return token

    def find(self, token: str, owner: str) -> PrivateArea | None:
        """The area that a token opens, while it is there."""
        folder = self._place(token, owner)
        return PrivateArea(folder=folder) if folder.is_dir() else None

    def close(self) -> None:
        """Removes every area."""
        self._scratch.remove()

    def _place(self, token: str, owner: str) -> Path:
        """The area's folder, named by a digest: a token may be any text, and the name must not open it."""
        return self.folder / sha256(f"{token}\0{owner}".encode("utf-8", "replace")).hexdigest()[:32]


class PrivateArea(msgspec.Struct, frozen=True, kw_only=True):
    """One person's area: a workspace in `folder`, and the files that were uploaded to it."""

    folder: Path

    def open(self) -> Workspace:
        """Its workspace."""
        return Workspace(self.folder)

    def uploads(self) -> list[KeptUpload]:
        """What was uploaded, in order."""
        kept = self.folder / _LIST
        lines = kept.read_bytes().splitlines() if kept.is_file() else []
        return [msgspec.json.decode(line, type=KeptUpload) for line in lines]

    def take_in(
        self,
        files: Sequence[tuple[str, Path]],
        *,
        agent: str | None = None,
        progress: Progress | None = None,
        each: Callable[[list[UploadResult]], None] | None = None,
    ) -> list[UploadResult]:
        """`take_in_apart` to this area; the files are kept to be shared later."""
        kept: list[tuple[str, Path]] = []
        with _for_owner(self.folder / _LIST) as listed:
            for name, path in files:
                target = self.folder / _UPLOADS / secrets.token_hex(8)
                with path.open("rb") as source, _for_owner(target) as copy:
                    shutil.copyfileobj(source, copy)
                safe = name.encode(errors="replace").decode()  # no half characters
                one = KeptUpload(name=safe, file=target.name, agent=agent)
                listed.write(msgspec.json.encode(one) + b"\n")
                kept.append((safe, target))
        with self.open() as workspace:
            return take_in_apart(workspace, kept, agent=agent, progress=progress, each=each)

    def share(self, target: Workspace, *, progress: Progress | None = None) -> list[UploadResult]:
        """Uploads all of it to another workspace, with the verdicts, notes and plan graphs saved here.

        Review statuses and drafts stay behind.

        Args:
            target: where it goes.
            progress: as `take_in_apart`; what it raises ends the sharing, and what was added stays.

        Returns:
            As `take_in_apart`; then a row with the finding ``run-not-shared`` for each run that did not
            arrive as it is here, or about which something could not be written there.
        """
        kept, rows = self.uploads(), list[UploadResult]()
        with self.open() as workspace, tempfile.TemporaryDirectory(prefix="untaken-") as scratch:
            graphs = _saved_graphs(workspace, Path(scratch))
            for agent in dict.fromkeys(one.agent for one in kept):  # one intake takes one agent's name
                files = [(one.name, self.folder / _UPLOADS / one.file) for one in kept if one.agent == agent]
                rows += take_in_apart(target, files, agent=agent, progress=progress)
            rows += take_in_apart(target, graphs, progress=progress) if graphs else []
            return rows + _write_again(workspace, target)

    def discard(self) -> None:
        """Deletes it."""
        shutil.rmtree(self.folder, ignore_errors=True)


def _saved_graphs(workspace: Workspace, scratch: Path) -> list[tuple[str, Path]]:
    """The plan graphs of which a person saved a version here, each in its newest one."""
    found: list[tuple[str, Path]] = []
    for graph_id in dict.fromkeys(file.graph_id for file in workspace.graphs() if file.graph_id):
        newest = workspace.newest_version(graph_id)
        file = next((f for f in workspace.graphs() if newest and f.digest == newest.file), None)
        if newest is not None and newest.author != UPLOAD and file is not None and file.path is not None:
            place = scratch / str(len(found))
            shutil.copyfile(file.path, place)
            found.append((file.name, place))
    return found


def _write_again(source: Workspace, target: Workspace) -> list[UploadResult]:
    """Appends what people wrote about the runs of one workspace to the same runs of another."""
    there = {run.digest: run for run in target.read_runs()[0] if not run.integrity.broken}
    left: list[UploadResult] = []
    for run in source.read_runs()[0]:
        if run.integrity.broken:
            continue
        if run.digest not in there:
            left.append(_not_shared(run, "the shared workspace has no run like it"))
        elif written := [event for event in run.events if event.seq in run.appended_here]:
            try:
                drafts = [  # without the fields that the other chain gives them
                    Draft(
                        type(one), {f: getattr(one, f) for f in one.__struct_fields__ if f not in _ENVELOPE}
                    )
                    for one in written
                ]
                target.append_events(there[run.digest], drafts)
            except UntakenError as error:
                left.append(_not_shared(run, f"verdicts and notes could not be written: {error.message}"))
    return left


def _not_shared(run: Run, why: str) -> UploadResult:
    finding = Finding(
        code=NOT_SHARED,
        message=f"not shared as it is here: {why}",
        where=Where(run=run.run_id),
        hint="The private area is still there. Share again, or copy what you need and discard it.",
        severity="error",
    )
    return UploadResult(name=run.run_id, kind="ledger", findings=(finding,))


def _for_owner(path: Path) -> BinaryIO:
    """A file to append to, which nobody but its owner reads."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab")
