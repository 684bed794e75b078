"""The causes, in the order of their ids."""

from typing import Final

from vramledger.diagnose.causes import (
    allocator,
    client,
    decode_bandwidth,
    failures,
    front_end,
    kv_cache,
    memory_growth,
    neighbour,
    network,
    remote_fetch,
    rush,
    sequence_cap,
    token_budget,
    warm_prefix_cache,
    warm_up,
)

CAUSES: Final = (
    kv_cache.CAUSE,
    sequence_cap.CAUSE,
    token_budget.CAUSE,
    decode_bandwidth.CAUSE,
    rush.CAUSE,
    warm_up.CAUSE,
    neighbour.CAUSE,
    allocator.CAUSE,
    memory_growth.CAUSE,
    client.CAUSE,
    front_end.CAUSE,
    network.CAUSE,
    remote_fetch.CAUSE,
    warm_prefix_cache.CAUSE,
    failures.CAUSE,
)
BY_NAME: Final = {cause.name: cause for cause in CAUSES}
