"""`layout_for`: the KV pool of a deployment before any memory is assigned."""

from collections.abc import Sequence
from typing import Final

from vramledger.engine.kv import KvGroup, KvLayout, LayerNeed
from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.kv.demand import GroupDemand, Horizon
from vramledger.engine.vllm.kv.groups import Grouping, bytes_per_block, group_layers
from vramledger.engine.vllm.kv.layers import PoolPlan, plan_layers
from vramledger.engine.vllm.kv.refusals import refuse_unknown_cache
from vramledger.engine.vllm.kv.specs import Group, LayerSpec
from vramledger.errors import BadInput
from vramledger.model.cache import (
    CacheSpec,
    ChunkedAttention,
    CompressedAttention,
    CrossAttention,
    FullAttention,
    SlidingAttention,
)

_WITH_HEADS: Final = FullAttention | SlidingAttention | ChunkedAttention | CrossAttention


def layout_for(deployment: Deployment) -> KvLayout:
    """Groups, block bytes per pipeline stage, and what a request takes.

    Raises:
        CannotKnow: what the model remembers is not known.
        BadInput: this version or platform cannot serve such a cache.
        UnknownName: a cache type this version does not have.
    """
    refuse_unknown_cache(deployment)
    plan = plan_layers(deployment)
    grouping = _grouping(deployment)
    groups = group_layers(plan.layers, grouping)
    horizon = _horizon(deployment)
    return KvLayout(
        groups=tuple(_kv_group(group, horizon) for group in groups),
        bytes_per_block=_stage_bytes(deployment, groups, grouping),
        block_size=min((group.spec.block_size for group in groups), default=plan.block_size),
        element_bytes=plan.cache.element_bytes,
        cache_dtype=plan.cache.name,
        replication=_replication(deployment),
        notes=plan.notes,
        stage_layers=_stage_layers(deployment, plan, horizon),
        group_weights=tuple(group.bytes_on(0) for group in groups) if grouping.tuples else (),
    )


def _stage_bytes(
    deployment: Deployment, groups: Sequence[Group], grouping: Grouping
) -> tuple[int, ...]:
    stages = tuple(
        bytes_per_block(groups, stage, grouping) for stage in range(deployment.layout.pp)
    )
    if groups and 0 in stages:
        raise BadInput(
            f"Pipeline stage {stages.index(0)} of {len(stages)} has no layer with a cache of its "
            "own, and vLLM fails to start with such a stage; choose a smaller "
            "--pipeline-parallel-size."
        )
    return stages


def _grouping(deployment: Deployment) -> Grouping:
    rules = deployment.rules
    specs = [layer.spec for layer in deployment.model.cache_layers]
    return Grouping(
        rules,
        hybrid=rules.hybrid_groups and not deployment.disable_hybrid_kv_cache_manager.value,
        compressed=any(isinstance(spec, CompressedAttention) for spec in specs),
    )


def _horizon(deployment: Deployment) -> Horizon:
    batches = deployment.in_flight_batches if deployment.rules.window_in_flight else 1
    layout = deployment.layout
    shards = layout.dcp * (layout.pcp if deployment.rules.pcp_splits_positions else 1)
    return Horizon(batches * deployment.max_num_batched_tokens.value, shards)


def _kv_group(group: Group, horizon: Horizon) -> KvGroup:
    return KvGroup(
        kind=_title(group),
        layers=len(group.members),
        padding=group.padding,
        block_size=group.spec.block_size,
        page_bytes=group.spec.page_bytes,
        demand=_demand(group.spec, horizon),
    )


def _title(group: Group) -> str:
    titles = dict.fromkeys(layer.spec.title for layer in group.members)
    return " and ".join(titles)


def _demand(spec: LayerSpec, horizon: Horizon) -> GroupDemand:
    return GroupDemand(spec.use, spec.block_size, horizon)


def _stage_layers(
    deployment: Deployment, plan: PoolPlan, horizon: Horizon
) -> tuple[tuple[LayerNeed, ...], ...]:
    stages = []
    for stage in range(deployment.layout.pp):
        counted: dict[LayerSpec, int] = {}
        for layer in plan.layers:
            if layer.stage == stage:
                counted[layer.spec] = counted.get(layer.spec, 0) + 1
        stages.append(
            tuple(
                LayerNeed(count, spec.page_bytes, _demand(spec, horizon))
                for spec, count in counted.items()
            )
        )
    return tuple(stages)


def _replication(deployment: Deployment) -> int:
    """Ranks of one TP group that hold the same positions of the same KV heads."""
    tp = deployment.layout.tp
    kinds = [_distinct_shards(layer.spec) for layer in deployment.model.cache_layers]
    shards = [n for n in kinds if n]
    copies = tp // min(tp, max(shards)) if shards else 1
    return max(1, copies // deployment.layout.dcp)


def _distinct_shards(spec: CacheSpec) -> int:
    """Ranks that can hold different parts; 0 for states, which split by other rules."""
    if isinstance(spec, _WITH_HEADS):
        return spec.kv_heads
    return 0 if type(spec).__name__ in ("RecurrentState", "SharedWith") else 1
