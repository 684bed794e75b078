"""A device of pipeline stages: a step passes them one after another, and the next one follows behind it.

After the batch queue of ``EngineCore.step_with_batch_queue`` of vLLM 0.32.0, which keeps as many steps under way as there
are stages. The stages of a step take equal shares of its time.
"""

from vramledger.frozen import frozen


@frozen
class Passage:
    """When a step begins in the first stage, when in the last, and when it is out, in nanoseconds."""

    start_ns: int
    last_ns: int
    end_ns: int


class Pipeline:
    """When each stage is free again; one stage is a plain device."""

    def __init__(self, stages: int) -> None:
        self._free = [0] * stages

    def send(self, now: int, lasts: int) -> Passage:
        """A step that takes `lasts` nanoseconds in all stages together; what does not divide goes to the first."""
        share = lasts // len(self._free)
        begun, at = [], now
        for stage, free in enumerate(self._free):
            begun.append(max(at, free))
            at = begun[-1] + share + (0 if stage else lasts - share * len(self._free))
            self._free[stage] = at
        return Passage(begun[0], begun[-1], at)
