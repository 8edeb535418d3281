"""Is it good beyond success?"""

from __future__ import annotations

from components.criteria import editing, proposing, view
from components.criteria.agreement import agreement
from components.shared import cards, state

cards.headline("Criteria", "Is it good beyond success?")
known = view.criteria()
found = view.reviews()
counts = view.unique_counts()
cards.show_once(editing.DONE)
proposing.show_message()
if found:
    review = view.source(found)
    view.summary(review)
    view.means(review)
    view.verdicts(review, known)
    view.one(review, known)
    view.attacks(review)
    view.stability(review)
    view.people(review)
    view.agents(review)
else:
    cards.nothing_here()
proposing.unique(counts)
view.listing(known, empty=not found)
editing.write_new()
editing.add_files(recorded="recorded" in found)
proposing.draw(state.runs())
agreement()
