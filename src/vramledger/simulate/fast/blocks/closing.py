"""What is left when a run is over: requests that never got their blocks."""

import numpy as np

from vramledger.simulate.fast.blocks.queues import head_waiting
from vramledger.simulate.fast.blocks.world import World
from vramledger.simulate.fast.records import OPEN, UNSET
from vramledger.simulate.sentences import never_starts, outgrows


def close(world: World) -> None:
    """Write down what open requests were given before nobody could go on."""
    engine, records = world.engine[0], world.records
    unfinished = records["ending"] == OPEN
    records["output_tokens"][unfinished] = world.requests["generated"][unfinished]
    for rank in world.running[: engine["running"]]:
        request = world.requests[rank]
        table = world.tables[request["table"]][:, : request["held"]]
        records["block_ns"][rank] += np.count_nonzero(table) * engine["busy"]


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
    required = -(-min(tokens, int(engine["max_model_len"])) // int(engine["block_size"]))
    size, computed = int(engine["block_size"]), int(request["computed"])
    skipped = np.where(world.windows > 0, computed - world.windows + 1, 0).clip(min=0) // size
    need = int((required - np.maximum(skipped, request["held"])).clip(min=0).sum())
    return never_starts(rank, tokens, need, usable)
