"""Calls that are one request tried again, and ids that may or may not name a conversation."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

# Within a session: a retry has the turn of its first attempt, and its wait is no time to think.
TURNS = """
    SELECT * REPLACE (
        CASE WHEN session IS NULL OR count(turn) OVER whole > 0 THEN turn
             ELSE greatest(count(*) FILTER (retry_of IS NULL) OVER so_far - 1, 0) END AS turn,
        CASE WHEN think_ns IS NOT NULL OR session IS NULL THEN think_ns
             WHEN retry_of IS NULL AND arrival_ns >= lag(arrival_ns + duration_ns) OVER so_far
             THEN arrival_ns - lag(arrival_ns + duration_ns) OVER so_far END AS think_ns
    ) FROM placed
    WINDOW whole AS (PARTITION BY session), so_far AS (PARTITION BY session ORDER BY place)
"""
RETRIED_TURNS = """
    SELECT counted.* REPLACE (
        CASE WHEN first.session = counted.session THEN first.turn ELSE counted.turn END AS turn
    ) FROM counted LEFT JOIN firsts ON counted.row = firsts.row
    LEFT JOIN counted first ON firsts.first = first.row
"""
_LONE = """
    UPDATE spool SET session = NULL WHERE session IN (
        SELECT session FROM spool JOIN links USING (session) GROUP BY session
        HAVING count(*) FILTER (retry_of IS NULL) < 2
    )
"""


def first_attempts(retries: "pa.Table") -> "pa.Table":
    """Row, first: of each retry its first attempt. Takes row and retry_of, both int64, in any order.

    Every step looks twice as far back as the one before, so that a chain of n takes log2(n).
    """
    import numpy as np
    import pyarrow as pa

    rows, before = (np.asarray(retries.column(name)) for name in ("row", "retry_of"))
    order = np.argsort(rows)
    rows, before = rows[order], before[order]
    for _ in range(len(rows).bit_length()):
        place = np.minimum(np.searchsorted(rows, before), len(rows) - 1)
        before = np.where(rows[place] == before, before[place], before)
    return pa.table({"row": rows, "first": before})


def drop_lone_links(connection: Any, links: Sequence[int]) -> None:
    """Take sessions of `links` for none where fewer than two calls, retries apart, have them."""
    import pyarrow as pa

    if len(links):
        connection.register("links", pa.table({"session": pa.array(links, pa.int32())}))
        connection.execute(_LONE)
