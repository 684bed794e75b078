"""What the routing needs of an engine, and both simulators as such."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

import numpy as np

from vramledger.errors import CannotKnow
from vramledger.simulate.columns import columns_of
from vramledger.simulate.engine_loop import EngineLoop
from vramledger.simulate.fast.engine import FastEngine
from vramledger.simulate.fast.load import NEVER, Load
from vramledger.simulate.fast.records import FastOutcome
from vramledger.simulate.request import Arrival
from vramledger.simulate.scheduler import Scheduler
from vramledger.simulate.settings import Settings
from vramledger.simulate.step_cost import StepCost
from vramledger.simulate.view import FOREVER, Moment, View

if TYPE_CHECKING:
    from vramledger.simulate.fast.load import Rows

_Loop = TypeVar("_Loop", bound=EngineLoop)


class Engine(Protocol):
    """An engine that requests are sent to while it is under way."""

    @property
    def now(self) -> int:
        """Its clock, in nanoseconds."""

    @property
    def ended(self) -> int:
        """Requests that are over."""

    @property
    def next_moment(self) -> Moment | None:
        """When it does something next, None when that depends on what is sent to it."""

    def send(self, place: int, arrival_ns: int, cancel_after_ns: int) -> None:
        """The request in a row of the load, which arrives then: not before the one sent last."""

    def advance(self, until: int = FOREVER) -> None:
        """Let everything happen up to a time: steps that end then too, but no turn that begins then."""

    def view(self) -> View:
        """The load as it is now."""

    def finish(self) -> FastOutcome:
        """Nobody else comes: everything that can still happen, and what became of it all."""


class LoopEngine(Generic[_Loop]):
    """A plain loop with the requests of a load; what is sent to it is left to its kinds."""

    def __init__(self, loop: _Loop, load: Load) -> None:
        self._loop = loop
        self._load = load

    @property
    def now(self) -> int:
        """Its clock."""
        return self._loop.now

    @property
    def ended(self) -> int:
        """Requests that are over."""
        return self._loop.ended

    @property
    def next_moment(self) -> Moment | None:
        """When it does something next."""
        return self._loop.next_moment

    def advance(self, until: int = FOREVER) -> None:
        """Up to a time."""
        self._loop.advance(until)

    def view(self) -> View:
        """The load as it is now."""
        return self._loop.view()

    def finish(self) -> FastOutcome:
        """Everything that can still happen."""
        return columns_of(self._loop.finish())

    def _asked(self, place: int, arrival_ns: int, cancel_after_ns: int) -> Arrival:
        """The request in a row of the load."""
        return arrival_of(self._load.asked[place], self._load, arrival_ns, cancel_after_ns)


class PlainEngine(LoopEngine[EngineLoop]):
    """The plain loop as such an engine."""

    def __init__(
        self, settings: Settings, load: Load, cost: StepCost, *, seed: int = 0, stops: bool = False
    ) -> None:
        cost.refuse_overflow(settings)
        super().__init__(EngineLoop(Scheduler(settings, seed=seed), cost, stops=stops), load)

    def send(self, place: int, arrival_ns: int, cancel_after_ns: int) -> None:
        """A request of the load."""
        self._loop.send(self._asked(place, arrival_ns, cancel_after_ns))


def arrival_of(asked: "Rows", load: Load, arrival_ns: int, cancel_after_ns: int) -> Arrival:
    """A row of the load as the plain loop has it."""
    start = asked["prefix_start"]
    own = load.prefix[start : start + asked["prefix_length"]]
    names = own[:, None] * load.pieces + np.arange(load.pieces)
    return Arrival(
        arrival_ns,
        int(asked["input_tokens"]),
        int(asked["output_tokens"]),
        tuple(names.ravel().tolist()),
        salt=int(asked["salt"]),
        priority=int(asked["priority"]),
        cancel_after_ns=None if cancel_after_ns == NEVER else cancel_after_ns,
        times_out=bool(asked["times_out"]),
    )


def arrivals_of(load: Load) -> list[Arrival]:
    """All rows of the load as the plain loop has them."""
    return [
        arrival_of(asked, load, int(asked["arrival_ns"]), int(asked["cancel_after_ns"]))
        for asked in load.asked
    ]


def engines_for(
    settings: Settings, load: Load, cost: StepCost, count: int, *, seed: int, stops: bool
) -> Sequence[Engine]:
    """So many equal engines before their first request: compiled where that is possible."""
    try:
        return [FastEngine(settings, load, cost, seed=seed, stops=stops) for _ in range(count)]
    except CannotKnow:  # what the compiled simulator does not have, the plain loop has
        return [PlainEngine(settings, load, cost, seed=seed, stops=stops) for _ in range(count)]
