"""The scheduler's settings of a deployment with a KV pool of known size."""

from collections.abc import Callable
from typing import Any, Final

from vramledger.engine.kv import KvGroup, KvPool
from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.kv.demand import GroupDemand, Growing, Stateful, Windowed
from vramledger.errors import BadInput, CannotKnow
from vramledger.simulate.drafting import speculation_of
from vramledger.simulate.groups import FullAttention, Group, RecurrentState, SlidingWindow
from vramledger.simulate.rules import scheduling_rules
from vramledger.simulate.settings import Order, Settings

_GROUPS: Final[dict[type, Callable[[Any, int], Group]]] = {
    Growing: lambda _use, _drafts: FullAttention(),
    Windowed: lambda use, _drafts: SlidingWindow(use.window),
    Stateful: lambda _use, drafts: RecurrentState(drafts),
}


def settings_of(
    deployment: Deployment,
    pool: KvPool,
    *,
    prefix_caching: bool,
    acceptance: float | None = None,
) -> Settings:
    """The arguments of one engine's scheduler.

    `acceptance` is the assumed share of drafts accepted at each position, for a launch that speculates.

    Raises:
        CannotKnow: a version, cache or feature whose scheduling is not simulated, or drafts without an acceptance.
        BadInput: a scheduling flag that is no such value, or an acceptance without drafts.
    """
    _refuse_unknown(deployment)
    speculation = speculation_of(deployment, acceptance)
    groups = tuple(_group(group, deployment.draft_tokens) for group in pool.layout.groups)
    if not groups:
        raise CannotKnow(
            f"{deployment.model.id} keeps no KV cache, so there is no pool to simulate; vram predict "
            "times its steps."
        )
    return Settings(
        num_blocks=pool.num_blocks,
        block_size=_block_size(deployment, pool),
        token_budget=deployment.max_num_batched_tokens.value,
        max_num_seqs=deployment.max_num_seqs.value,
        max_model_len=pool.max_model_len,
        groups=groups,
        prefix_caching=prefix_caching,
        chunked_prefill=deployment.enable_chunked_prefill.value,
        long_prefill_threshold=_threshold(deployment),
        order=_order(deployment),
        speculation=speculation,
        async_scheduling=deployment.async_scheduling.value and deployment.layout.pp == 1,
        pipeline_stages=deployment.layout.pp,
        rules=scheduling_rules(deployment.rules),
    )


def _refuse_unknown(deployment: Deployment) -> None:
    if not deployment.rules.v1:
        raise CannotKnow(
            f"vLLM {deployment.version} schedules by the rules of V0, which are not simulated; simulate "
            "a version from 0.9 on."
        )
    if deployment.layout.pp > 1 and deployment.speculation is not None:
        raise CannotKnow(
            f"Drafts that are verified over {deployment.layout.pp} pipeline stages are not simulated; simulate the "
            "launch without its draft, or with --pipeline-parallel-size 1."
        )


def _group(group: KvGroup, drafts: int) -> Group:
    demand = group.demand
    use = demand.use if isinstance(demand, GroupDemand) else None
    if type(use) not in _GROUPS:
        raise CannotKnow(
            f"How the scheduler gives blocks to {group.kind} is not simulated; full attention, sliding "
            "windows and recurrent states are."
        )
    return _GROUPS[type(use)](use, drafts)


def _block_size(deployment: Deployment, pool: KvPool) -> int:
    """Tokens of a block, the same in every group that counts tokens."""
    sizes = {
        group.block_size
        for group in pool.layout.groups
        if not isinstance(_group(group, 0), RecurrentState)
    } or {pool.layout.block_size}
    if len(sizes) > 1:
        raise CannotKnow(
            f"The KV cache groups have blocks of {' and '.join(map(str, sorted(sizes)))} tokens, and the "
            "simulator has one size for all; set --block-size, or simulate another version."
        )
    return sizes.pop() * deployment.layout.dcp * deployment.layout.pcp


def _threshold(deployment: Deployment) -> int:
    given = deployment.launch.flag("long-prefill-token-threshold")
    value = "0" if given is None or given.value is None else given.value
    if not value.isascii() or not value.isdigit():
        raise BadInput(
            f"--long-prefill-token-threshold is {value}; it must be a whole number of at least 0."
        )
    return int(value)


def _order(deployment: Deployment) -> Order:
    given = deployment.launch.flag("scheduling-policy")
    value = Order.FCFS if given is None or given.value is None else given.value
    if value not in tuple(Order):
        raise BadInput(f"--scheduling-policy is {value}; vLLM knows fcfs and priority.")
    return Order(value)
