"""Facts about runs as tables: made while ledgers are read, kept as Parquet, asked in SQL."""

from typing import TYPE_CHECKING

from untaken.lazy_imports import imported_on_first_use

# fmt: off
if TYPE_CHECKING:
    from untaken.facts.columns import (
        Column as Column, Columns as Columns, FORMATS as FORMATS, MEANINGS as MEANINGS, TITLES as TITLES,
        Meanings as Meanings, Row as Row, cells as cells, count as count, figure as figure,
        interval as interval, moment as moment, reasons as reasons, text as text, truth as truth,
        why as why,
    )
    from untaken.facts.making import (
        MadeFacts as MadeFacts, refuse_nothing as refuse_nothing, write_facts as write_facts,
    )
    from untaken.facts.opened import Facts as Facts, open as open
    from untaken.facts.parts import write_frames as write_frames
    from untaken.facts.rows import RunWithScore as RunWithScore, total_tokens as total_tokens
    from untaken.facts.scaling.distant import AT_HAND as AT_HAND
    from untaken.facts.scaling.ledger_record import Scoring as Scoring
    from untaken.facts.scaling.ledger_tables import (
        keep_table as keep_table, rules_of as rules_of,
    )
    from untaken.facts.scaling.opening import ClusterPlace as ClusterPlace, open_cluster as open_cluster
    from untaken.facts.scaling.places import (
        Place as Place, at_hand as at_hand, find_graphs as find_graphs, find_ledgers as find_ledgers,
    )
    from untaken.facts.scaling.pool import Cluster as Cluster
    from untaken.facts.scaling.reading import (
        Ledgers as Ledgers, Lightening as Lightening, Paths as Paths, are_scored_alike as are_scored_alike,
        given_runs as given_runs, is_known as is_known, outcome_of as outcome_of,
        read_ledgers as read_ledgers, score_one as score_one, scored_by_graph as scored_by_graph,
    )
    from untaken.facts.scaling.reopening import (
        Reopened as Reopened, keep_contents as keep_contents, reopen as reopen,
    )
    from untaken.facts.tables import (
        ABOUT_RUN as ABOUT_RUN, FACTS_VERSION as FACTS_VERSION, MANIFEST as MANIFEST, TABLES as TABLES,
        WHY_UNSCORED as WHY_UNSCORED, facts_of as facts_of,
    )
# fmt: on

__getattr__, __dir__ = imported_on_first_use(__name__)
