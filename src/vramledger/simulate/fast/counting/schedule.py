"""One step: tokens and blocks for those that run, then for those that wait."""

from vramledger.simulate.fast.compiled import compiled
from vramledger.simulate.fast.counting.holding import preempt_last
from vramledger.simulate.fast.counting.lists import append_running
from vramledger.simulate.fast.counting.thrashing import notice_outgrown
from vramledger.simulate.fast.counting.world import NOBODY, PREFILLING, World
from vramledger.simulate.fast.records import REJECTED


@compiled
def schedule(world: World) -> None:
    """Decide the next step; what it costs depends on the features left in the state."""
    state = world.engine[0]
    state.step = state.next_step
    state.next_step += 1
    state.admitted = state.preempted = 0
    state.prefill_tokens = state.prefill_requests = state.prefill_pairs = 0
    world.flights[state.sent & 1].sampled = 0
    _serve_decodes(world)
    if state.prefilling != NOBODY:
        _go_on_prefilling(world)
    if state.preempted > 0:
        notice_outgrown(world)
    elif state.waiting > 0:
        _admit(world)


@compiled
def _serve_decodes(world: World) -> None:
    """A token for every decode, and a block for those whose blocks are full."""
    state = world.engine[0]
    phase = world.phases[-state.sent % state.block_size]
    while phase.decodes * state.groups > state.free:
        preempt_last(world)
    state.free -= phase.decodes * state.groups
    phase.taken_ns += state.busy
    state.decode_tokens = state.decode_requests = state.decoding
    state.decode_context = state.context


@compiled
def _go_on_prefilling(world: World) -> None:
    """The next chunk of the last in the list, which gives way itself when blocks are short."""
    state = world.engine[0]
    one = world.slots[state.prefilling]
    known = one.prompt + one.given
    tokens = min(known - one.computed, state.budget - state.decoding)
    fresh = -(-(one.computed + tokens) // state.block_size) - one.blocks
    if fresh * state.groups > state.free:
        preempt_last(world)
        return
    _compute(world, state.prefilling, tokens, fresh)


@compiled
def _compute(world: World, slot: int, tokens: int, fresh: int) -> None:
    """A chunk of a prefill, with `fresh` more blocks."""
    state, one = world.engine[0], world.slots[slot]
    state.free -= fresh * state.groups
    one.blocks += fresh
    one.taken_ns += fresh * state.busy
    start = one.computed
    one.computed += tokens
    done = one.computed == one.prompt + one.given
    if done and start > 0 and tokens == 1:
        state.decode_tokens += 1
        state.decode_requests += 1
        state.decode_context += start
    else:
        state.prefill_tokens += tokens
        state.prefill_requests += 1
        state.prefill_pairs += tokens * start + tokens * (tokens + 1) // 2
    if not done:
        state.prefilling = slot
        return
    state.prefilling = NOBODY
    one.sampled_from = state.sent
    flight = world.flights[state.sent & 1]
    world.sampled[state.sent & 1, flight.sampled] = slot
    flight.sampled += 1


@compiled
def _admit(world: World) -> None:
    """Start those that wait in their order, until one has no place."""
    state = world.engine[0]
    left = state.budget - state.decode_tokens - state.prefill_tokens
    while left > 0 and state.waiting > 0 and state.running < state.max_num_seqs:
        known = _known_of_head(world)
        if known > left and not state.chunked:
            return
        tokens = min(known, left)
        spare = state.watermark if state.running > 0 else 0
        fresh = -(-tokens // state.block_size)
        must_fit = -(-known // state.block_size) if state.whole_prompt else fresh
        if must_fit * state.groups + spare > state.free:
            return
        slot = _pop_head(world)
        append_running(world, slot)
        world.slots[slot].stage = PREFILLING
        world.admitted[state.admitted] = slot
        state.admitted += 1
        _compute(world, slot, tokens, fresh)
        left -= tokens


@compiled
def _known_of_head(world: World) -> int:
    """Tokens of the first that waits: preempted ones stand in front."""
    state = world.engine[0]
    if state.stacked > 0:
        one = world.slots[world.stack[state.stacked - 1]]
        return int(one.prompt + one.given)
    while world.records[state.head].ending == REJECTED:
        state.head += 1
    return int(world.asked[state.head].input_tokens)


@compiled
def _pop_head(world: World) -> int:
    """The slot of the first that waits, a fresh one for who never ran."""
    state = world.engine[0]
    state.waiting -= 1
    if state.stacked > 0:
        state.stacked -= 1
        return int(world.stack[state.stacked])
    state.unused -= 1
    slot = int(world.unused[state.unused])
    asked, one = world.asked[state.head], world.slots[slot]
    one.rank = state.head
    one.prompt = asked.input_tokens
    one.limit = min(asked.output_tokens, state.max_model_len - one.prompt)
    one.given = one.computed = one.blocks = one.taken_ns = one.lost = 0
    one.outgrown_times = 0
    state.head += 1
    return slot
