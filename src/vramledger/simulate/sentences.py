"""What is said of requests that can never start or never end, the same by every simulator."""

from typing import Final

TIMES_ENOUGH: Final = (
    4  # a request that outgrew the pool so often, with no event in between, always will
)

SHORT_OF_BLOCKS: Final = (
    "vLLM 0.20 counts no more blocks of a sliding window than its most for requests that run, takes "
    "more than it counted, and stops with an error when the pool has too few, as in this simulation; "
    "use a later version, a larger pool or fewer sequences."
)


def outgrows(rank: int, usable: int) -> str:
    """A request that is preempted and computed again for ever."""
    return (
        f"Request {rank} outgrows the pool of {usable} KV blocks whenever it starts, so it is "
        "preempted and computed again for ever; give the pool more blocks or keep such requests "
        "out with max_model_len."
    )


def never_fetched(kept: int) -> str:
    """Prompts that fill the pool of a prefill server, with nobody to take them."""
    return (
        f"The KV blocks of {kept} computed prompts fill a prefill server and are never fetched, because the "
        "decode servers cannot go on; see what holds those back."
    )


def never_starts(rank: int, tokens: int, need: int, usable: int) -> str:
    """A request whose blocks are never free at once."""
    return (
        f"Request {rank} with {tokens} tokens needs {need} KV blocks and the pool "
        f"has {usable}, so it never starts and holds back all behind it; give the pool more blocks "
        "or keep such requests out with max_model_len."
    )
