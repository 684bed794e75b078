"""The compiled simulator's way in."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from vramledger.errors import CannotKnow
from vramledger.simulate.fast.compiled import note_compiled, say_if_compiling
from vramledger.simulate.fast.load import Load, refuse_nonsense
from vramledger.simulate.fast.records import (
    INCOMPLETE,
    OPEN,
    UNSET,
    FastOutcome,
    new_records,
)
from vramledger.simulate.fast.refusals import not_counted
from vramledger.simulate.sentences import never_starts, outgrows
from vramledger.simulate.settings import Settings
from vramledger.simulate.step_cost import StepCost

if TYPE_CHECKING:
    from vramledger.simulate.fast.counting.world import World
    from vramledger.simulate.fast.load import Rows

_ROWS = 1 << 14  # steps kept before they are handed out
Sink = Callable[["Rows"], None]


def simulate_fast(
    settings: Settings, load: Load, cost: StepCost, *, sink: Sink | None = None
) -> FastOutcome:
    """Run requests through one engine, with the same results as `loop.simulate` and vLLM's policy.

    Args:
        settings: the scheduler's arguments.
        load: the requests.
        cost: what a step costs.
        sink: is given the rows of steps as they come, in a buffer that is used again; without one
            they are all kept.

    Raises:
        BadInput: for requests that mean nothing, or costs that 64 bits do not hold.
        CannotKnow: for what `refusals` names.
    """
    refuse_nonsense(load)
    cost.refuse_overflow(settings)
    reason = not_counted(settings, load)
    if reason:
        raise CannotKnow(
            f"The compiled simulator does not have {reason} yet; simulate with the plain loop."
        )
    return _count(settings, load, cost, sink)


def _count(settings: Settings, load: Load, cost: StepCost, sink: Sink | None) -> FastOutcome:
    from vramledger.simulate.fast.counting.run import advance
    from vramledger.simulate.fast.counting.world import new_world

    world = new_world(settings, load, cost, new_records(len(load.asked)), _ROWS)
    say_if_compiling("counting")
    kept: list[Rows] = []
    take = sink or (lambda rows: kept.append(rows.copy()))
    over = False
    while not over:
        over = advance(world)
        take(world.rows[: world.engine["rows"][0]])
        world.engine["rows"] = 0
    note_compiled("counting")
    _close(world)
    return FastOutcome(
        world.records,
        np.concatenate(kept) if kept else world.rows[:0],
        int(world.engine["sent"][0]),
        int(world.engine["now"][0]),
        _why_stuck(world),
    )


def _close(world: "World") -> None:
    """Requests that never got their blocks are incomplete, with what they were given."""
    for slot in world.stack[: world.engine["stacked"][0]]:
        one = world.slots[slot]
        world.records["output_tokens"][one["rank"]] = one["given"]
    world.records["ending"][world.records["ending"] == OPEN] = INCOMPLETE


def _why_stuck(world: "World") -> str:
    state = world.engine[0]
    if not state["stuck"]:
        return ""
    usable = int(state["usable_blocks"])
    if state["outgrown"] != UNSET:
        return outgrows(int(state["outgrown"]), usable)
    rank = _head(world)
    asked = int(world.asked["input_tokens"][rank])
    tokens = asked + int(world.records["output_tokens"][rank])
    need = -(-tokens // int(state["block_size"])) * int(state["groups"])
    return never_starts(rank, tokens, need, usable)


def _head(world: "World") -> int:
    state = world.engine[0]
    if state["stacked"]:
        return int(world.slots["rank"][world.stack[state["stacked"] - 1]])
    waiting = world.records["ending"][state["head"] :] == INCOMPLETE
    return int(state["head"] + np.argmax(waiting))
