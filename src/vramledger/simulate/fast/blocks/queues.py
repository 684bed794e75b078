"""The requests that wait: a list by arrival, or a heap by priority; and a heap of clients that leave."""

from typing import TYPE_CHECKING

from vramledger.simulate.fast.blocks.rows import NOBODY, PREEMPTED, WAITING
from vramledger.simulate.fast.blocks.world import World
from vramledger.simulate.fast.compiled import compiled

if TYPE_CHECKING:
    from vramledger.simulate.fast.load import Rows


@compiled
def _less(heap: "Rows", one: int, other: int) -> bool:
    if heap[one].key != heap[other].key:
        return bool(heap[one].key < heap[other].key)
    return bool(heap[one].rank < heap[other].rank)


@compiled
def _swap(heap: "Rows", one: int, other: int) -> None:
    key, rank = heap[one].key, heap[one].rank
    heap[one].key, heap[one].rank = heap[other].key, heap[other].rank
    heap[other].key, heap[other].rank = key, rank


@compiled
def push(heap: "Rows", size: int, key: int, rank: int) -> None:
    """Add an entry to a heap of `size` entries."""
    heap[size].key, heap[size].rank = key, rank
    place = size
    while place > 0 and _less(heap, place, (place - 1) // 2):
        _swap(heap, place, (place - 1) // 2)
        place = (place - 1) // 2


@compiled
def drop_least(heap: "Rows", size: int) -> None:
    """Take the least entry out of a heap of `size` entries."""
    last = size - 1
    _swap(heap, 0, last)
    place = 0
    while True:
        least = place
        for child in range(2 * place + 1, min(2 * place + 3, last)):
            if _less(heap, child, least):
                least = child
        if least == place:
            return
        _swap(heap, place, least)
        place = least


@compiled
def add_waiting(world: World, rank: int) -> None:
    """A request that arrives: at the end, or where its priority puts it."""
    engine, requests = world.engine[0], world.requests
    engine.waiting += 1
    if engine.by_priority:
        _push_waiting(world, rank)
        return
    requests[rank].before, requests[rank].after = engine.last_waiting, NOBODY
    if engine.last_waiting == NOBODY:
        engine.first_waiting = rank
    else:
        requests[engine.last_waiting].after = rank
    engine.last_waiting = rank


@compiled
def put_in_front(world: World, rank: int) -> None:
    """A request that was served before: before all others, or where its priority puts it."""
    engine, requests = world.engine[0], world.requests
    engine.waiting += 1
    if engine.by_priority:
        _push_waiting(world, rank)
        return
    requests[rank].before, requests[rank].after = NOBODY, engine.first_waiting
    if engine.first_waiting == NOBODY:
        engine.last_waiting = rank
    else:
        requests[engine.first_waiting].before = rank
    engine.first_waiting = rank


@compiled
def _push_waiting(world: World, rank: int) -> None:
    engine = world.engine[0]
    push(world.waiting, engine.heaped, world.asked[rank].priority, rank)
    engine.heaped += 1


@compiled
def head_waiting(world: World) -> int:
    """Whose turn it is; somebody must wait. Entries of a heap whose requests are over go now."""
    engine = world.engine[0]
    if not engine.by_priority:
        return int(engine.first_waiting)
    while True:
        rank = int(world.waiting[0].rank)
        status = world.requests[rank].status
        if status in (WAITING, PREEMPTED):
            return rank
        drop_least(world.waiting, engine.heaped)
        engine.heaped -= 1


@compiled
def remove_waiting(world: World, rank: int) -> None:
    """Take a request out, wherever it stands; a heap's entry goes when it is the head."""
    engine, requests = world.engine[0], world.requests
    engine.waiting -= 1
    if engine.by_priority:
        if world.waiting[0].rank == rank:
            drop_least(world.waiting, engine.heaped)
            engine.heaped -= 1
        return
    before, after = requests[rank].before, requests[rank].after
    if before == NOBODY:
        engine.first_waiting = after
    else:
        requests[before].after = after
    if after == NOBODY:
        engine.last_waiting = before
    else:
        requests[after].before = before
