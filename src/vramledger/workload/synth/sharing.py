"""Prefix blocks, so that as much of each request was seen before as in the profile.

How many leading full blocks a request shares is drawn from the profile's counts by input bin. Within
a bin of one chunk the longer shares go to the longer inputs, so that none has to be cut. The shared
blocks are those of an earlier request that has as many: the turn before where there is one, else any
of the last `_REMEMBERED` alike. The rest are new, so exactly the drawn number was seen before. A
share longer than any request so far is cut to the longest there is: so is the first of every log.
"""

from typing import TYPE_CHECKING, Any, Final

from vramledger.errors import CannotKnow
from vramledger.workload.profile.bins import EDGES
from vramledger.workload.profile.profile import Prefix
from vramledger.workload.synth.draws import Shares

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

_REMEMBERED: Final = 65_536  # requests whose blocks can still be shared
_TRIES: Final = 16  # random picks before all are looked at
_MOST_BLOCKS: Final = (1 << 31) - 1


class SharingDraws:
    """Draws prefix blocks like a profile's; remembers earlier requests from call to call."""

    def __init__(self, prefix: Prefix, requests: int) -> None:
        import numpy as np

        self.block_tokens = prefix.block_tokens or 1
        held = sum(count for _, _, count in prefix.shared_blocks)
        self._share = min(1.0, held / requests) if requests else 0.0
        self._bins: dict[int, tuple[NDArray[np.int64], Shares]] = {}
        for place in {bin_ for bin_, _, _ in prefix.shared_blocks}:
            rows = [(n, c) for bin_, n, c in prefix.shared_blocks if bin_ == place]
            self._bins[place] = (
                np.array([n for n, _ in rows], np.int64),
                Shares(np.array([c for _, c in rows], float)),
            )
        self._past = _Past()
        self._next = 0

    def draw(
        self,
        inputs: "NDArray[np.int32]",
        previous: "NDArray[np.int64] | None",
        rng: "np.random.Generator",
    ) -> "pa.ListArray":
        """The blocks of requests with these inputs; `previous` are indices of turns before, or -1."""
        import numpy as np
        import pyarrow as pa

        full = inputs.astype(np.int64) // self.block_tokens
        has = rng.random(len(inputs)) < self._share
        shared = np.minimum(self._shared(inputs, has, rng), full)
        if self._next + int(full[has].sum()) > _MOST_BLOCKS:
            raise CannotKnow(
                "So many requests have more prefix blocks than 32-bit numbers can tell apart; ask for "
                "fewer requests, or leave the prefixes out with --no-prefix."
            )
        chains = self._chains(full, shared, has, previous, rng)
        offsets = np.concatenate(([0], np.cumsum(np.where(has, full, 0)))).astype(np.int32)
        values = np.concatenate(chains) if chains else np.zeros(0, np.int32)
        return pa.ListArray.from_arrays(
            pa.array(offsets), pa.array(values, pa.int32()), mask=pa.array(~has)
        )

    def _shared(
        self, inputs: "NDArray[np.int32]", has: "NDArray[np.bool_]", rng: "np.random.Generator"
    ) -> "NDArray[np.int64]":
        import numpy as np

        bins = np.searchsorted(np.array(EDGES), inputs, side="right") - 1
        shared = np.zeros(len(inputs), np.int64)
        for place, (counts, shares) in sorted(self._bins.items()):
            rows = np.flatnonzero((bins == place) & has)
            rows = rows[np.argsort(inputs[rows], kind="stable")]
            shared[rows] = np.sort(counts[shares.draw(rng, len(rows))])
        return shared

    def _chains(
        self,
        full: "NDArray[np.int64]",
        shared: "NDArray[np.int64]",
        has: "NDArray[np.bool_]",
        previous: "NDArray[np.int64] | None",
        rng: "np.random.Generator",
    ) -> "list[NDArray[np.int32]]":
        import numpy as np

        rows = np.flatnonzero(has)
        chains: dict[int, NDArray[np.int32]] = {}
        for row in rows.tolist():
            turn_before = -1 if previous is None else int(previous[row])
            head = self._head(int(shared[row]), chains.get(turn_before), rng)
            new = int(full[row]) - len(head)
            fresh = np.arange(self._next, self._next + new, dtype=np.int32)
            self._next += new
            chain = np.concatenate((head, fresh))
            chains[row] = chain
            self._past.remember(chain)
        return [chains[row] for row in rows.tolist()]

    def _head(
        self, count: int, turn_before: Any, rng: "np.random.Generator"
    ) -> "NDArray[np.int32]":
        """So many blocks of an earlier request."""
        import numpy as np

        if count == 0:
            return np.zeros(0, np.int32)
        if turn_before is not None and len(turn_before) >= count:
            found: NDArray[np.int32] = turn_before[:count]
            return found
        picked: NDArray[np.int32] = self._past.pick(count, rng)[:count]
        return picked


class _Past:
    """The blocks of the last requests, in a ring."""

    def __init__(self) -> None:
        import numpy as np

        self._chains: list[NDArray[np.int32]] = []
        self._lengths = np.zeros(_REMEMBERED, np.int64)
        self._seen = 0

    def remember(self, chain: "NDArray[np.int32]") -> None:
        """Add one request; the oldest goes where there are too many."""
        place = self._seen % _REMEMBERED
        if place == len(self._chains):
            self._chains.append(chain)
        else:
            self._chains[place] = chain
        self._lengths[place] = len(chain)
        self._seen += 1

    def pick(self, count: int, rng: "np.random.Generator") -> "NDArray[np.int32]":
        """One with at least so many blocks, all alike; else the longest; else no blocks."""
        import numpy as np

        held = len(self._chains)
        if not held:
            return np.zeros(0, np.int32)
        for place in rng.integers(0, held, _TRIES).tolist():
            if len(self._chains[place]) >= count:
                found: NDArray[np.int32] = self._chains[place]
                return found
        enough = np.flatnonzero(self._lengths[:held] >= count)
        if not len(enough):
            return self._chains[int(self._lengths[:held].argmax())]
        return self._chains[int(enough[rng.integers(0, len(enough))])]
