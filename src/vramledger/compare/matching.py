"""The same request on both sides: pairs by the rows of the workload."""

from typing import TYPE_CHECKING, Any

from vramledger.compare.records import Records
from vramledger.frozen import frozen

if TYPE_CHECKING:
    import numpy as np

    Booleans = np.ndarray[Any, np.dtype[np.bool_]]


@frozen
class Pairs:
    """Requests that both sides were sent, place by place the same. Counts are of pairs; `a_only` and `b_only` were sent to one side alone."""

    a: Records
    b: Records
    a_only: int
    b_only: int

    def __len__(self) -> int:
        return len(self.a)

    @property
    def both_ok(self) -> "Booleans":
        """Where both ended as asked: only there are two latencies to compare."""
        found: Booleans = self.a.ok & self.b.ok
        return found

    @property
    def same_length(self) -> "Booleans":
        """Where both answers have the same number of tokens."""
        name = "output_tokens_got"
        found: Booleans = self.both_ok & (self.a.columns[name] == self.b.columns[name])
        return found


def pairs_of(a: Records, b: Records) -> Pairs:
    """The requests that both have, in the order in which they were due in A."""
    import numpy as np

    _, in_a, in_b = np.intersect1d(a.key, b.key, assume_unique=True, return_indices=True)
    order = np.argsort(in_a, kind="stable")
    return Pairs(a.taken(in_a[order]), b.taken(in_b[order]), len(a) - len(in_a), len(b) - len(in_b))
