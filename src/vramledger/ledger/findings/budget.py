"""What the budget covers and what it leaves of the card."""

import math
from typing import Final

from vramledger.engine.finding import Severity
from vramledger.engine.vllm.rules import ProfileRule
from vramledger.frozen import frozen
from vramledger.ledger.findings.rule import AccountRule, Effect
from vramledger.ledger.rank import RankAccount
from vramledger.ledger.startup import Startup, largest_share
from vramledger.model.cache import RecurrentState
from vramledger.units import GIB, format_gib


def _explicit_bytes(start: Startup) -> Effect | None:
    """Explicit KV bytes beside a stated utilization."""
    deployment = start.deployment
    size = deployment.kv_cache_memory_bytes.value
    if size is None or not deployment.gpu_memory_utilization.given:
        return None
    rank = start.ranks[0]
    inside = sum(row.figure.value for row in rank.rows if row.in_budget)
    effect = size / GIB - (rank.budget.value - inside)
    return Effect(
        "Explicit KV bytes replace what the utilization would leave; the utilization is used for "
        f"the start-up check only. The pool is {format_gib(abs(effect))} "
        f"{'larger' if effect > 0 else 'smaller'} than the utilization would give.",
        gib=effect,
        tokens=start.tokens_in(effect),
    )


def _explicit_too_large(start: Startup) -> Effect | None:
    if start.deployment.kv_cache_memory_bytes.value is None:
        return None
    rank = max(start.ranks, key=_physical)
    missing = _physical(rank) - rank.total.value
    if missing <= 0:
        return None
    return Effect(
        "Nothing checks explicit KV bytes against the card: weights, peak, cache and graphs need "
        f"{format_gib(missing)} more than it has, so allocation or graph capture fails.",
        gib=-missing,
    )


def _physical(rank: RankAccount) -> float:
    held = sum(row.figure.value for row in rank.rows if row.key != "unprofiled")
    return held + max(0.0, rank.left.value)


def _tight_outside(start: Startup) -> Effect | None:
    """Graphs, communicators and first requests share what the budget leaves of the card.

    A launch without a cache leaves most of its budget free, so nothing is tight there. Whoever
    asks for more than the version's default share takes from this room, and is told at its worst.
    """
    if start.pool is None:
        return None
    deployment = start.deployment
    raised = deployment.gpu_memory_utilization.value > deployment.rules.utilization_default
    for rank in start.ranks:
        outside = _outside(rank)
        room = max(0.0, rank.total.value - rank.budget.value)
        missing = (outside.most if raised else outside.likely) - room
        if missing > 0:
            return Effect(
                f"Only {format_gib(room)} of the card stay outside the budget. CUDA graphs, "
                "context, fragmentation and the sampler's warm-up are expected to take "
                f"{format_gib(outside.expected)} there and may take {format_gib(outside.most)}: "
                "graph capture or the sampler warm-up can run out of memory after the cache is "
                "allocated. Lower the utilization by "
                f"{math.ceil(100 * missing / rank.total.value) / 100:.2f}.",
                gib=-missing,
            )
    return None


@frozen
class _Outside:
    """GiB taken outside the budget: expected, one deviation above that, and at the worst.

    The parts do not come out at their worst together, so their distances from the expected value
    are added as independent ones.
    """

    expected: float
    likely: float
    most: float


def _outside(rank: RankAccount) -> _Outside:
    keys = ("context", "neighbours", "unprofiled", "cuda_graph", "sampler_later")
    parts = [row.figure for row in rank.rows if row.key in keys and not row.in_budget]
    expected = sum(part.value for part in parts)
    spread = math.hypot(*(part.high - part.value for part in parts))
    return _Outside(expected, expected + _LIKELY * spread, sum(part.high for part in parts))


def _unchecked_budget(start: Startup) -> Effect | None:
    """Versions without the start-up check hand out memory that is not free."""
    if start.deployment.rules.startup_memory_check:
        return None
    for rank in start.ranks:
        free = max(0.0, rank.total.value - rank.before_start.value)
        if rank.budget.value > free:
            share = start.deployment.gpu_memory_utilization.value
            return Effect(
                f"Utilization {share:g} hands out {format_gib(rank.budget.value)}, and only "
                f"{format_gib(free)} are free at the start; this version does not check it, and "
                f"runs out of memory later. Use at most {largest_share(rank):.2f}.",
                gib=free - rank.budget.value,
                tokens=start.tokens_in(free - rank.budget.value),
            )
    return None


def _charged_for_neighbours(start: Startup) -> Effect | None:
    held = start.deployment.neighbours_gib
    if not held or start.deployment.rules.profile is not ProfileRule.V1_ALL_NON_TORCH:
        return None
    share = held / start.ranks[0].total.value
    return Effect(
        f"This version charges the {format_gib(held)} of other processes to this engine: its "
        f"utilization is cumulative, so {share:.2f} of it are spent before the engine has "
        "anything. Versions from 0.9.1 on count only their own memory.",
        gib=-held,
        tokens=start.tokens_in(-held),
    )


def _graphs_inside(start: Startup) -> Effect | None:
    deployment = start.deployment
    inside = start.ranks[0].figure_inside("cuda_graph")
    if not inside or not deployment.gpu_memory_utilization.given:
        return None
    return Effect(
        f"This version deducts its estimate of graph memory, {format_gib(inside)}, from the "
        "budget; versions before 0.20 left it outside, so the same utilization then gave that "
        "much more cache.",
        gib=-inside,
        tokens=start.tokens_in(-inside),
    )


def _state_after_pool(start: Startup) -> Effect | None:
    deployment = start.deployment
    states = [c.spec for c in deployment.model.cache_layers if isinstance(c.spec, RecurrentState)]
    if deployment.rules.v1 or not states:
        return None
    size = deployment.dtype.value.nbytes
    each = sum(
        math.prod(part.shape) * (part.dtype.nbytes if part.dtype else size)
        for spec in states
        for part in spec.parts
    )
    need = each * deployment.max_num_seqs.value / deployment.layout.tp / GIB
    return Effect(
        f"V0 allocates the recurrent state after the KV pool and outside the budget: "
        f"{format_gib(need)} for max_num_seqs {start.deployment.max_num_seqs.value}, more when "
        "graphs are captured. Allocation fails there when the pool has taken the rest; lower "
        "max_num_seqs or the utilization.",
        gib=-need,
    )


_LIKELY: Final = 1 / 3  # of the way to the worst of many reports, as one of three deviations
_WORKER: Final = "vllm/v1/worker/gpu_worker.py, determine_available_memory"
RULES: Final = (
    AccountRule("L01", Severity.SILENT, _explicit_bytes, _WORKER),
    AccountRule("L02", Severity.ERROR, _explicit_too_large, _WORKER),
    AccountRule("L05", Severity.SILENT, _graphs_inside, f"{_WORKER}, from 0.20"),
    AccountRule(
        "A01", Severity.SILENT, _tight_outside, "start-up logs that died after sizing the cache"
    ),
    AccountRule("A02", Severity.SILENT, _state_after_pool, "V0 sizes the pool before the state"),
    AccountRule(
        "A08", Severity.SILENT, _unchecked_budget, "workers before 0.9.1 compare nothing at start"
    ),
    AccountRule("A15", Severity.SILENT, _charged_for_neighbours, f"{_WORKER}, up to 0.9.0"),
)
