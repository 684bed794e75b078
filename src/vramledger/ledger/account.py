"""From a deployment to its ledger: the only place that says what fits."""

from dataclasses import replace
from typing import Final

from vramledger.engine.kv import KvPool
from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.kv.layout import layout_for
from vramledger.engine.vllm.kv.pool import largest_model_len, longest_held, size_pool
from vramledger.engine.vllm.layouts import refusals, tensor_parallel_choices
from vramledger.engine.vllm.reuse import reused
from vramledger.errors import BadInput
from vramledger.evidence import Basis, Figure, Unknown, total
from vramledger.frozen import frozen
from vramledger.ledger.findings import findings
from vramledger.ledger.host import host_rows
from vramledger.ledger.ledger import Account, Ledger, RankLedger, Row
from vramledger.ledger.levers import levers
from vramledger.ledger.measured_memory import MeasuredMemory, with_measured
from vramledger.ledger.rank import RankAccount, rank_account
from vramledger.ledger.startup import Startup, Verdict, verdict
from vramledger.units import GIB

_WEIGHT_FIELDS: Final = frozenset({"cpu_offload_gib", "lora"})  # of no bearing on the cache
_MOST_RANKS: Final = 16  # tensor-parallel sizes listed when one is refused


@frozen
class Pools:
    """The pool at the pessimistic, expected and optimistic end; all None without a cache."""

    low: KvPool | None = None
    expected: KvPool | None = None
    high: KvPool | None = None
    unknown: str = ""  # why there is none


def build(
    deployment: Deployment,
    *,
    request_tokens: int | None = None,
    memory: MeasuredMemory | None = None,
) -> Ledger:
    """The account of every rank, the pool and the verdict.

    Args:
        deployment: what runs, every default resolved.
        request_tokens: length of the requests that `capacity_tokens` counts; by default
            ``max_model_len``.
        memory: rows that a start measured; they count where it was this very one.

    Raises:
        BadInput: the layout or a cache type is not possible for this model.
    """
    found = assess(deployment, request_tokens=request_tokens, memory=memory)
    pools, stages = found.pools, found.stages
    return Ledger(
        deployment=deployment,
        ranks=_ranks(deployment, stages, memory),
        host=host_rows(deployment),
        pool=pools.expected,
        pool_low=pools.low,
        pool_high=pools.high,
        tokens=found.tokens,
        capacity_tokens=_capacity(pools, request_tokens),
        fits=found.fits,
        reason=found.reason,
        only_starts=found.verdict.only_starts and not found.pools.unknown,
        findings=findings(found.startup, found.verdict),
        levers=levers(deployment, stages, pools.expected),
    )


@frozen
class Assessment:
    """What a ledger decides, without its rows for reading: enough to compare many deployments."""

    deployment: Deployment
    stages: tuple[RankAccount, ...]
    pools: Pools
    startup: Startup
    verdict: Verdict

    @property
    def fits(self) -> bool:
        """At the pessimistic end."""
        return self.verdict.fits and not self.pools.unknown

    @property
    def reason(self) -> str:
        """One sentence: why it fits or what does not."""
        return self.pools.unknown or self.verdict.reason

    @property
    def tokens(self) -> Figure | Unknown:
        """The token figure that this engine version prints, per replica."""
        return _tokens(self.pools, self.deployment)


def assess(
    deployment: Deployment,
    *,
    request_tokens: int | None = None,
    memory: MeasuredMemory | None = None,
) -> Assessment:
    """The decision of `build` alone.

    Raises:
        BadInput: the layout or a cache type is not possible for this model.
    """
    _check_layout(deployment)
    stages = tuple(
        with_measured(rank_account(deployment, stage), deployment, memory)
        for stage in range(deployment.layout.pp)
    )
    pools = _pools(deployment, stages)
    longest = _longest(deployment, stages, pools.low) if pools.low is not None else None
    start = Startup(deployment, stages, pools.low, longest, request_tokens)
    return Assessment(deployment, stages, pools, start, verdict(start))


def _longest(deployment: Deployment, stages: tuple[RankAccount, ...], pool: KvPool) -> int | None:
    """The longest request where one of full length is not let through or not held, else None."""
    checked = None
    if not pool.fits_one:
        checked = largest_model_len(deployment, pool.layout, _bytes(stages, "low"))
    if pool.held_of_one >= 1.0:
        return checked
    held = longest_held(pool.layout, pool.num_blocks, pool.max_model_len)
    return held if checked is None else min(checked, held)


def _check_layout(deployment: Deployment) -> None:
    """Refuse a layout that the engine does not start, with the ones it does."""
    model, layout, rules = deployment.model, deployment.layout, deployment.rules
    refused = refusals(model, layout, rules, deployment.accelerator)
    if not refused:
        return
    legal = tensor_parallel_choices(
        model, rules, _MOST_RANKS, deployment.accelerator, expert_parallel=layout.expert_parallel
    )
    sizes = ", ".join(str(size) for size in legal)
    remedy = f" Legal tensor-parallel sizes up to {_MOST_RANKS}: {sizes}." if legal else ""
    raise BadInput(f"{refused[0].message}{remedy}{_same_gpus(deployment, legal)}")


def _same_gpus(deployment: Deployment, legal: tuple[int, ...]) -> str:
    """Legal layouts over as many GPUs, stages before replicas, as one sentence; empty without one."""
    gpus = deployment.layout.gpus
    names = []
    for tp in reversed(legal):
        if gpus % tp or gpus == tp:
            continue
        staged = replace(deployment.layout, tp=tp, pp=gpus // tp, dp=1, dcp=1, pcp=1)
        if not refusals(deployment.model, staged, deployment.rules, deployment.accelerator):
            names.append(f"TP {tp} x PP {gpus // tp}")
        names.append(f"TP {tp} x DP {gpus // tp}")
    return (
        f" With {gpus} GPUs: {', '.join(names)}; --layouts {gpus} accounts for each."
        if names
        else ""
    )


def _pools(deployment: Deployment, stages: tuple[RankAccount, ...]) -> Pools:
    model = deployment.model
    if model.cache_unknown is not None:
        return Pools(unknown=model.cache_unknown)
    if not model.cache_layers:
        return Pools()
    layout = _layout(deployment, None)
    low, expected, high = (
        size_pool(deployment, layout, _bytes(stages, end)) for end in ("low", "value", "high")
    )
    return Pools(low, expected, high)


_layout = reused(lambda deployment, _: layout_for(deployment), lambda _: _WEIGHT_FIELDS)


def _bytes(stages: tuple[RankAccount, ...], end: str) -> tuple[int, ...]:
    return tuple(max(0, int(getattr(stage.left, end) * GIB)) for stage in stages)


def _ranks(
    deployment: Deployment, stages: tuple[RankAccount, ...], memory: MeasuredMemory | None
) -> tuple[RankLedger, ...]:
    """One ledger a rank, stage by stage; ranks of a stage differ only where they profile apart."""
    ranks: list[RankLedger] = []
    model = deployment.model
    label = "KV cache" if model.cache_layers or model.cache_unknown else "unused budget"
    for account in stages:
        others = (
            with_measured(rank_account(deployment, account.stage, 1), deployment, memory)
            if deployment.layout.tp > 1 and not deployment.rules.v1
            else account
        )
        for tp_rank in range(deployment.layout.tp):
            own = account if tp_rank == 0 else others
            ranks.append(_rank(own, len(ranks), tp_rank, label))
    return tuple(ranks)


def _rank(account: RankAccount, number: int, tp_rank: int, label: str) -> RankLedger:
    inside = total((row.figure for row in account.rows if row.in_budget), "inside the budget")
    pool = Row("kv_cache", label, Account.LOAD, account.left, True, "what is left of the budget")
    spare = account.budget.value - inside.value - account.left.value
    margin = Figure.sharp(
        0.0 if abs(spare) < 1e-9 else spare, Basis.DERIVED, "budget less every row above"
    )
    rest = Row("margin", "margin", Account.LOAD, margin, True)
    outside = total((row.figure for row in account.rows if not row.in_budget), "outside the budget")
    return RankLedger(
        rank=number,
        pp_stage=account.stage,
        tp_rank=tp_rank,
        total=account.total,
        budget=account.budget,
        outside=outside,
        rows=(*account.rows, pool, rest),
    )


def _tokens(pools: Pools, deployment: Deployment) -> Figure | Unknown:
    low, expected, high = pools.low, pools.expected, pools.high
    if low is None or expected is None or high is None:
        return Unknown(pools.unknown or "this model keeps no KV cache")
    ends = sorted((low.tokens, expected.tokens, high.tokens))
    return Figure(
        expected.tokens, ends[0], ends[2], Basis.CALIBRATED,
        f"{deployment.rules.token_figure}, as vLLM {deployment.rules.family} counts; "
        f"{expected.layout.cache_dtype} cache, {_sized_by(deployment)}",
    )  # fmt: skip


def _sized_by(deployment: Deployment) -> str:
    """What sets the size of the pool, in words."""
    if deployment.num_gpu_blocks_override.value is not None:
        return "blocks given by hand"
    if deployment.kv_cache_memory_bytes.value is not None:
        return "bytes given by hand"
    return f"utilization {deployment.gpu_memory_utilization.value:g}"


def _capacity(pools: Pools, request_tokens: int | None) -> Figure | Unknown:
    low, expected, high = pools.low, pools.expected, pools.high
    if low is None or expected is None or high is None:
        return Unknown(pools.unknown or "this model keeps no KV cache")
    length = request_tokens or expected.max_model_len
    ends = sorted(_held(pool, length) for pool in (low, expected, high))
    return Figure(
        ends[1], ends[0], ends[2], Basis.CALIBRATED,
        f"tokens held at once by requests of {length} tokens",
    )  # fmt: skip


def _held(pool: KvPool, length: int) -> int:
    each = pool.layout.blocks_at(length)
    return pool.usable_blocks * length // each if each else 0
