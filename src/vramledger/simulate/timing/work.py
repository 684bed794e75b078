"""What each GPU of a replica has to do in a step: a deployment as amounts of work."""

from vramledger.engine.vllm.deployment import Deployment
from vramledger.errors import CannotKnow
from vramledger.frozen import frozen
from vramledger.hardware.accelerator import Accelerator
from vramledger.simulate.timing.arithmetic import plain_peak
from vramledger.simulate.timing.cache_reads import CacheRead, stage_reads
from vramledger.simulate.timing.launches import Launches, stage_launches
from vramledger.simulate.timing.link import Link, link_between
from vramledger.simulate.timing.matrices import Weights, stage_weights

_NO_SLOW_EXPERTS_FROM = (0, 17)  # releases whose FP8 expert kernels are tuned


@frozen
class Stage:
    """The work of one GPU of a pipeline stage."""

    weights: Weights
    reads: tuple[CacheRead, ...]
    launches: Launches
    layers: int


@frozen
class Work:
    """One replica of a deployment, by stage."""

    stages: tuple[Stage, ...]
    accelerator: Accelerator
    bandwidth: float  # sheet bytes/s of memory
    plain_peak: float  # sheet flop/s of 16-bit products
    hidden: int
    experts: int  # of a layer, over all GPUs; 0 where there are none
    experts_per_token: int
    expert_ranks: int  # ranks that share the experts whole
    replicas: int  # data-parallel engines whose tokens meet at the experts
    tensor_link: Link
    replica_link: Link
    synchronous: bool
    slow_experts: bool
    budget: int  # tokens of a step


def work_of(deployment: Deployment) -> Work:
    """The work of a deployment.

    Raises:
        CannotKnow: the catalogue lacks the card's bandwidth, peak or link.
    """
    card, layout = deployment.accelerator, deployment.layout
    if card.bandwidth_gb_s is None:
        raise CannotKnow(
            f"The catalogue has no memory bandwidth of {card.name}, so no step can be timed on it."
        )
    mixture = deployment.model.text.experts
    return Work(
        stages=tuple(_stage(deployment, stage) for stage in range(layout.pp)),
        accelerator=card,
        bandwidth=card.bandwidth_gb_s * 1e9,
        plain_peak=plain_peak(card),
        hidden=deployment.model.text.hidden,
        experts=mixture.count if mixture else 0,
        experts_per_token=mixture.per_token if mixture else 0,
        expert_ranks=layout.expert_ranks,
        replicas=layout.dp,
        tensor_link=link_between(card, layout.tp),
        replica_link=link_between(card, layout.tp * layout.dp),
        synchronous=not deployment.async_scheduling.value,
        slow_experts=_family(deployment) < _NO_SLOW_EXPERTS_FROM,
        budget=deployment.max_num_batched_tokens.value,
    )


def _family(deployment: Deployment) -> tuple[int, ...]:
    return tuple(int(part) for part in deployment.rules.family.split("."))


def _stage(deployment: Deployment, stage: int) -> Stage:
    launches = stage_launches(deployment, stage)
    return Stage(
        weights=stage_weights(deployment, stage),
        reads=stage_reads(deployment, stage),
        launches=launches,
        layers=launches.layers,
    )
