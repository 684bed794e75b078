"""A step that the device has finished: its tokens come, requests end."""

import numpy as np

from vramledger.simulate.fast.blocks.queues import remove_waiting
from vramledger.simulate.fast.blocks.rows import ABORTED, FINISHED, NOBODY, RUNNING
from vramledger.simulate.fast.blocks.running import abandon, known
from vramledger.simulate.fast.blocks.tables import name_complete, release
from vramledger.simulate.fast.blocks.world import World
from vramledger.simulate.fast.compiled import compiled, compiled_apart
from vramledger.simulate.fast.pausing import note_event
from vramledger.simulate.fast.records import INCOMPLETE, OK, UNSET
from vramledger.simulate.settings import ACCEPTANCE_SCALE

_ADD = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_30, _27, _31 = np.uint64(30), np.uint64(27), np.uint64(31)
_SCALE = np.uint64(ACCEPTANCE_SCALE)


@compiled
def settle(world: World) -> None:
    """Take in the tokens of the oldest step in flight, at a time that has come."""
    engine = world.engine[0]
    place = engine.settled & engine.ring
    flight, parts = world.flights[place], world.parts[place]
    engine.came_before = engine.settled_step
    for index in range(flight.parts):
        part = parts[index]
        request = world.requests[part.rank]
        request.in_flight -= part.tokens
        stale = request.stale > 0
        if stale:
            request.stale -= part.tokens
        if request.status in (FINISHED, ABORTED) or part.sampled == 0:
            continue
        _deliver(world, part.rank, part.drafts, stale)
        _note_token(world, part.rank, flight.step)
    if not engine.asynchronous and engine.drafts > 0:
        for index in range(flight.parts):
            request = world.requests[parts[index].rank]
            request.drafts = 0 if request.prefilling else engine.drafts
    engine.events += flight.resting
    engine.settled_ns, engine.settled_step = engine.now, flight.step
    engine.settled += 1
    engine.returned += 1


@compiled
def _note_token(world: World, rank: int, step: int) -> None:
    engine, record = world.engine[0], world.records[rank]
    engine.events += 1
    if record.first_token_ns == UNSET:
        record.first_token_ns, record.first_token_step = engine.now, step
    else:
        note_event(world.pauses, engine, rank, record.last_token_step, step)
    record.last_token_ns, record.last_token_step = engine.now, step


@compiled
def _deliver(world: World, rank: int, drafts: int, stale: bool) -> None:  # noqa: FBT001 - compiled
    """The sampled token and the accepted drafts before it."""
    engine, request = world.engine[0], world.requests[rank]
    accepted = 0
    if drafts > 0:
        accepted = accepted_drafts(engine.seed, rank, request.generated, drafts, engine.acceptance)
        if not stale:
            request.computed -= drafts - accepted if request.computed > 0 else 0
            request.placeholders -= drafts - accepted if request.placeholders > 0 else 0
    room = min(request.asked - request.generated, engine.max_model_len - known(world, rank))
    left = max(1, room)
    delivered = min(accepted + 1, left)
    request.generated += delivered
    if request.status != RUNNING:
        engine.sought = NOBODY  # a later look-up may find more
    if engine.asynchronous:
        if not stale:
            request.placeholders -= delivered
        if request.status == RUNNING:
            name_complete(world, rank, int(request.computed) - request.placeholders)
    if delivered == left:
        _finish(world, rank)


@compiled_apart
def _finish(world: World, rank: int) -> None:
    request = world.requests[rank]
    waited = request.status != RUNNING
    request.status = FINISHED
    world.engine[0].ended += 1
    world.engine[0].prompts -= request.prompt
    if waited:
        remove_waiting(world, rank)
    else:
        abandon(world, rank)
    release(world, rank)
    whole = request.generated >= request.asked
    world.records[rank].ending = OK if whole else INCOMPLETE
    world.records[rank].output_tokens = request.generated


@compiled
def accepted_drafts(seed: int, rank: int, position: int, drafts: int, acceptance: int) -> int:
    """As `acceptance.accepted_drafts`, in 64 bits."""
    own = _mixed(_mixed(np.uint64(seed)) ^ np.uint64(rank))
    for draft in range(drafts):
        drawn = _mixed(own ^ np.uint64(position + draft))
        if drawn % _SCALE >= np.uint64(acceptance):
            return draft
    return drafts


@compiled
def _mixed(state: np.uint64) -> np.uint64:
    state = np.uint64(state + _ADD)
    state = np.uint64((state ^ (state >> _30)) * _FIRST)
    state = np.uint64((state ^ (state >> _27)) * _SECOND)
    return np.uint64(state ^ (state >> _31))
