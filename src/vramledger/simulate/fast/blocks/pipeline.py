"""The device: a step passes its stages one after another, after `simulate.pipeline`; one stage is a plain device."""

from typing import TYPE_CHECKING, NamedTuple

from vramledger.simulate.fast.compiled import compiled

if TYPE_CHECKING:
    from vramledger.simulate.fast.load import Integers


class Passage(NamedTuple):
    """When a step begins in the first stage, when in the last, and when it is out, in nanoseconds."""

    start_ns: int
    last_ns: int
    end_ns: int


@compiled
def pass_stages(stages: "Integers", now: int, lasts: int) -> Passage:
    """A step that takes `lasts` nanoseconds in all stages; `stages` are the times when each is free again."""
    share = lasts // len(stages)
    start = begun = max(now, stages[0])
    at = begun + lasts - share * (len(stages) - 1)  # what does not divide goes to the first
    stages[0] = at
    for stage in range(1, len(stages)):
        begun = max(at, stages[stage])
        at = begun + share
        stages[stage] = at
    return Passage(start, begun, at)
