"""What is left when a run is over: requests that never got their blocks."""

from vramledger.simulate.fast.counting.world import World
from vramledger.simulate.fast.records import OPEN, UNSET
from vramledger.simulate.sentences import never_starts, outgrows


def close(world: World) -> None:
    """Write down what preempted requests were given before nobody could go on."""
    for slot in world.stack[: world.engine["stacked"][0]]:
        one = world.slots[slot]
        world.records["output_tokens"][one["rank"]] = one["given"]


def why_stuck(world: World) -> str:
    """A sentence when requests are left that could never start, else an empty text."""
    engine = world.engine[0]
    if not engine["stuck"]:
        return ""
    usable = int(engine["usable_blocks"])
    if engine["outgrown"] != UNSET and world.records["ending"][engine["outgrown"]] == OPEN:
        return outgrows(int(engine["outgrown"]), usable)
    rank = _head(world)
    given = int(world.records["output_tokens"][rank])
    tokens = int(world.asked["input_tokens"][rank]) + given
    need = -(-tokens // int(engine["block_size"])) * int(engine["groups"])
    return never_starts(rank, tokens, need, usable)


def _head(world: World) -> int:
    engine = world.engine[0]
    if engine["stacked"]:
        return int(world.slots["rank"][world.stack[engine["stacked"] - 1]])
    head = int(engine["head"])
    while world.records["ending"][head] != OPEN:
        head += 1
    return head
