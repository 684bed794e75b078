"""What the account itself shows that the owner may not expect, with its effect in GiB or tokens."""

from collections.abc import Callable
from typing import Final

from vramledger.engine.finding import Finding, Severity
from vramledger.ledger.rank import RankAccount
from vramledger.ledger.startup import Startup
from vramledger.model.cache import RecurrentState
from vramledger.units import format_gib

_Rule = Callable[[Startup], Finding | None]


def findings(start: Startup) -> tuple[Finding, ...]:
    """Every rule's finding, in the order of the table."""
    found = (rule(start) for rule in _RULES)
    return tuple(finding for finding in found if finding is not None)


def _explicit_bytes(start: Startup) -> Finding | None:
    deployment = start.deployment
    size = deployment.kv_cache_memory_bytes.value
    if size is None or not deployment.gpu_memory_utilization.given:
        return None
    rank = start.ranks[0]
    inside = sum(row.figure.value for row in rank.rows if row.in_budget)
    effect = size / (1 << 30) - (rank.budget.value - inside)
    return Finding(
        "L01",
        Severity.SILENT,
        "Explicit KV bytes replace what the utilization would leave; the utilization is used for "
        f"the start-up check only. The pool is {format_gib(abs(effect))} "
        f"{'larger' if effect > 0 else 'smaller'} than the utilization would give.",
        effect_gib=effect,
        source="vllm.md L01",
    )


def _explicit_too_large(start: Startup) -> Finding | None:
    if start.deployment.kv_cache_memory_bytes.value is None:
        return None
    rank = max(start.ranks, key=_physical)
    missing = _physical(rank) - rank.total.value
    if missing <= 0:
        return None
    return Finding(
        "L02",
        Severity.ERROR,
        "Nothing checks explicit KV bytes against the card: weights, peak, cache and graphs need "
        f"{format_gib(missing)} more than it has, so allocation or graph capture fails.",
        effect_gib=-missing,
        source="vllm.md L02",
    )


def _physical(rank: RankAccount) -> float:
    held = sum(row.figure.value for row in rank.rows if row.key != "unprofiled")
    return held + max(0.0, rank.left.value)


def _tight_outside(start: Startup) -> Finding | None:
    """Graphs, communicators and first requests share what the budget leaves of the card."""
    for rank in start.ranks:
        outside = rank.figure("context").high + rank.figure("unprofiled").high
        outside += sum(
            r.figure.high for r in rank.rows if r.key == "cuda_graph" and not r.in_budget
        )
        room = rank.total.value - rank.budget.value
        if outside > room:
            return Finding(
                "A01",
                Severity.SILENT,
                f"Only {format_gib(room)} of the card stay outside the budget, and CUDA graphs, "
                f"context, fragmentation and the sampler's warm-up may take {format_gib(outside)} "
                "there: graph capture or the sampler warm-up can run out of memory after the "
                "cache is allocated. Lower the utilization by "
                f"{(outside - room) / rank.total.value:.2f}.",
                effect_gib=room - outside,
                source="start-up logs that died after sizing the cache",
            )
    return None


def _state_after_pool(start: Startup) -> Finding | None:
    deployment = start.deployment
    states = [c.spec for c in deployment.model.cache_layers if isinstance(c.spec, RecurrentState)]
    if deployment.rules.v1 or not states:
        return None
    size = deployment.dtype.value.nbytes
    each = sum(_elements(part.shape) * (part.dtype.nbytes if part.dtype else size)
               for spec in states for part in spec.parts)  # fmt: skip
    need = each * deployment.max_num_seqs.value / deployment.layout.tp / (1 << 30)
    return Finding(
        "A02",
        Severity.SILENT,
        f"V0 allocates the recurrent state after the KV pool and outside the budget: "
        f"{format_gib(need)} for max_num_seqs {deployment.max_num_seqs.value}, more when graphs "
        "are captured. Allocation fails there when the pool has taken the rest; lower "
        "max_num_seqs or the utilization.",
        effect_gib=-need,
        source="V0 sizes the pool before the state",
    )


def _elements(shape: tuple[int, ...]) -> int:
    product = 1
    for size in shape:
        product *= size
    return product


def _sequences_beyond_pool(start: Startup) -> Finding | None:
    pool = start.pool
    rows = start.deployment.max_num_seqs.value
    if pool is None or pool.max_concurrency >= rows or pool.max_concurrency <= 0:
        return None
    return Finding(
        "L14",
        Severity.SILENT,
        f"max_num_seqs is {rows}, and the pool holds {pool.max_concurrency:.2f} requests of "
        f"{pool.max_model_len} tokens: with long requests the rest waits or is preempted.",
        source="vllm.md L14",
    )


def _replicated(start: Startup) -> Finding | None:
    pool = start.pool
    if pool is None or pool.layout.replication <= 1:
        return None
    waste = pool.layout.replication
    left = min(rank.left.value for rank in start.ranks)
    return Finding(
        "L17",
        Severity.SILENT,
        f"Each KV head is kept on {waste} ranks of the tensor-parallel group: "
        f"{format_gib(left * (waste - 1) / waste)} of every rank's pool hold copies. Decode "
        "context parallelism or data-parallel attention would use them.",
        effect_gib=-left * (waste - 1) / waste,
        source="vllm.md L17",
    )


_RULES: Final[tuple[_Rule, ...]] = (
    _explicit_bytes,
    _explicit_too_large,
    _tight_outside,
    _state_after_pool,
    _sequences_beyond_pool,
    _replicated,
)
