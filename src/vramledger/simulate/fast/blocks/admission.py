"""The second half of a step: the waiting requests, strictly in their order."""

from vramledger.simulate.fast.blocks.chunks import align_chunk
from vramledger.simulate.fast.blocks.queues import head_waiting, put_in_front, remove_waiting
from vramledger.simulate.fast.blocks.rows import NOBODY, RUNNING
from vramledger.simulate.fast.blocks.running import add_part, is_open, known, most, places
from vramledger.simulate.fast.blocks.tables import adopt, fits, look_up, name_complete, take_places
from vramledger.simulate.fast.blocks.world import World
from vramledger.simulate.fast.compiled import compiled, compiled_apart


@compiled
def admit_waiting(world: World) -> None:
    """Start waiting requests while budget, sequences and blocks last."""
    engine = world.engine[0]
    passed_over = 0
    while is_open(world) and engine.waiting > 0 and engine.running < engine.max_num_seqs:
        rank = head_waiting(world)
        if world.requests[rank].stale > 0:
            remove_waiting(world, rank)
            world.passed_over[passed_over] = rank
            passed_over += 1
        elif not _start(world, rank):
            break
    for index in range(passed_over - 1, -1, -1):
        put_in_front(world, world.passed_over[index])


@compiled_apart
def _start(world: World, rank: int) -> bool:
    engine, request = world.engine[0], world.requests[rank]
    found = look_up(world, rank)
    request.branch = engine.branch
    hit = found * int(engine.block_size)
    tokens = known(world, rank) - hit
    drafts = 0
    if _pads_decode(world, tokens, hit):
        drafts = int(engine.drafts)
        tokens = 1 + drafts
        if tokens > most(world):
            return False
    tokens = _first_chunk(world, tokens)
    if engine.aligned:
        tokens = align_chunk(world, rank, hit, tokens)
    if tokens == 0:
        return False
    if engine.aligned and drafts > 0 and tokens != 1 + drafts:
        tokens, drafts = 1, 0
    spare = int(engine.watermark) if engine.running > 0 else 0
    if engine.whole_prompt:
        whole = min(known(world, rank), int(engine.max_model_len))
        if not fits(world, rank, whole, whole, found, spare, True):
            return False
    slots = places(world, rank, hit + tokens)
    if not fits(world, rank, slots, hit + tokens, found, spare, False):
        return False
    remove_waiting(world, rank)
    adopt(world, rank, found)
    take_places(world, rank, slots, hit + tokens)
    name_complete(world, rank, min(hit + tokens, known(world, rank)))
    world.running[engine.running], world.due[engine.running] = rank, NOBODY
    engine.running += 1
    request.status = RUNNING
    request.computed = hit
    admitted = world.admitted[engine.admitted]
    admitted.rank, admitted.tokens = rank, hit
    engine.admitted += 1
    add_part(world, rank, int(engine.running) - 1, tokens, drafts)
    return True


@compiled
def _first_chunk(world: World, tokens: int) -> int:
    """What a request computes first, or 0 when it must wait for a larger budget."""
    engine = world.engine[0]
    if 0 < engine.cap < tokens:
        tokens = int(engine.cap)
    if not engine.chunked and tokens > most(world):
        return 0
    return min(tokens, most(world))


@compiled
def _pads_decode(world: World, tokens: int, computed: int) -> bool:
    """Whether a single last token is padded with drafts, so that all decodes of the step are alike."""
    engine = world.engine[0]
    return bool(
        engine.drafts > 0
        and tokens == 1
        and not engine.prefill
        and (engine.served_running or computed > 0)
        and computed + 1 + engine.drafts + 1 <= engine.max_model_len
    )
