"""What is left when a run is over: requests that never got their blocks."""

from typing import Any

import numpy as np

from vramledger.errors import CannotKnow
from vramledger.simulate.fast.blocks.queues import head_waiting
from vramledger.simulate.fast.blocks.rows import STATEFUL, WINDOW
from vramledger.simulate.fast.blocks.states import state_need
from vramledger.simulate.fast.blocks.world import World
from vramledger.simulate.fast.records import OPEN, UNSET
from vramledger.simulate.sentences import SHORT_OF_BLOCKS, never_starts, outgrows


def close(world: World) -> None:
    """Write down what open requests were given before nobody could go on.

    Raises `CannotKnow` where the engine itself would have stopped with an error.
    """
    engine, records = world.engine[0], world.records
    if engine["broken"]:
        raise CannotKnow(SHORT_OF_BLOCKS)
    unfinished = records["ending"] == OPEN
    records["output_tokens"][unfinished] = world.requests["generated"][unfinished]
    for rank in world.running[: engine["running"]]:
        request = world.requests[rank]
        records["block_ns"][rank] += _holding(world, request) * engine["busy"]


def why_stuck(world: World) -> str:
    """A sentence when requests are left that could never start, else an empty text."""
    engine = world.engine[0]
    if not engine["stuck"]:
        return ""
    usable = int(engine["usable_blocks"])
    if engine["outgrown"] != UNSET and world.records["ending"][engine["outgrown"]] == OPEN:
        return outgrows(int(engine["outgrown"]), usable)
    rank = int(world.running[0]) if engine["running"] else head_waiting(world)
    request = world.requests[rank]
    tokens = int(request["prompt"]) + int(request["generated"])
    slots = min(tokens, int(engine["max_model_len"]))
    need = sum(_need(world, rank, group, slots) for group in range(len(world.groups)))
    return never_starts(rank, tokens, need, usable)


def _holding(world: World, request: Any) -> int:
    """Blocks that a running request holds."""
    table = int(request["table"])
    total = 0
    for group, way in enumerate(world.groups["way"]):
        held = world.states["held"][table, group] if way == STATEFUL else request["held"]
        total += int(np.count_nonzero(world.tables[table, group, :held]))
    return total


def _need(world: World, rank: int, group: int, slots: int) -> int:
    """Blocks of a group that must be free for a request's first `slots` tokens to have a place."""
    engine, request = world.engine[0], world.requests[rank]
    computed, size = int(request["computed"]), int(engine["block_size"])
    one = world.groups[group]
    if one["way"] == STATEFUL:
        return state_need(world, rank, group, computed, slots, 0, True)
    skipped = 0
    if one["way"] == WINDOW:
        skipped = max(0, computed - int(one["window"]) + 1) // size
    required = -(-slots // size)
    if engine["always_capped"]:
        required = min(required, int(one["cap"]))
    return max(required - max(skipped, int(request["held"])), 0)
