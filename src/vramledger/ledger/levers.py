"""What would change the pool: single changes to the launch, each with its effect."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from vramledger.engine.kv import KvPool
from vramledger.engine.setting import Origin, Setting
from vramledger.engine.vllm.activation import activation_peak
from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.kv.layout import layout_for
from vramledger.engine.vllm.kv.pool import size_pool
from vramledger.errors import VramError
from vramledger.frozen import frozen
from vramledger.ledger.ledger import Lever
from vramledger.ledger.rank import RankAccount
from vramledger.units import GIB

_STEP: Final = 0.01  # of utilization
_LARGEST_SHARE: Final = 0.98
_FEWEST_ROWS: Final = 16
_FEWEST_TOKENS: Final = 1024


@frozen
class _Change:
    flag: str
    deployment: Deployment


def levers(
    deployment: Deployment, stages: tuple[RankAccount, ...], pool: KvPool | None
) -> tuple[Lever, ...]:
    """The levers that move the pool at all; none without one or with bytes given by hand."""
    if pool is None or deployment.kv_cache_memory_bytes.value is not None:
        return ()
    changes = (change for rule in _CHANGES for change in rule(deployment))
    found = (_effect(deployment, stages, pool, change) for change in changes)
    return tuple(lever for lever in found if lever is not None and lever.effect_tokens)


def _effect(
    before: Deployment, stages: tuple[RankAccount, ...], pool: KvPool, change: _Change
) -> Lever | None:
    after = change.deployment
    gained = [_gained(before, after, stage) for stage in stages]
    bytes_left = tuple(
        max(0, round((stage.left.value + gain) * GIB))
        for stage, gain in zip(stages, gained, strict=True)
    )
    try:
        resized = size_pool(after, layout_for(after), bytes_left)
    except VramError:  # this version or model does not take the change
        return None
    return Lever(change.flag, min(gained), resized.tokens - pool.tokens)


def _gained(before: Deployment, after: Deployment, stage: RankAccount) -> float:
    """GiB that the change leaves more on a rank: budget won, and activations not needed."""
    share = after.gpu_memory_utilization.value - before.gpu_memory_utilization.value
    peaks = [activation_peak(d, stage.stage, stage.tp_rank).bytes for d in (before, after)]
    return share * stage.total.value + (peaks[0] - peaks[1]) / GIB


def _utilization(deployment: Deployment) -> Iterator[_Change]:
    share = round(deployment.gpu_memory_utilization.value + _STEP, 4)
    if share <= _LARGEST_SHARE:
        changed = replace(deployment, gpu_memory_utilization=Setting(share, Origin.GIVEN))
        yield _Change(f"--gpu-memory-utilization {share:g}", changed)


def _sequences(deployment: Deployment) -> Iterator[_Change]:
    rows = deployment.max_num_seqs.value // 2
    if rows >= _FEWEST_ROWS:
        changed = replace(deployment, max_num_seqs=Setting(rows, Origin.GIVEN))
        yield _Change(f"--max-num-seqs {rows}", changed)


def _batched_tokens(deployment: Deployment) -> Iterator[_Change]:
    tokens = deployment.max_num_batched_tokens.value // 2
    chunked = deployment.enable_chunked_prefill.value
    if chunked and tokens >= max(_FEWEST_TOKENS, deployment.max_num_seqs.value):
        changed = replace(deployment, max_num_batched_tokens=Setting(tokens, Origin.GIVEN))
        yield _Change(f"--max-num-batched-tokens {tokens}", changed)


def _narrow_cache(deployment: Deployment) -> Iterator[_Change]:
    if deployment.kv_cache_dtype.value == "auto":
        changed = replace(deployment, kv_cache_dtype=Setting("fp8", Origin.GIVEN))
        yield _Change("--kv-cache-dtype fp8 (check answers first)", changed)


_CHANGES: Final[tuple[Callable[[Deployment], Iterator[_Change]], ...]] = (
    _utilization,
    _sequences,
    _batched_tokens,
    _narrow_cache,
)
