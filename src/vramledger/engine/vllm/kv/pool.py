"""`size_pool`: blocks, tokens and concurrency once memory is known, as each version counts them.

Source: vllm/v1/core/kv_cache_utils.py (get_kv_cache_configs, check_enough_kv_cache_memory,
the auto-fit search) and vllm/worker/worker.py for V0.
"""

from collections.abc import Callable
from itertools import chain
from typing import Final

from vramledger.engine.kv import KvLayout, KvPool
from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.rules import FitCheck, Rules, TokenFigure


def size_pool(deployment: Deployment, layout: KvLayout, available_bytes: tuple[int, ...]) -> KvPool:
    """The pool for the bytes left on one rank of each pipeline stage.

    With ``--max-model-len auto`` the length is the largest that fits. A pool that holds no request
    of that length is returned with `fits_one` False; the engine refuses to start with it.
    """
    capacity = _effective(deployment, layout, available_bytes)
    longest = _requested_len(deployment)
    if deployment.max_model_len.value is None:
        longest = max(1, _largest(deployment, layout, capacity, longest))
    blocks = _blocks(deployment, layout, available_bytes)
    concurrency = _concurrency(deployment.rules, layout, blocks, longest)
    needed, _ = _tightest(deployment, layout, capacity, longest)
    return KvPool(
        layout=layout,
        num_blocks=blocks,
        tokens=_printed_tokens(deployment, layout, blocks, concurrency, longest),
        max_concurrency=concurrency,
        max_model_len=longest,
        fits_one=_fits(deployment, layout, capacity, longest),
        needed_bytes=needed,
        available_bytes=available_bytes,
    )


def largest_model_len(
    deployment: Deployment, layout: KvLayout, available_bytes: tuple[int, ...]
) -> int:
    """The longest request the start-up check lets through, up to the model's own limit; 0 if none."""
    capacity = _effective(deployment, layout, available_bytes)
    return _largest(deployment, layout, capacity, deployment.model.text.max_positions)


def longest_held(layout: KvLayout, blocks: int, longest: int) -> int:
    """The longest request up to `longest` tokens that so many blocks really hold; 0 if none."""
    low, high = 0, longest
    while low < high:
        middle = (low + high + 1) // 2
        if layout.blocks_at(middle) <= blocks:
            low = middle
        else:
            high = middle - 1
    return low


def _requested_len(deployment: Deployment) -> int:
    return deployment.max_model_len.value or deployment.model.text.max_positions


def _effective(
    deployment: Deployment, layout: KvLayout, available_bytes: tuple[int, ...]
) -> tuple[int, ...]:
    """What the fit check plans against: an override may replace it, the null block may lessen it."""
    rules, override = deployment.rules, deployment.num_gpu_blocks_override.value
    effective = available_bytes
    if override is not None and rules.override_in_fit_check:
        effective = tuple(override * each for each in layout.bytes_per_block)
    if rules.null_block_in_fit_check:
        effective = tuple(
            have - each for have, each in zip(effective, layout.bytes_per_block, strict=True)
        )
    return effective


def _blocks(deployment: Deployment, layout: KvLayout, available_bytes: tuple[int, ...]) -> int:
    override = deployment.num_gpu_blocks_override.value
    if not layout.groups:
        return 1  # nothing to remember: the null block alone
    if override is not None:
        return override
    return min(
        max(0, have) // each
        for have, each in zip(available_bytes, layout.bytes_per_block, strict=True)
        if each
    )


def _concurrency(rules: Rules, layout: KvLayout, blocks: int, tokens: int) -> float:
    if not layout.groups:
        return 0.0
    if not rules.hybrid_groups:
        return blocks * layout.block_size / tokens
    each = layout.blocks_reserved(tokens)
    return blocks / each if each else 0.0


def _printed_tokens(
    deployment: Deployment, layout: KvLayout, blocks: int, concurrency: float, tokens: int
) -> int:
    if not layout.groups:
        return 0
    if deployment.rules.token_figure is TokenFigure.CONCURRENCY:
        return int(concurrency * tokens)
    if deployment.rules.token_figure is TokenFigure.BLOCKS:
        return blocks * layout.block_size
    spread = deployment.layout.dcp * deployment.layout.pcp
    return blocks // len(layout.groups) * layout.block_size * spread


_Needed = Callable[[KvLayout, int, int], int]  # (layout, stage, tokens) -> bytes


def _needed_for_blocks(layout: KvLayout, stage: int, tokens: int) -> int:
    blocks = sum(group.demand.reserved(tokens) for group in layout.groups)
    return layout.bytes_per_block[stage] * blocks


def _needed_for_first_group(layout: KvLayout, stage: int, tokens: int) -> int:
    first = layout.groups[0].demand.reserved(tokens) if layout.groups else 0
    return layout.bytes_per_block[stage] * first


def _needed_for_whole_model(layout: KvLayout, stage: int, tokens: int) -> int:
    """As the first group's, but with the layers of every stage, whatever the stage holds."""
    del stage
    if not layout.groups:
        return 0
    if len(layout.groups) == 1:
        block = sum(need.count * need.page_bytes for need in chain(*layout.stage_layers))
    else:
        block = max((group.layers + group.padding) * group.page_bytes for group in layout.groups)
    return block * layout.groups[0].demand.reserved(tokens)


def _needed_for_layers(layout: KvLayout, stage: int, tokens: int) -> int:
    return sum(
        need.count * need.page_bytes * need.demand.reserved(tokens)
        for need in layout.stage_layers[stage]
    )


_NEEDED: Final[dict[FitCheck, _Needed]] = {
    FitCheck.V0_TOKENS: _needed_for_blocks,
    FitCheck.SUM_OF_LAYERS: _needed_for_layers,
    FitCheck.FIRST_GROUP: _needed_for_first_group,
    FitCheck.ALL_GROUPS: _needed_for_blocks,
}


def _needed(rules: Rules) -> _Needed:
    return _needed_for_whole_model if rules.fit_check_whole_model else _NEEDED[rules.fit_check]


def _tightest(
    deployment: Deployment, layout: KvLayout, capacity: tuple[int, ...], tokens: int
) -> tuple[int, int]:
    """Bytes needed and bytes there on the stage with the least to spare."""
    needed = _needed(deployment.rules)
    stages = [(needed(layout, stage, tokens), have) for stage, have in enumerate(capacity)]
    return max(stages, key=lambda stage: stage[0] - stage[1])


def _fits(deployment: Deployment, layout: KvLayout, capacity: tuple[int, ...], tokens: int) -> bool:
    if not layout.groups:
        return True
    needed = _needed(deployment.rules)
    return all(
        have > 0 and needed(layout, stage, tokens) <= have for stage, have in enumerate(capacity)
    )


def _largest(
    deployment: Deployment, layout: KvLayout, capacity: tuple[int, ...], longest: int
) -> int:
    """The engine's own search: halving between 1 and `longest`, 0 when one token does not fit."""
    if not _fits(deployment, layout, capacity, 1):
        return 0
    low, high, best = 1, longest, 1
    while low <= high:
        middle = (low + high) // 2
        if _fits(deployment, layout, capacity, middle):
            best, low = middle, middle + 1
        else:
            high = middle - 1
    return best
