"""Where the app is: inside the package when it is installed from a wheel, beside it in a checkout."""

from __future__ import annotations

from pathlib import Path
from typing import Final

PRIVATE: Final = "_app"


def app_folder() -> Path:
    """The folder of app.py, pages, components and sample_runs."""
    package = Path(__file__).resolve().parent
    inside = package / PRIVATE
    return inside if (inside / "app.py").is_file() else package.parent
