"""The table of fields on the page of formats is what the importers declare."""

from __future__ import annotations

import runpy

from doc_pages import ROOT


def test_the_table_of_fields_is_that_of_the_importers() -> None:
    script = runpy.run_path(str(ROOT / "scripts" / "format_fields.py"))
    page = (ROOT / "docs" / "formats.md").read_text("utf-8")
    assert script["BEGIN"] in page
    assert page == script["with_table"](page), "run python scripts/format_fields.py"
