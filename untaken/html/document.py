"""The `--json` document of `untaken report`."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256

from untaken.answers.documents import Document, finding_entries
from untaken.corpus import Corpus
from untaken.errors import Finding
from untaken.html.small_print import corpus_digest


def report_document(
    corpus: Corpus, page: bytes, *, file: str, full: bool, findings: Iterable[Finding] = ()
) -> Document:
    """``untaken.report/1``: which file was written, and from what."""
    return {
        "schema": "untaken.report/1",
        "file": file,
        "bytes": len(page),
        "sha256": sha256(page).hexdigest(),
        "full": full,
        "runs": len(corpus.runs),
        "digest": corpus_digest(corpus),
        "findings": finding_entries(findings),
    }
