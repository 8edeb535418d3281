"""Is it good beyond success?"""

from __future__ import annotations

from components import cards, criteria_editing, criteria_proposing, criteria_view, state
from components.agreement_view import agreement

cards.headline("Criteria", "Is it good beyond success?")
known = criteria_view.criteria()
found = criteria_view.reviews()
counts = criteria_view.unique_counts()
criteria_editing.show_done()
criteria_proposing.show_told()
if found:
    review = criteria_view.source(found)
    criteria_view.summary(review)
    criteria_view.means(review)
    criteria_view.verdicts(review, known)
    criteria_view.one(review, known)
    criteria_view.attacks(review)
    criteria_view.stability(review)
    criteria_view.agents(review)
else:
    cards.nothing_here()
criteria_proposing.unique(counts)
criteria_view.listing(known, empty=not found)
criteria_editing.write_new()
criteria_editing.bring(recorded="recorded" in found)
criteria_proposing.draw(state.runs())
agreement()
