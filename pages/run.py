"""What happened in this run?"""

from __future__ import annotations

from components.failure_modes import guide
from components.run import body
from components.shared import cards, state


def main() -> None:
    cards.headline("Run", "What happened in this run?", low=True)
    if not state.corpus().runs:
        cards.nothing_here()
        return
    guide.draw()
    body.draw()


main()
