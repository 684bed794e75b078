"""Which requests go together: thinning keeps or drops them together.

A session is one group; so is a request without a session, together with its retries.
"""

from typing import TYPE_CHECKING

from vramledger.frozen import frozen
from vramledger.workload.operators.columns import Column, numbers_of, read
from vramledger.workload.operators.draws import generator
from vramledger.workload.store import Stored

if TYPE_CHECKING:
    from vramledger.workload.operators.columns import Array


@frozen
class Groups:
    """Group of each row: sessions have numbers below `sessions`, other groups from there on."""

    of_row: "Array"
    sessions: int


def groups(source: Stored) -> Groups:
    """The groups of a stored workload's rows."""
    import numpy as np

    session = read(source.path, "session")
    root = _first_attempts(read(source.path, "retry_of"))
    sessions = numbers_of(session)
    of_row = np.where(session.absent, sessions + np.arange(source.rows), session.values)
    return Groups(np.where(session.absent, of_row[root], of_row), sessions)


def thinned(source: Stored, share: float, seed: int, *stream: int) -> "Array":
    """Rows kept when each group is kept with that probability, independently.

    The draw of a group depends on the seed, the stream and the group's number alone.
    """
    import numpy as np

    if share >= 1:
        return np.ones(source.rows, np.bool_)
    found = groups(source)
    draws = generator(seed, *stream).random(found.sessions + source.rows)
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
