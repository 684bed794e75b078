"""Requests whose prompts were computed elsewhere: their cache is fetched before they run.

After the asynchronous loads of ``Scheduler.schedule`` of vLLM 0.32.0 and its NIXL connector
(``vllm/distributed/kv_transfer/kv_connector/v1/nixl_connector.py``): blocks for the whole prompt are held from the moment
the cache is sent for, less those found in the own prefix cache; when it has come, the last prompt token is computed again.
"""

from vramledger.simulate.request import Request, Status
from vramledger.simulate.state import State
from vramledger.simulate.step import Budget, Step


def begin_fetch(state: State, request: Request, step: Step, *, opened: bool) -> bool:
    """Send for the cache of the request at the head of the queue; False when its blocks are not free."""
    cache = state.cache
    hit = cache.look_up(request)
    if not state.policy.admit(request, hit, cache, state.running, opened=opened):
        return False
    spare = state.settings.watermark_blocks if state.running else 0
    missing = request.prompt - hit.tokens
    if not cache.allocate(request, missing, request.prompt, hit, spare, named=False):
        return False
    state.waiting.pop()
    request.fetches = False
    request.status = Status.FETCHING
    request.computed = hit.tokens
    state.fetching[request.rank] = request
    step.fetching[request] = cache.holding(request) - sum(map(len, hit.blocks))
    return True


def start_fetched(state: State, step: Step, budget: Budget) -> bool:
    """Start the first whose cache has come, with its last prompt token; False when a block is missing."""
    request = state.fetched[0]
    slots = state.policy.grow(request, request.computed + 1)
    spare = state.settings.watermark_blocks if state.running else 0
    if not state.cache.allocate(request, 1, slots, None, spare):
        return False
    state.fetched.popleft()
    state.running.append(request)
    request.status = Status.RUNNING
    step.hit_tokens[request.rank] = request.computed
    step.scheduled[request] = 1
    request.drafts = 0
    budget.spend(1)
    return True
