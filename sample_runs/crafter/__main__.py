"""Regenerate the sample runs of Crafter, of one agent or of all, or the figures in the README.

`python -m sample_runs.crafter [--figures] [--agent NAME] [FOLDER]`
"""

from __future__ import annotations

import argparse
from pathlib import Path

from sample_runs.crafter.figures import figures
from sample_runs.crafter.generate import AGENTS, generate
from sample_runs.refund_desk.figures import renewed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=Path(__file__).parent)
    parser.add_argument("--figures", action="store_true", help="write the README's figures from the ledgers")
    parser.add_argument(
        "--agent", choices=[agent.agent for agent in AGENTS], help="the runs of this one only"
    )
    wanted = parser.parse_args()
    if wanted.figures:
        readme = wanted.folder / "README.md"
        readme.write_text(renewed(readme.read_text("utf-8"), figures(wanted.folder)), "utf-8", newline="\n")
    else:
        generate(wanted.folder, agent=wanted.agent)


if __name__ == "__main__":
    main()
