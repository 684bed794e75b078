"""What must hold in every run; a breach is an error of the simulator, never of the input."""

from collections import Counter
from collections.abc import Iterable

from vramledger.simulate.cache.kv_cache import KvCache
from vramledger.simulate.cache.pool import NULL
from vramledger.simulate.outcome import Ending
from vramledger.simulate.request import Request, Status
from vramledger.simulate.state import State
from vramledger.simulate.step import Step


class NotConserved(AssertionError):
    """Something came from nowhere or was lost."""


def check_step(state: State, step: Step) -> None:
    """After a step is scheduled: budgets kept, blocks granted are returned or in use."""
    settings, pool = state.settings, state.cache.pool
    _must(pool.granted - pool.returned == pool.used_blocks, step, "blocks granted less returned")
    _must(len(state.running) <= settings.max_num_seqs, step, "running requests")
    budget = settings.scheduled_tokens or settings.token_budget
    _must(sum(step.scheduled.values()) <= budget, step, "scheduled tokens")
    _must(
        all(request.status is Status.RUNNING for request in step.scheduled),
        step,
        "who is scheduled",
    )


def check_blocks(cache: KvCache, requests: Iterable[Request]) -> None:
    """Every block is held as often as requests hold it, and free exactly when nobody does.

    The free queue and the names are checked too: a name leads to blocks that carry it.
    """
    holders: Counter[int] = Counter()
    for group in cache.groups:
        for held in group.held.values():
            holders.update(block for block in held if block != NULL)
    pool = cache.pool
    for block in range(1, pool.size):
        if pool.references[block] != holders[block] or (block in pool.queue) == bool(
            holders[block]
        ):
            raise NotConserved(
                f"Block {block} is held {holders[block]} times, but counted otherwise."
            )
    for name, copies in pool.by_name.items():
        if any(pool.names[block] != name for block in copies):
            raise NotConserved(f"The name {name} leads to a block with other content.")
    living = {request.rank for request in requests if not request.is_over}
    if any(rank not in living for group in cache.groups for rank in group.held):
        raise NotConserved("A request that is over still holds blocks.")


def check_requests(offered: int, endings: Iterable[Ending]) -> None:
    """Every request that was offered ended in exactly one way."""
    ended = sum(1 for _ in endings)
    if ended != offered:
        raise NotConserved(f"{offered} requests were offered, but {ended} ended.")


def _must(holds: bool, step: Step, what: str) -> None:  # noqa: FBT001 - the condition itself
    if not holds:
        raise NotConserved(f"In step {step.number} the count of {what} does not add up.")
