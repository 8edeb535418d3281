"""Every notebook is kept as a pair without outputs, and runs from top to bottom."""

from __future__ import annotations

import os
from pathlib import Path

import jupytext
import nbformat
import pytest
from nbclient import NotebookClient
from nbformat import NotebookNode

FOLDER = Path(__file__).parents[2] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


@pytest.fixture(scope="module", params=NOTEBOOKS, ids=lambda path: path.stem)
def path(request: pytest.FixtureRequest) -> Path:
    return Path(request.param)


@pytest.fixture(scope="module")
def notebook(path: Path) -> NotebookNode:
    return nbformat.read(path, as_version=4)


@pytest.fixture(scope="module")
def executed(path: Path) -> NotebookNode:
    """The notebook after a run in a kernel of its own, with the working folder that a reader has."""
    copy = nbformat.read(path, as_version=4)
    client = NotebookClient(copy, timeout=180, resources={"metadata": {"path": str(FOLDER)}})
    client.execute(env=os.environ | {"PYTHONWARNINGS": "error::DeprecationWarning:untaken"})
    return copy


def test_there_is_a_notebook() -> None:
    assert NOTEBOOKS


def test_every_notebook_has_its_pair() -> None:
    assert [p.stem for p in NOTEBOOKS] == sorted(p.stem for p in FOLDER.glob("*.py"))


def test_the_pair_agrees(path: Path, notebook: NotebookNode) -> None:
    text = jupytext.read(path.with_suffix(".py"))
    assert [(c.cell_type, c.source) for c in notebook.cells] == [(c.cell_type, c.source) for c in text.cells]


def test_it_is_stored_without_outputs(notebook: NotebookNode) -> None:
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.outputs == [] and cell.execution_count is None for cell in code)


def test_it_runs_and_draws(executed: NotebookNode) -> None:
    outputs = [output for cell in executed.cells for output in cell.get("outputs", ())]
    assert "application/vnd.plotly.v1+json" in {kind for output in outputs for kind in output.get("data", {})}
    assert [output.text for output in outputs if output.get("name") == "stderr"] == []
