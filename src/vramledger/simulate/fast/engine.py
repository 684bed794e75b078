"""A compiled engine that requests are sent to while it is under way, as `engine_loop.EngineLoop` is the plain one."""

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from vramledger.simulate.fast.advancing import SITTING, TURN
from vramledger.simulate.fast.compiled import note_compiled, say_if_compiling
from vramledger.simulate.fast.kernels import Kernel, kernel_for
from vramledger.simulate.fast.load import ASKED, Load
from vramledger.simulate.fast.records import INCOMPLETE, OPEN, RECORD, FastOutcome, new_records
from vramledger.simulate.fast.refusals import refuse_not_followed
from vramledger.simulate.fast.sharing import without_lone_tails
from vramledger.simulate.settings import Settings
from vramledger.simulate.step_cost import StepCost
from vramledger.simulate.view import FOREVER, Kind, Moment, View

if TYPE_CHECKING:
    from vramledger.simulate.fast.load import Rows

_ROWS: Final = 1 << 12  # steps kept before they are put aside


class FastEngine:
    """One engine at work; `stops` is whether `advance` halts as soon as a request is over.

    `load` holds every request that may be sent to it, in any order.

    Raises:
        BadInput: costs that 64 bits do not hold.
        CannotKnow: for what `refusals` names.
    """

    def __init__(
        self,
        settings: Settings,
        load: Load,
        cost: StepCost,
        *,
        seed: int = 0,
        stops: bool = False,
        every_block: bool = False,
    ) -> None:
        cost.refuse_overflow(settings)
        refuse_not_followed(settings)
        self._load = without_lone_tails(load)
        self._kernel: Kernel = kernel_for(settings, load, every_block=every_block)
        records = np.zeros(len(load.asked), RECORD)
        world = self._kernel.new_world(settings, load, cost, records, _ROWS, seed)
        self._world: Any = world._replace(asked=np.zeros(len(load.asked), ASKED))
        self._state: Any = world.engine[0]
        self._state["total"], self._state["more"], self._state["stops"] = 0, True, stops
        self._steps: list[Rows] = []
        self._pauses: list[Rows] = []

    def send(self, place: int, arrival_ns: int, cancel_after_ns: int) -> None:
        """The request in a row of the load, which arrives then: not before the one sent last."""
        rank = int(self._state["total"])
        self._world.asked[rank] = self._load.asked[place]
        self._world.asked["arrival_ns"][rank] = arrival_ns
        self._world.asked["cancel_after_ns"][rank] = cancel_after_ns
        self._world.records[rank] = _BLANK
        self._kernel.open_request(self._world, rank)
        self._state["total"] = rank + 1

    def advance(self, until: int = FOREVER) -> None:
        """Let everything happen up to a time: steps that end then too, but no turn that begins then."""
        self._state["until"] = until
        ended = int(self._state["ended"])
        say_if_compiling(self._kernel.name)
        halted = False
        while not halted:
            halted = self._kernel.advance(self._world)
            if not halted:
                self._put_rows_aside()
                halted = bool(self._state["stops"]) and int(self._state["ended"]) > ended
        note_compiled(self._kernel.name)

    def _put_rows_aside(self) -> None:
        self._steps.append(self._world.rows[: self._state["rows"]].copy())
        self._pauses.append(self._world.pauses[: self._state["pauses"]].copy())
        self._state["rows"] = self._state["pauses"] = 0

    def finish(self) -> FastOutcome:
        """Nobody else comes: everything that can still happen, and what became of it all."""
        self._state["more"] = self._state["stops"] = False
        self.advance()
        self._put_rows_aside()
        total, world = int(self._state["total"]), self._world
        self._kernel.close(world)
        stuck = self._kernel.why_stuck(world)
        records = world.records[:total]
        records["ending"][records["ending"] == OPEN] = INCOMPLETE
        steps = np.concatenate(self._steps)
        pauses = np.concatenate(self._pauses)
        sent, now = int(self._state["sent"]), int(self._state["now"])
        return FastOutcome(records, steps, sent, now, stuck, pauses)

    @property
    def ended(self) -> int:
        """Requests that are over."""
        return int(self._state["ended"])

    @property
    def now(self) -> int:
        """Its clock."""
        return int(self._state["now"])

    def view(self) -> View:
        """The load as it is now."""
        state = self._state
        return View(
            waiting=int(state["waiting"]),
            running=int(state["running"]),
            sent=int(state["total"]) - int(state["coming"]),
            prompt_tokens=int(state["prompts"]),
            free_blocks=int(state["free"]),
        )

    @property
    def next_moment(self) -> Moment | None:
        """When it does something next, None when that depends on what is sent to it."""
        state, now = self._state, int(self._state["now"])
        flies = int(state["sent"]) > int(state["settled"])
        if state["phase"] == TURN:
            idle = not flies and not state["waiting"] and not state["running"]
            when = self._arrives() if idle else now
            return None if when is None else Moment(max(now, when), Kind.TURN)
        if flies:
            ends = int(
                self._world.flights["end_ns"][int(state["settled"]) % len(self._world.flights)]
            )
            return Moment(max(now, ends), Kind.END)
        sat_out = state["phase"] == SITTING and state["events"] > state["events_then"]
        when = now if sat_out else self._others_come()
        return None if when is None else Moment(max(now, when), Kind.END)

    def _arrives(self) -> int | None:
        coming = int(self._state["coming"])
        known = coming < int(self._state["total"])
        return int(self._world.asked["arrival_ns"][coming]) if known else None

    def _others_come(self) -> int | None:
        events = (self._arrives(), self._kernel.leaves(self._world))
        return min((when for when in events if when is not None), default=None)


_BLANK: Final = new_records(1)[0]
