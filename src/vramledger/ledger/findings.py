"""What the account itself shows that the owner may not expect, with its effect in GiB or tokens."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from vramledger.engine.finding import Finding, Severity
from vramledger.engine.vllm.activation import activation_peak
from vramledger.engine.vllm.lint import lint
from vramledger.ledger.rank import RankAccount
from vramledger.ledger.startup import Startup, Verdict
from vramledger.model.cache import RecurrentState
from vramledger.units import GIB, format_gib

_SHORT: Final = 2048  # batched tokens of chunked prefill in V0
_FAR_ABOVE: Final = 4
_TABLE_ENTRY: Final = 4
_Rule = Callable[[Startup], Finding | None]


def findings(start: Startup, said: Verdict) -> tuple[Finding, ...]:
    """What fails first, then every rule's finding, then those the arguments alone show."""
    found = [_failure(said), *(rule(start) for rule in _RULES)]
    known = [finding for finding in found if finding is not None]
    ids = {finding.id for finding in known}
    return (*known, *(f for f in lint(start.deployment) if f.id not in ids))


_FAILURES: Final = {
    "start-up check": "L03",
    "state blocks": "L33",
    "loading": "A10",
    "profiling": "A11",
    "KV cache": "A12",
    "full-length request": "A13",
    "graph capture": "A14",
    "cache allocation": "A15",
}


def _failure(said: Verdict) -> Finding | None:
    """The failing phase as a finding of its own; configuration errors are findings already."""
    name = _FAILURES.get(said.phase)
    if name is None:
        return None
    return Finding(name, Severity.ERROR, said.reason, source=f"phase: {said.phase}")


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
        source="vllm/v1/worker/gpu_worker.py, determine_available_memory",
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
        source="vllm/v1/worker/gpu_worker.py, determine_available_memory",
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
        room = max(0.0, rank.total.value - rank.budget.value)
        if outside > room:
            return Finding(
                "A01",
                Severity.SILENT,
                f"Only {format_gib(room)} of the card stay outside the budget, and CUDA graphs, "
                f"context, fragmentation and the sampler's warm-up may take {format_gib(outside)} "
                "there: graph capture or the sampler warm-up can run out of memory after the "
                "cache is allocated. Lower the utilization by "
                f"{math.ceil(100 * (outside - room) / rank.total.value) / 100:.2f}.",
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
        source="concurrency as the engine prints it",
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
        source="vllm/config/model.py, get_num_kv_heads",
    )


def _graphs_inside(start: Startup) -> Finding | None:
    deployment = start.deployment
    inside = start.ranks[0].figure_inside("cuda_graph")
    if not inside or not deployment.gpu_memory_utilization.given:
        return None
    return Finding(
        "L05",
        Severity.SILENT,
        f"This version deducts its estimate of graph memory, {format_gib(inside)}, from the "
        "budget; versions before 0.20 left it outside, so the same utilization then gave that "
        "much more cache.",
        effect_gib=-inside,
        source="vllm/v1/worker/gpu_worker.py, from 0.20",
    )


def _prompt_sized_profile(start: Startup) -> Finding | None:
    """V0 without chunked prefill profiles a prompt of full length."""
    deployment = start.deployment
    length, tokens = deployment.max_model_len.value, deployment.max_num_batched_tokens.value
    chunked = deployment.enable_chunked_prefill.value
    if deployment.rules.v1 or chunked or length is None or tokens > length or tokens <= _SHORT:
        return None
    fewer = replace(
        deployment.max_num_batched_tokens, value=_SHORT, note="as chunked prefill would profile"
    )
    short = activation_peak(replace(deployment, max_num_batched_tokens=fewer), 0).bytes
    cost = (activation_peak(deployment, 0).bytes - short) / GIB
    return Finding(
        "A03",
        Severity.SILENT,
        f"Without chunked prefill the profile runs one prompt of max_model_len {length}, so the "
        f"activation peak grows with the length: {format_gib(cost)} more than with "
        f"--enable-chunked-prefill and {_SHORT} batched tokens, which leaves that much more cache.",
        effect_gib=-cost,
        source="V0 profiles max_num_batched_tokens = max_model_len",
    )


def _length_beyond_need(start: Startup) -> Finding | None:
    """A context limit far above the stated requests, and what it costs on this engine."""
    need, pool = start.request_tokens, start.pool
    if need is None or pool is None or pool.max_model_len < _FAR_ABOVE * need:
        return None
    tables = (
        start.deployment.max_num_seqs.value
        * (pool.max_model_len - need)
        // pool.layout.block_size
        * _TABLE_ENTRY
    )
    return Finding(
        "A04",
        Severity.SILENT,
        f"max_model_len {pool.max_model_len} is {pool.max_model_len / need:.0f} times the stated "
        f"requests of {need} tokens. On a paged engine it reserves no cache: it costs the check "
        f"that one such request fits and {format_gib(tables / GIB)} of block tables.",
        effect_gib=-tables / GIB,
        effect_tokens=0,
        source="block tables of four bytes an entry",
    )


_RULES: Final[tuple[_Rule, ...]] = (
    _graphs_inside,
    _prompt_sized_profile,
    _length_beyond_need,
    _explicit_bytes,
    _explicit_too_large,
    _tight_outside,
    _state_after_pool,
    _sequences_beyond_pool,
    _replicated,
)
