"""The scheduler's settings of a deployment with a KV pool of known size."""

from collections.abc import Callable
from typing import Any, Final

from vramledger.engine.kv import KvGroup, KvPool
from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.kv.demand import GroupDemand, Growing, Stateful, Windowed
from vramledger.errors import BadInput, CannotKnow
from vramledger.simulate.groups import FullAttention, Group, RecurrentState, SlidingWindow
from vramledger.simulate.rules import scheduling_rules
from vramledger.simulate.settings import Order, Settings

_GROUPS: Final[dict[type, Callable[[Any], Group]]] = {
    Growing: lambda _use: FullAttention(),
    Windowed: lambda use: SlidingWindow(use.window),
    Stateful: lambda _use: RecurrentState(),
}


def settings_of(deployment: Deployment, pool: KvPool, *, prefix_caching: bool) -> Settings:
    """The arguments of one engine's scheduler.

    Raises:
        CannotKnow: a version, cache or feature whose scheduling is not simulated.
        BadInput: a scheduling flag that is no such value.
    """
    _refuse_unknown(deployment)
    groups = tuple(_group(group) for group in pool.layout.groups)
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
        async_scheduling=deployment.async_scheduling.value,
        rules=scheduling_rules(deployment.rules),
    )


def _refuse_unknown(deployment: Deployment) -> None:
    if not deployment.rules.v1:
        raise CannotKnow(
            f"vLLM {deployment.version} schedules by the rules of V0, which are not simulated; simulate "
            "a version from 0.9 on."
        )
    if deployment.layout.pp > 1:
        raise CannotKnow(
            f"The simulator runs one step after another, and {deployment.layout.pp} pipeline stages overlap "
            "them; simulate a layout with --pipeline-parallel-size 1."
        )
    if deployment.speculation is not None:
        raise CannotKnow(
            "How many drafts are accepted is not known before the server runs, so speculative decoding "
            "is not simulated; simulate the launch without its draft."
        )


def _group(group: KvGroup) -> Group:
    demand = group.demand
    use = demand.use if isinstance(demand, GroupDemand) else None
    if type(use) not in _GROUPS:
        raise CannotKnow(
            f"How the scheduler gives blocks to {group.kind} is not simulated; full attention, sliding "
            "windows and recurrent states are."
        )
    return _GROUPS[type(use)](use)


def _block_size(deployment: Deployment, pool: KvPool) -> int:
    """Tokens of a block, the same in every group that counts tokens."""
    sizes = {
        group.block_size
        for group in pool.layout.groups
        if not isinstance(_group(group), RecurrentState)
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
