"""The settings of a workspace: the file `untaken.yaml` in its folder, the same for every command and page."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import Any, Final, NoReturn

from untaken.counterfactual.scoring import Weights
from untaken.errors import UntakenError, Where
from untaken.plans.strict_document import Document, decode, read_yaml

SETTINGS: Final = "untaken.yaml"
KEYS: Final = ("weights", "identity")
PARTS: Final = ("success", "cost", "steps")


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceSettings:
    """What a workspace sets.

    Attributes:
        weights: how much success, cost and steps count in a score.
        identity: names of RUN_STARTED metadata that can change an agent, beside its model and versions: only
            runs that share their values are compared.
    """

    weights: Weights = Weights()  # noqa: RUF009 - frozen
    identity: tuple[str, ...] = ()


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
    weights, identity = (found.value.get(key) for key in KEYS)
    return WorkspaceSettings(
        weights=Weights() if weights is None else _weights(found, weights),
        identity=() if identity is None else _identity(found, identity),
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
    if not isinstance(value, list) or not all(isinstance(name, str) and name.strip() for name in value):
        _refuse(found, ("identity",), "identity is a list of names of metadata", "identity: [temperature]")
    return tuple(dict.fromkeys(value))


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _refuse(
    found: Document, path: tuple[str, ...], message: str, example: str = "weights: [0.5, 0.3, 0.2]"
) -> NoReturn:
    where: Where = found.where(path)
    raise UntakenError("settings-invalid", message, where=where, hint=f"For example: {example}.")
