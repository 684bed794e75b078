"""The engine step by step, for a comparison with schedulers that are driven by hand.

Time counts steps: requests arrive and leave at numbers of steps, a step takes no time, and one in which nobody
gets a token is in flight like others. The machine code is that of every simulation: `run.advance`
with room for the row of a single step.
"""

import numpy as np

from vramledger.frozen import frozen
from vramledger.simulate.fast.blocks.rows import ABORTED, FINISHED, NOBODY
from vramledger.simulate.fast.blocks.run import advance
from vramledger.simulate.fast.blocks.world import World, new_world
from vramledger.simulate.fast.load import Load
from vramledger.simulate.fast.records import new_records
from vramledger.simulate.fast.refusals import refuse_not_followed
from vramledger.simulate.settings import Settings
from vramledger.simulate.step_cost import StepCost


@frozen
class LockStep:
    """One step: tokens by rank, and the state after the oldest came back."""

    scheduled: dict[int, int]
    preempted: tuple[int, ...]
    finished: tuple[int, ...]  # in the order of arrival
    running: int
    waiting: int
    used_blocks: int


class LockStepEngine:
    """An engine that makes one step a call.

    `load` gives times in steps, and no prompt may be longer than `settings.max_model_len`. Raises
    `CannotKnow` for what `refusals` names.
    """

    def __init__(self, settings: Settings, load: Load, seed: int = 0) -> None:
        refuse_not_followed(settings)
        records = new_records(len(load.asked))
        self.world: World = new_world(settings, load, StepCost(), records, 1, seed)
        self.world.engine["lockstep"] = True
        self._over = np.zeros(len(load.asked), np.bool_)

    @property
    def is_over(self) -> bool:
        """Whether every request has come and ended."""
        engine = self.world.engine[0]
        return bool(
            engine["coming"] == engine["total"] and engine["waiting"] == engine["running"] == 0
        )

    def step(self) -> LockStep:
        """Schedule a step, and take in the oldest in flight once enough are."""
        world, engine = self.world, self.world.engine[0]
        engine["rows"] = engine["pauses"] = 0
        advance(world)
        return LockStep(
            scheduled=self._scheduled(),
            preempted=tuple(int(rank) for rank in world.preempted[: engine["preempted"]]),
            finished=self._finished(),
            running=int(engine["running"]),
            waiting=int(engine["waiting"]),
            used_blocks=int(engine["usable_blocks"] - engine["free"]),
        )

    def _scheduled(self) -> dict[int, int]:
        world, engine = self.world, self.world.engine[0]
        step = int(engine["sent"]) - 1
        parts = world.parts[step & int(engine["ring"])][: engine["scheduled"]]
        since = world.requests["rests_from"]
        resting = np.flatnonzero((since != NOBODY) & (since <= step))
        tokens = {int(part["rank"]): int(part["tokens"]) for part in parts}
        return tokens | {int(rank): 1 for rank in resting}

    def _finished(self) -> tuple[int, ...]:
        status = self.world.requests["status"]
        ended = np.flatnonzero((status == FINISHED) & ~self._over)
        self._over |= (status == FINISHED) | (status == ABORTED)
        return tuple(int(rank) for rank in ended)
