"""Whether a run left the headroom of the KV cache free."""

from vramledger.frozen import frozen
from vramledger.plan.headroom import kept_free
from vramledger.plan.requirement import Kind
from vramledger.simulate.answers import Answers


@frozen
class KvRoom:
    """Shares of one engine's pool, 0..1; what is used is None where nothing ran."""

    headroom: float  # to be kept free
    used_p99: float | None  # over time
    used_max: float | None

    @property
    def kept_at_p99(self) -> bool | None:
        """Whether the headroom is free 99 % of the time."""
        return None if self.used_p99 is None else self.used_p99 <= 1 - self.headroom

    @property
    def kept_at_peak(self) -> bool | None:
        """Whether it is free all the time."""
        return None if self.used_max is None else self.used_max <= 1 - self.headroom


def kv_room_of(
    found: Answers, engines: int, *, headroom: float | None, kind: Kind, longest: float
) -> KvRoom:
    """The room of a run on so many engines.

    `headroom` is as a plan states it, None by kind; `longest` the share of a pool that one long
    request takes (`capacity.longest_share`).
    """
    levels = found.levels
    kept = kept_free(headroom, kind, levels.in_system / max(engines, 1), longest)
    return KvRoom(kept, levels.kv_usage.p99, levels.kv_usage.max)
