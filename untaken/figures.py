"""Figures for notebooks: ``from untaken.figures import rank_flow``.

The figures themselves are part of the app (`components/figures`) and need the extra ``app``. They are loaded
when one is first asked for, as a part of the private package ``untaken._app``: the app's folder does not have
to be on the path, and a package of the user's own called ``components`` is left alone.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

from untaken.app_folder import PRIVATE, app_folder
from untaken.extras import extra_missing


def __getattr__(name: str) -> Any:
    """A figure by its name."""
    if name != "__all__" and (name.startswith("_") or name not in __dir__()):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(_figures(), name)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("untaken."):
            raise
        raise extra_missing(
            "app-extra-missing", "app", f"figures need {error.name}, which is not installed"
        ) from error


def __dir__() -> list[str]:
    return list(_figures().__all__)


def _figures() -> ModuleType:
    app = import_module(f"untaken.{PRIVATE}")
    app.__path__ = [str(app_folder())]
    return import_module(f"{app.__name__}.components.figures")
