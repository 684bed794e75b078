"""The second half of a step: the waiting requests, strictly in their order.

After the second loop of ``Scheduler.schedule`` of vLLM 0.32.0. The first that cannot start holds back all
behind it, and nobody is preempted for one that waits.
"""

from vramledger.frozen import frozen
from vramledger.simulate.cache.lookup import Hit
from vramledger.simulate.chunks import align_chunk
from vramledger.simulate.fetching import begin_fetch, start_fetched
from vramledger.simulate.request import Request, Status
from vramledger.simulate.state import State
from vramledger.simulate.step import Budget, Step


@frozen
class Chunk:
    """The first tokens of a request that may start; `drafts` of them pad a decode."""

    tokens: int
    drafts: int


def admit_waiting(state: State, step: Step, budget: Budget, cap: int) -> None:
    """Start waiting requests while budget, sequences and blocks last."""
    passed_over: list[Request] = []
    opened = not state.running
    while budget.is_open and len(state.running) < state.settings.max_num_seqs:
        if state.fetched:
            if not start_fetched(state, step, budget):
                break
            continue
        if not state.waiting:
            break
        request = state.waiting.head()
        if request.stale:  # its tokens are still in flight; started now, it would repeat them
            passed_over.append(state.waiting.pop())
            continue
        if request.fetches:
            if not begin_fetch(state, request, step, opened=opened):
                break
            continue
        if not _start(state, request, step, budget, cap, opened=opened):
            break
    state.waiting.put_back(passed_over)


def _start(
    state: State, request: Request, step: Step, budget: Budget, cap: int, *, opened: bool
) -> bool:
    hit = state.cache.look_up(request)
    request.branch = hit.branch
    chunk = _first_chunk(state, request, hit, step, budget, cap)
    if chunk is None:
        return False
    if not state.policy.admit(request, hit, state.cache, state.running, opened=opened):
        return False
    slots = state.policy.grow(request, hit.tokens + chunk.tokens)
    spare = state.settings.watermark_blocks if state.running else 0
    if not state.cache.allocate(request, chunk.tokens, slots, hit, spare):
        return False
    state.waiting.pop()
    state.running.append(request)
    request.status = Status.RUNNING
    request.computed = hit.tokens
    step.hit_tokens[request.rank] = hit.tokens
    step.scheduled[request] = chunk.tokens
    if chunk.drafts:
        step.drafts[request] = chunk.drafts
    budget.spend(chunk.tokens)
    return True


def _first_chunk(
    state: State, request: Request, hit: Hit, step: Step, budget: Budget, cap: int
) -> Chunk | None:
    """What a request would compute first, or None when it must wait for a larger budget."""
    settings = state.settings
    tokens, drafts = request.tokens - hit.tokens, 0
    if _pads_decode(state, step, tokens, hit.tokens):
        if 1 + settings.drafts > budget.most:
            return None
        tokens, drafts = 1 + settings.drafts, settings.drafts
    if 0 < cap < tokens:
        tokens = cap
    if not settings.chunked_prefill and tokens > budget.most:
        return None
    tokens = min(tokens, budget.most)
    if state.aligns_states:
        tokens = align_chunk(settings, request, hit.tokens, tokens)
        if drafts and tokens != 1 + settings.drafts:
            return Chunk(1, 0) if tokens else None
    return Chunk(tokens, drafts) if tokens else None


def _pads_decode(state: State, step: Step, tokens: int, computed: int) -> bool:
    """Whether a single last token is padded with drafts, so that all decodes of the step are alike."""
    drafts = state.settings.drafts
    return (
        drafts > 0
        and tokens == 1
        and not step.prefill
        and (step.served_running or computed > 0)
        and computed + 1 + drafts + 1 <= state.settings.max_model_len
    )
