"""Regenerate the sample runs, or the figures in the README.

`python -m sample_runs.refund_desk [--figures] [FOLDER]`
"""

from __future__ import annotations

import argparse
from pathlib import Path

from sample_runs.refund_desk.figures import figures, renewed
from sample_runs.refund_desk.generate import generate


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=Path(__file__).parents[1])
    parser.add_argument("--figures", action="store_true", help="write the README's figures from the ledgers")
    wanted = parser.parse_args()
    if wanted.figures:
        readme = wanted.folder / "README.md"
        readme.write_text(renewed(readme.read_text("utf-8"), figures(wanted.folder)), "utf-8", newline="\n")
    else:
        generate(wanted.folder)


if __name__ == "__main__":
    main()
