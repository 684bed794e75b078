"""What each GPU of a replica has to do in a step: a deployment as amounts of work."""

from collections.abc import Callable
from enum import StrEnum
from typing import Final

from vramledger.engine.vllm.deployment import Deployment
from vramledger.errors import BadInput, CannotKnow
from vramledger.frozen import frozen
from vramledger.hardware.accelerator import Accelerator
from vramledger.simulate.timing.arithmetic import plain_peak
from vramledger.simulate.timing.cache_reads import CacheRead, stage_reads
from vramledger.simulate.timing.launches import Launches, stage_launches
from vramledger.simulate.timing.link import Link, link_between
from vramledger.simulate.timing.matrices import Weights, stage_weights

_READS_TUNED: Final = (0, 13)  # the release from which FP8 experts are read at full speed
_KERNELS_FUSED: Final = (0, 17)  # the release from which their layers take no further kernels
_NO_GRAPHS: Final = "NONE"
_DECODE_GRAPHS: Final = "FULL_DECODE_ONLY"


class Launching(StrEnum):
    """How the kernels of a step reach the GPU."""

    GRAPH = "graph"  # replayed; the host does not count
    COMPILED = "compiled"  # by compiled code, one after another
    EAGER = "eager"  # from Python, one after another


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
    slow_reads: bool  # of FP8 experts
    more_kernels: bool  # in layers of FP8 experts
    decode_launching: Launching
    prefill_launching: Launching
    largest_graph: int  # tokens of the largest captured step
    budget: int  # tokens of a step


def stages_of(deployment: Deployment) -> tuple[Stage, ...]:
    """The work of its pipeline stages; the length limit has no part in it.

    Raises:
        BadInput: there are more stages than layers.
        CannotKnow: the catalogue lacks the card's peak.
    """
    pp, layers = deployment.layout.pp, deployment.model.text.layers
    if pp > max(layers, 1):
        raise BadInput(
            f"{pp} pipeline stages are more than the model's {layers} layers; use fewer stages."
        )
    return tuple(_stage(deployment, stage) for stage in range(pp))


Staging = Callable[[Deployment], tuple[Stage, ...]]


def work_of(deployment: Deployment, staging: Staging = stages_of) -> Work:
    """The work of a deployment; `staging` is `stages_of`, or what remembers what it said.

    Raises:
        BadInput: there are more pipeline stages than layers.
        CannotKnow: the catalogue lacks the card's bandwidth, peak or link.
    """
    card, layout = deployment.accelerator, deployment.layout
    if card.bandwidth_gb_s is None:
        raise CannotKnow(
            f"The catalogue has no memory bandwidth of {card.name}, so no step can be timed on it."
        )
    mixture = deployment.model.text.experts
    return Work(
        stages=staging(deployment),
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
        slow_reads=_family(deployment) < _READS_TUNED,
        more_kernels=_READS_TUNED <= _family(deployment) < _KERNELS_FUSED,
        decode_launching=_decode_launching(deployment),
        prefill_launching=_prefill_launching(deployment),
        largest_graph=max(deployment.cudagraph_capture_sizes.value, default=0),
        budget=deployment.max_num_batched_tokens.value,
    )


def _decode_launching(deployment: Deployment) -> Launching:
    if deployment.enforce_eager.value:
        return Launching.EAGER
    return Launching.COMPILED if deployment.cudagraph_mode == _NO_GRAPHS else Launching.GRAPH


def _prefill_launching(deployment: Deployment) -> Launching:
    """Graphs of decodes alone leave prompts to Python: their graph is not split for compiled pieces."""
    eager = deployment.enforce_eager.value or deployment.cudagraph_mode == _DECODE_GRAPHS
    return Launching.EAGER if eager else Launching.COMPILED


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
