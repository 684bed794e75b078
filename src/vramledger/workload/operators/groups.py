"""Which requests go together: thinning keeps or drops them together.

A session is one group; so is a request without a session, together with its retries. Where a workload
names no session at all but has prefix blocks, requests that share a block which fewer than 1 % of all
requests hold are one group (assumed: turns of one conversation); else thinning would leave turns
without the turns that they build on, and prefixes without those that share them.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from vramledger.frozen import frozen
from vramledger.workload.operators.columns import Column, numbers_of, read
from vramledger.workload.operators.draws import generator
from vramledger.workload.operators.sharing import blocks_of, first_rare_block, frequent_blocks
from vramledger.workload.store import Stored

if TYPE_CHECKING:
    from vramledger.workload.operators.columns import Array


@frozen
class Groups:
    """Group of each row, a number below `numbers`."""

    of_row: "Array"
    numbers: int


def groups(source: Stored) -> Groups:
    """The groups of a stored workload's rows."""
    import numpy as np

    session = read(source.path, "session")
    root = _first_attempts(read(source.path, "retry_of"))
    named = numbers_of(session)
    if named:
        own, known = session.values, ~session.absent
    else:
        own = _conversations(source.path)
        known, named = own >= 0, int(own.max(initial=-1)) + 1
    of_row = np.where(known, own, named + np.arange(source.rows))
    return Groups(np.where(known, of_row, of_row[root]), named + source.rows)


def _conversations(path: Path) -> "Array":
    """The first rare block of each row, -1 where there is none."""
    return first_rare_block(path, frequent_blocks(path, blocks_of(path)))


def thinned(source: Stored, share: float, seed: int, *stream: int) -> "Array":
    """Rows kept when each group is kept with that probability, independently.

    The draw of a group depends on the seed, the stream and the group's number alone.
    """
    import numpy as np

    if share >= 1:
        return np.ones(source.rows, np.bool_)
    found = groups(source)
    draws = generator(seed, *stream).random(found.numbers)
    kept: Array = draws[found.of_row] < share
    return kept


def _first_attempts(retry_of: Column) -> "Array":
    """The row of the first attempt of each row; its own where it is none's retry."""
    import numpy as np

    own = np.arange(len(retry_of.values))
    if retry_of.absent.all():
        return own
    earlier = ~retry_of.absent & (retry_of.values < own)  # so that no chain goes round
    root = np.where(earlier, retry_of.values, own)
    while not np.array_equal(root[root], root):
        root = root[root]
    return root
