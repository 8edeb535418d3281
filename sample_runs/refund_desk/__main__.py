"""`python -m sample_runs.refund_desk [FOLDER]`: regenerate the sample runs."""

from __future__ import annotations

import sys
from pathlib import Path

from sample_runs.refund_desk.generate import generate

generate(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1])
