"""Facts about runs as tables: made while ledgers are read, kept as Parquet, asked in SQL."""

from typing import TYPE_CHECKING

from untaken.lazy_imports import imported_on_first_use

if TYPE_CHECKING:
    from untaken.facts.making import MadeFacts as MadeFacts, write_facts as write_facts
    from untaken.facts.opened import Facts as Facts, open as open
    from untaken.facts.parts import write_frames as write_frames
    from untaken.facts.rows import RunWithScore as RunWithScore
    from untaken.facts.tables import FACTS_VERSION as FACTS_VERSION, TABLES as TABLES, facts_of as facts_of

__getattr__, __dir__ = imported_on_first_use(__name__)
