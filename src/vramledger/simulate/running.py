"""The first half of a step: tokens and blocks for the requests that run.

After the first loop of ``Scheduler.schedule`` of vLLM 0.32.0.
"""

from enum import Enum, auto

from vramledger.frozen import frozen
from vramledger.simulate.chunks import align_chunk
from vramledger.simulate.request import Request
from vramledger.simulate.state import State
from vramledger.simulate.step import Budget, Step


class Room(Enum):
    """How the search for blocks ended."""

    FOUND = auto()
    NONE = auto()  # nobody can be preempted
    LOST = auto()  # the request itself was preempted


def serve_running(state: State, step: Step, budget: Budget, cap: int) -> None:
    """Schedule running requests in the order of admission; those without blocks preempt others."""
    index = 0
    while index < len(state.running) and budget.is_open:
        request = state.running[index]
        tokens = _tokens_wanted(state, request, budget, cap)
        if tokens <= 0:
            index += 1
            continue
        slots = state.policy.grow(request, request.computed + tokens)
        if not state.cache.allocate(request, tokens, slots):
            made = _make_room(state, request, tokens, slots, step, budget)
            index -= made.removed_before
            if made.room is Room.NONE:
                break
            if made.room is Room.LOST:
                if state.settings.rules.own_preemption_ends_running or not state.by_priority:
                    break
                continue
        step.scheduled[request] = tokens
        drafts = request.computed + tokens - request.tokens - request.placeholders
        if request.drafts and drafts > 0:
            step.drafts[request] = min(drafts, request.drafts)
        request.drafts = 0
        step.prefill |= request.prefilling
        step.served_running = True
        budget.spend(tokens)
        index += 1


def _tokens_wanted(state: State, request: Request, budget: Budget, cap: int) -> int:
    """Tokens that a running request gets, before blocks are looked for; 0 to pass it over.

    A request whose last token is in flight is passed over.
    """
    settings = state.settings
    sure = request.computed + 2 - request.placeholders
    if request.placeholders > 0 and sure >= request.prompt + request.arrival.output_tokens:
        return 0
    tokens = request.tokens + request.drafts + request.placeholders - request.computed
    if 0 < cap < tokens:
        tokens = cap
    tokens = min(tokens, budget.most, settings.max_model_len - request.computed - 1)
    if state.aligns_states:
        tokens = align_chunk(settings, request, request.computed, tokens)
    return tokens


@frozen
class Made:
    """What came of preempting: `removed_before` victims stood before the request that asked."""

    room: Room
    removed_before: int


def _make_room(
    state: State, request: Request, tokens: int, slots: int, step: Step, budget: Budget
) -> Made:
    """Blocks for a running request, taken from others since none are free."""
    removed = 0
    while True:
        victim = state.policy.evict(state.running, request)
        if victim is None:
            return Made(Room.NONE, removed)
        removed += state.running.index(victim) < state.running.index(request)
        if victim in step.scheduled:
            budget.restore(step.scheduled.pop(victim))
            step.drafts.pop(victim, None)
        state.preempt(victim, step)
        if victim is request:
            if not state.running:
                step.outgrew = request
            return Made(Room.LOST, removed)
        if state.cache.allocate(request, tokens, slots):
            return Made(Room.FOUND, removed)
