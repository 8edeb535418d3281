"""Fresh environments without a download: links to what an installation of the wheel would fetch."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

LIBRARY = Path("lib", f"python{sys.version_info.major}.{sys.version_info.minor}", "site-packages")


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """A virtual environment into which a wheel was installed."""

    folder: Path

    @property
    def library(self) -> Path:
        return self.folder / LIBRARY

    @property
    def command(self) -> str:
        return str(self.folder / "bin" / "untaken")

    @property
    def variables(self) -> dict[str, str]:
        """Nothing from the checkout or from the environment of the test run."""
        ours = ("PYTHONPATH", "VIRTUAL_ENV", "UNTAKEN_")
        return {name: value for name, value in os.environ.items() if not name.startswith(ours)}

    def run(self, *words: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
        """Runs ``untaken``."""
        return self._run([self.command, *words], cwd, variables)

    def python(self, program: str, *, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
        """Runs a program."""
        return self._run([str(self.folder / "bin" / "python"), "-c", program], cwd, variables)

    def _run(
        self, command: list[str], cwd: Path, variables: dict[str, str]
    ) -> subprocess.CompletedProcess[str]:
        environment = self.variables | variables
        return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


def environment(
    folder: Path, wheel: Path, *, installer: list[str], extras: tuple[str, ...] = ()
) -> Environment:
    """An environment with the wheel, and with what its own metadata asks for under these extras."""
    venv.create(folder, with_pip=False)
    made = Environment(folder=folder)
    python = str(folder / "bin" / "python")
    command = [word.format(python=python) for word in installer]
    subprocess.run([*command, "--quiet", "--no-deps", "--no-index", str(wheel)], check=True)
    (installed,) = (Distribution.at(info) for info in made.library.glob("untaken*.dist-info"))
    for needed in closure(installed, frozenset(extras)):
        for entry in {
            file.parts[0] for file in needed.files or () if file.parts[0] not in ("..", "__pycache__")
        }:
            link = made.library / entry
            if not link.exists():
                link.symlink_to(Path(str(needed.locate_file(entry))))
    return made


def closure(of: Distribution, extras: frozenset[str]) -> Iterator[Distribution]:
    """What a distribution requires under these extras, all the way down, each once."""
    seen: set[tuple[str, frozenset[str]]] = set()
    waiting = [(of, extras)]
    while waiting:
        one, chosen = waiting.pop()
        for line in one.requires or ():
            required = Requirement(line)
            named = chosen or {""}
            if required.marker and not any(required.marker.evaluate({"extra": extra}) for extra in named):
                continue
            key = (required.name.lower(), frozenset(required.extras))
            if key in seen:
                continue
            seen.add(key)
            try:
                found = of if required.name == of.name else distribution(required.name)
            except PackageNotFoundError:
                continue
            if found is not of:
                yield found
            waiting.append((found, frozenset(required.extras)))
