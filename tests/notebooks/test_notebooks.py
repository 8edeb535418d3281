"""Every notebook is kept as a pair, runs from top to bottom, and is stored with current outputs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import jupytext
import nbformat
import pytest
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

FOLDER = Path(__file__).parents[2] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
AFRESH = "%reset -f\n__import__('pandas').reset_option('display')"
FIGURE = "application/vnd.plotly.v1+json"


@pytest.fixture(scope="module", params=NOTEBOOKS, ids=lambda path: path.stem)
def path(request: pytest.FixtureRequest) -> Path:
    return Path(request.param)


@pytest.fixture(scope="module")
def notebook(path: Path) -> NotebookNode:
    return nbformat.read(path, as_version=4)


@pytest.fixture(scope="module")
def kernel() -> Iterator[KernelManager]:
    """One kernel for all, for most of what a notebook takes is its libraries."""
    manager = KernelManager()
    manager.start_kernel(
        cwd=str(FOLDER), env=os.environ | {"PYTHONWARNINGS": "error::DeprecationWarning:untaken"}
    )
    yield manager
    manager.shutdown_kernel(now=True)
    manager.cleanup_resources()


@pytest.fixture(scope="module")
def executed(path: Path, kernel: KernelManager) -> NotebookNode:
    """The notebook after a run that knows no name of another, with the working folder that a reader has."""
    copy = nbformat.read(path, as_version=4)
    copy.cells.insert(0, new_code_cell(AFRESH))
    client = NotebookClient(copy, km=kernel, timeout=180, coalesce_streams=True)
    client.execute()
    client.kc.stop_channels()
    del copy.cells[0]
    return copy


def test_there_is_a_notebook() -> None:
    assert NOTEBOOKS


def test_every_notebook_has_its_pair() -> None:
    assert [p.stem for p in NOTEBOOKS] == sorted(p.stem for p in FOLDER.glob("*.py"))


def test_the_pair_agrees(path: Path, notebook: NotebookNode) -> None:
    text = jupytext.read(path.with_suffix(".py"))
    assert [(c.cell_type, c.source) for c in notebook.cells] == [(c.cell_type, c.source) for c in text.cells]


def test_it_is_stored_with_the_outputs_of_a_run(notebook: NotebookNode, executed: NotebookNode) -> None:
    """`make notebooks` stores them. A figure is stored as a picture, for code hosts run no scripts."""
    assert _shown(notebook) == _shown(executed)


def _shown(notebook: NotebookNode) -> list[tuple[int, str, str]]:
    """What a reader sees below each cell: printed text, tables, and that there is a figure."""
    shown = []
    for place, cell in enumerate(notebook.cells):
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            if data.keys() & {FIGURE, "image/png"}:
                shown.append((place, "figure", ""))
            else:
                shown.append((place, output.output_type, output.get("text") or data["text/plain"]))
    return shown


def test_it_starts_from_a_question(notebook: NotebookNode) -> None:
    title = notebook.cells[0].source.splitlines()[0]
    assert title.startswith("# ")
    assert title.endswith("?")


def test_it_runs_and_draws(executed: NotebookNode) -> None:
    outputs = [output for cell in executed.cells for output in cell.get("outputs", ())]
    assert FIGURE in {kind for output in outputs for kind in output.get("data", {})}
    assert [output.text for output in outputs if output.get("name") == "stderr"] == []
