"""Which decoder layers a pipeline stage holds.

Source: vllm/distributed/utils.py, get_pp_indices; ``VLLM_PP_LAYER_PARTITION`` overrides it.
"""

from vramledger.engine.vllm.deployment import Deployment
from vramledger.errors import BadInput

_PARTITION = "VLLM_PP_LAYER_PARTITION"


def stage_layers(deployment: Deployment) -> tuple[range, ...]:
    """Decoder layers of each pipeline stage, in order.

    Raises:
        BadInput: the partition given in the environment does not add up.
    """
    stages, layers = deployment.layout.pp, deployment.model.text.layers
    given = deployment.environment.get(_PARTITION)
    sizes = _given_sizes(given, stages, layers) if given else _own_sizes(deployment)
    ends = [sum(sizes[: i + 1]) for i in range(stages)]
    return tuple(range(end - size, end) for end, size in zip(ends, sizes, strict=True))


def stage_of(deployment: Deployment) -> tuple[int, ...]:
    """The stage that holds each decoder layer."""
    return tuple(stage for stage, layers in enumerate(stage_layers(deployment)) for _ in layers)


def _own_sizes(deployment: Deployment) -> list[int]:
    stages, layers = deployment.layout.pp, deployment.model.text.layers
    sizes = [layers // stages] * stages
    left = layers % stages
    if deployment.rules.uneven_stages_in_middle:
        for i in range(2, left + 2):
            sizes[-i] += 1
    else:
        sizes[-1] += left
    return sizes


def _given_sizes(text: str, stages: int, layers: int) -> list[int]:
    parts = text.split(",")
    if not all(part.strip().isdigit() for part in parts):
        raise BadInput(
            f"{_PARTITION} is {text!r}; write the layers of each stage, such as 20,20,24."
        )
    sizes = [int(part) for part in parts]
    if len(sizes) != stages or sum(sizes) != layers:
        raise BadInput(
            f"{_PARTITION} gives {len(sizes)} stages with {sum(sizes)} layers in all; "
            f"the deployment has {stages} stages and the model {layers} layers."
        )
    return sizes
