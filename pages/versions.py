"""What changed between two versions?"""

from __future__ import annotations

from components.shared import cards, state
from components.versions import view


def main() -> None:
    cards.headline("Versions", "What changed between two versions?")
    corpus = state.corpus()
    if not corpus.runs:
        cards.nothing_here()
        return
    found = view.choose(corpus)
    if found is None:
        return
    view.summary(found)
    view.sub_goals(found)
    view.costs(found)
    view.pairs(found, corpus)
    view.document(found)


main()
