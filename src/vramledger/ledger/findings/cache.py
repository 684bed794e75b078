"""What the pool holds against what may run, and copies inside it."""

from typing import Final

from vramledger.engine.finding import Severity
from vramledger.ledger.findings.rule import AccountRule, Effect
from vramledger.ledger.startup import Startup
from vramledger.units import GIB, format_gib


def _sequences_beyond_pool(start: Startup) -> Effect | None:
    pool = start.pool
    rows = start.deployment.max_num_seqs.value
    if pool is None or pool.max_concurrency >= rows or pool.max_concurrency <= 0:
        return None
    return Effect(
        f"max_num_seqs is {rows}, and the pool holds {pool.max_concurrency:.2f} requests of "
        f"{pool.max_model_len} tokens: with long requests the rest waits or is preempted."
    )


def _replicated(start: Startup) -> Effect | None:
    pool = start.pool
    if pool is None or pool.layout.replication <= 1:
        return None
    copies = pool.layout.replication
    left = min(rank.left.value for rank in start.ranks)
    wasted = left * (copies - 1) / copies
    return Effect(
        f"Each KV head is kept on {copies} ranks of the tensor-parallel group: "
        f"{format_gib(wasted)} of every rank's pool hold copies. Decode context parallelism or "
        "data-parallel attention would use them.",
        gib=-wasted,
        tokens=-pool.tokens * (copies - 1),
    )


def _idle_pool(start: Startup) -> Effect | None:
    """More cache than the rows that may run can ever fill with the stated requests."""
    need, pool = start.request_tokens, start.pool
    rows = start.deployment.max_num_seqs.value
    if need is None or pool is None or pool.capacity(need) <= rows:
        return None
    blocks = pool.usable_blocks - rows * pool.layout.blocks_at(need)
    idle = blocks * max(pool.layout.bytes_per_block) / GIB
    return Effect(
        f"The pool holds {pool.capacity(need)} requests of {need} tokens, and max_num_seqs lets "
        f"{rows} run: {format_gib(idle)} serve only prefix reuse. The engine takes what the budget "
        "leaves whether it needs it or not; --solve gpu-memory-utilization says what would do.",
        gib=-idle,
        tokens=start.tokens_in(-idle),
    )


RULES: Final = (
    AccountRule(
        "L14", Severity.SILENT, _sequences_beyond_pool, "concurrency as the engine prints it"
    ),
    AccountRule("L17", Severity.SILENT, _replicated, "vllm/config/model.py, get_num_kv_heads"),
    AccountRule("A14", Severity.SILENT, _idle_pool, "the pool is allocated whole at the start"),
)
