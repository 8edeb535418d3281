"""Which runs are still unexplained?"""

from __future__ import annotations

from components.failure_modes import guide
from components.review import agreement as review_agreement
from components.review import body
from components.shared import cards, options, state

TABS = "review_tabs"


def main() -> None:
    cards.headline("Queue", "Which runs are still unexplained?", low=True)
    if not state.corpus().runs:
        cards.nothing_here()
        return
    guide.draw()
    views = {"Queue": body.draw, "Disagreements": review_agreement.disagreements, "Agreement": agreement}
    options.tabs(TABS, views)


def agreement() -> None:
    review_agreement.agreement()
    review_agreement.of_modes()


main()
