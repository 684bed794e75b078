"""The weight matrices that one GPU multiplies by in a step, summed by format.

A roofline of equal terms is homogeneous: matrices of one format have the same ratio of bytes to flops,
so their sum is priced as one.
"""

from collections.abc import Iterable
from typing import Final

from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.resident.parameter import Parameter, parameters
from vramledger.engine.vllm.resident.split import split_of
from vramledger.engine.vllm.stages import stage_layers
from vramledger.engine.vllm.weights import served_model
from vramledger.frozen import frozen
from vramledger.model.model import Model
from vramledger.model.tensor import Role, Tensor
from vramledger.simulate.timing.arithmetic import Arithmetic, arithmetic_of

_DENSE: Final = frozenset(
    {Role.ATTENTION, Role.INDEXER, Role.STATE, Role.MLP, Role.SHARED_EXPERT, Role.ROUTER}
)


@frozen
class Matrices:
    """Dense matrices of one format on one GPU."""

    arithmetic: Arithmetic
    elements: float
    bytes: float


@frozen
class ExpertMatrices:
    """Routed experts of equal layers on one GPU."""

    arithmetic: Arithmetic
    layers: int
    resident: int  # experts of a layer that this GPU holds (or holds its part of)
    elements: float  # of one expert, this GPU's part
    bytes: float


@frozen
class Weights:
    """All that one pipeline stage multiplies by."""

    dense: tuple[Matrices, ...]
    experts: tuple[ExpertMatrices, ...]
    head: Matrices | None  # on the last stage; multiplied only by the rows that need logits


def stage_weights(deployment: Deployment, stage: int) -> Weights:
    """The matrices of one GPU of that stage."""
    model = served_model(deployment)
    layers = stage_layers(deployment)[stage]
    inside = [t for t in model.tensors if t.layer is not None and t.layer in layers]
    found = parameters(inside, split_of(deployment), deployment.dtype.value)
    matrices = [p for p in found if not p.vector]
    last = stage == deployment.layout.pp - 1
    return Weights(
        dense=_summed(deployment, (p for p in matrices if p.role in _DENSE)),
        experts=_experts(deployment, inside),
        head=_head(deployment, model) if last else None,
    )


def _summed(deployment: Deployment, found: Iterable[Parameter]) -> tuple[Matrices, ...]:
    sums: dict[Arithmetic, tuple[float, float]] = {}
    for parameter in found:
        how = arithmetic_of(parameter.encoding, deployment.accelerator)
        elements, size = sums.get(how, (0.0, 0.0))
        sums[how] = (elements + parameter.elements, size + _bytes(parameter))
    return tuple(Matrices(how, *both) for how, both in sums.items())


def _experts(deployment: Deployment, inside: list[Tensor]) -> tuple[ExpertMatrices, ...]:
    """Layers with the same experts together; the parts of one expert are added up."""
    counted: dict[ExpertMatrices, int] = {}
    by_layer: dict[int, list[Tensor]] = {}
    for tensor in inside:
        if tensor.role is Role.EXPERT and tensor.layer is not None:
            by_layer.setdefault(tensor.layer, []).append(tensor)
    for tensors in by_layer.values():
        found = parameters(tensors, split_of(deployment), deployment.dtype.value)
        matrices = [p for p in found if not p.vector]
        copies = matrices[0].copies
        layer = ExpertMatrices(
            arithmetic_of(matrices[0].encoding, deployment.accelerator),
            1,
            copies,
            sum(p.elements for p in matrices) / copies,
            sum(_bytes(p) for p in matrices) / copies,
        )
        counted[layer] = counted.get(layer, 0) + 1
    return tuple(
        ExpertMatrices(e.arithmetic, layers, e.resident, e.elements, e.bytes)
        for e, layers in counted.items()
    )


def _head(deployment: Deployment, model: Model) -> Matrices | None:
    """The output projection; models with tied embeddings multiply by the embedding."""
    wanted = (Role.EMBEDDING,) if model.tied_embeddings else (Role.HEAD,)
    tensors = [t for t in model.tensors if t.role in wanted and len(t.shape) == 2]
    found = parameters(tensors[:1], split_of(deployment), deployment.dtype.value)
    summed = _summed(deployment, found)
    return summed[0] if summed else None


def _bytes(parameter: Parameter) -> float:
    if parameter.encoding is None:
        return parameter.elements * parameter.dtype.nbytes
    return parameter.copies * parameter.encoding.nbytes((parameter.out, parameter.inp))
