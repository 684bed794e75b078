"""The two compiled engines behind one form, each imported when it is needed."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from vramledger.frozen import frozen
from vramledger.simulate.fast.load import Load
from vramledger.simulate.fast.refusals import not_counted
from vramledger.simulate.settings import Settings
from vramledger.simulate.step_cost import StepCost

if TYPE_CHECKING:
    from vramledger.simulate.fast.load import Rows


@frozen
class Kernel:
    """A compiled engine: how its world is made, advanced and closed."""

    name: str
    new_world: Callable[[Settings, Load, StepCost, "Rows", int, int], Any]
    advance: Callable[[Any], bool]
    close: Callable[[Any], None]
    why_stuck: Callable[[Any], str]
    open_request: Callable[[Any, int], None]  # the next rank's row of `asked` is there
    leaves: Callable[[Any], int | None]  # when the next client goes away


def kernel_for(settings: Settings, load: Load, *, every_block: bool = False) -> Kernel:
    """The faster of those that can do it."""
    if every_block or not_counted(settings, load):
        return following()
    return counting()


def counting() -> Kernel:
    """A whole engine by counts."""
    from vramledger.simulate.fast.counting.closing import close, why_stuck
    from vramledger.simulate.fast.counting.run import advance
    from vramledger.simulate.fast.counting.world import new_world

    def make(
        settings: Settings, load: Load, cost: StepCost, records: "Rows", rows: int, _seed: int
    ) -> Any:
        return new_world(settings, load, cost, records, rows)

    return Kernel(
        name="counting",
        new_world=make,
        advance=advance,
        close=close,
        why_stuck=why_stuck,
        open_request=lambda _world, _rank: None,
        leaves=lambda _world: None,
    )


def following() -> Kernel:
    """A whole engine block by block."""
    from vramledger.simulate.fast.blocks.closing import close, why_stuck
    from vramledger.simulate.fast.blocks.run import advance
    from vramledger.simulate.fast.blocks.world import new_world, open_request

    return Kernel(
        name="blocks",
        new_world=new_world,
        advance=advance,
        close=close,
        why_stuck=why_stuck,
        open_request=open_request,
        leaves=_leaves,
    )


def _leaves(world: Any) -> int | None:
    return int(world.leaving["key"][0]) if world.engine["leaving"][0] else None
