"""The settings of a workspace: the file `untaken.yaml` in its folder, the same for every command and page."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import Any, Final, Literal, NoReturn

from msgspec import Struct

from untaken.counterfactual import Weights
from untaken.errors import UntakenError, Where
from untaken.plans import Document, decode, read_yaml

SETTINGS: Final = "untaken.yaml"
KEYS: Final = ("weights", "identity", "roles")
PARTS: Final = ("success", "cost", "steps")
ROLES_EXAMPLE: Final = "roles: {owner: [ann@example.org], reviewer: ['*@example.org'], others: viewer}"
Role = Literal["viewer", "reviewer", "owner"]
ROLES: Final[tuple[Role, ...]] = ("viewer", "reviewer", "owner")
"""Each may do what those before it may: read; add verdicts, notes and failure modes; all else."""


class Roles(Struct, frozen=True, kw_only=True):
    """Who may do what on a shared server.

    Attributes:
        owner, reviewer: e-mail addresses, or globs over them; case makes no difference.
        others: the role of everybody else.
    """

    owner: tuple[str, ...]
    reviewer: tuple[str, ...] = ()
    others: Role = "viewer"

    def of(self, email: str) -> Role:
        """The role of an address; an empty one belongs to others."""
        address = email.strip().casefold()
        known: tuple[tuple[Role, tuple[str, ...]], ...] = (("owner", self.owner), ("reviewer", self.reviewer))
        for role, globs in known:
            if address and any(fnmatchcase(address, glob.casefold()) for glob in globs):
                return role
        return self.others


class WorkspaceSettings(Struct, frozen=True, kw_only=True):
    """What a workspace sets.

    Attributes:
        weights: how much success, cost and steps count in a score.
        identity: names of RUN_STARTED metadata that can change an agent, beside its model and versions: only
            runs that share their values are compared.
        roles: who may do what on a shared server; without them everybody may do everything.
    """

    weights: Weights = Weights()
    identity: tuple[str, ...] = ()
    roles: Roles | None = None


def read_settings(folder: str | PathLike[str]) -> WorkspaceSettings:
    """The settings of a folder; the usual ones where it has no file.

    Raises:
        UntakenError: ``settings-invalid`` where the file says anything else; ``weights-invalid``.
    """
    path = Path(folder) / SETTINGS
    if not path.is_file():
        return WorkspaceSettings()
    found = read_yaml(decode(path.read_bytes(), str(path)), str(path))
    if found.value is None:
        return WorkspaceSettings()
    if not isinstance(found.value, dict) or not set(found.value) <= set(KEYS):
        _refuse(found, (), f"only {', '.join(KEYS)} can be set")
    weights, identity, roles = (found.value.get(key) for key in KEYS)
    return WorkspaceSettings(
        weights=Weights() if weights is None else _weights(found, weights),
        identity=() if identity is None else _identity(found, identity),
        roles=None if roles is None else _roles(found, roles),
    )


def settings_of(paths: Iterable[str]) -> WorkspaceSettings:
    """Those of the first of these folders, or of the workspace that it is the ledgers of, that has any."""
    for path in map(Path, paths):
        for folder in (path, path.parent):
            if (folder / SETTINGS).is_file():
                return read_settings(folder)
    return WorkspaceSettings()


def settings_digest(folder: str | PathLike[str]) -> str:
    """Changes whenever the settings do; empty where there are none."""
    path = Path(folder) / SETTINGS
    return sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def parse_weights(text: str) -> Weights:
    """Weights as a command line names them: ``0.5,0.3,0.2``.

    Raises:
        ValueError: where these are not three numbers.
        UntakenError: ``weights-invalid``.
    """
    success, cost, steps = (float(part) for part in text.split(","))
    return Weights(success=success, cost=cost, steps=steps)


def _weights(found: Document, value: Any) -> Weights:
    if isinstance(value, list) and len(value) == len(PARTS):
        value = dict(zip(PARTS, value, strict=True))
    if not isinstance(value, dict) or set(value) != set(PARTS) or not all(map(_number, value.values())):
        _refuse(found, ("weights",), "weights are three numbers: success, cost and steps")
    return Weights(**{part: float(value[part]) for part in PARTS})


def _identity(found: Document, value: Any) -> tuple[str, ...]:
    if not _words(value):
        _refuse(found, ("identity",), "identity is a list of names of metadata", "identity: [temperature]")
    return tuple(dict.fromkeys(value))


def _roles(found: Document, value: Any) -> Roles:
    fields = ("owner", "reviewer", "others")
    if (
        not isinstance(value, dict)
        or not set(value) <= set(fields)
        or not all(_words(value.get(name, [])) for name in fields[:2])
        or value.get("others", "viewer") not in ROLES
    ):
        _refuse(
            found, ("roles",), "roles are lists of e-mail addresses, and the role of others", ROLES_EXAMPLE
        )
    if not value.get("owner"):  # nobody could add files or change plans any more
        _refuse(found, ("roles",), "roles name no owner", ROLES_EXAMPLE)
    given = {name: tuple(value[name]) for name in fields[:2] if name in value}
    return Roles(**given, others=value.get("others", "viewer"))


def _words(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) and name.strip() for name in value)


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)  # bool is a subclass of int


def _refuse(
    found: Document, path: tuple[str, ...], message: str, example: str = "weights: [0.5, 0.3, 0.2]"
) -> NoReturn:
    where: Where = found.where(path)
    raise UntakenError("settings-invalid", message, where=where, hint=f"For example: {example}.")
