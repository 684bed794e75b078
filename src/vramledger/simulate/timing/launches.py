"""Kernels that one GPU launches in a step, counted from the operators of each layer.

A layer of small matrices is bound by its launches, not by its bytes; their number follows from the graph
of operators: normalisation, projections, position encoding, cache write, attention, and so on.
"""

from collections.abc import Mapping
from typing import Final

from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.stages import stage_layers
from vramledger.engine.vllm.weights import served_model
from vramledger.frozen import frozen
from vramledger.model.model import Model
from vramledger.model.tensor import Role, Tensor
from vramledger.simulate.timing.arithmetic import Format, arithmetic_of

_ATTENTION: Final = 7  # norm, qkv, rope, cache write, attention, output, norm
_HEAD_NORMS: Final = 2  # of queries and keys
_LATENT: Final = 6  # projections down and up, their norms, absorbed products
# queries, keys, weights, norm, two rotations, two quantisations, cache write, scores, top-k, and the
# translation of what it chose
_INDEXER: Final = 14
_STATE: Final = 10  # projections, convolution, gates, scan, norm, output
_MLP: Final = 3  # gate and up, activation, down
_QUANTISE: Final = 2
_SHARED: Final = 3
# router, top-k, sort, product, activation, product, sum, glue; fused in part for small formats
_EXPERTS: Final[Mapping[Format, int]] = {
    Format.BF16: 8,
    Format.WEIGHT_ONLY: 8,
    Format.INT8: 10,
    Format.FP8: 10,
    Format.FP4: 5,
    Format.MXFP4: 8,
    Format.MXFP4_FP8: 4,
}


@frozen
class Launches:
    """Kernels of a step and reductions between the ranks of a tensor-parallel group."""

    layers: int
    kernels: int
    all_reduces: int
    expert_layers: int


def stage_launches(deployment: Deployment, stage: int) -> Launches:
    """The launches of one GPU of that stage."""
    model = served_model(deployment)
    by_layer: dict[int, list[Tensor]] = {layer: [] for layer in stage_layers(deployment)[stage]}
    for tensor in model.tensors:
        if tensor.layer in by_layer:
            by_layer[tensor.layer].append(tensor)
    kernels = reduces = experts = 0
    for tensors in by_layer.values():
        kernels += _kernels(deployment, tensors)
        reduces += _reduces(model, tensors)
        experts += any(tensor.role is Role.EXPERT for tensor in tensors)
    return Launches(len(by_layer), kernels, reduces, experts)


def _kernels(deployment: Deployment, tensors: list[Tensor]) -> int:
    roles = {tensor.role for tensor in tensors}
    count = 0
    if Role.ATTENTION in roles:
        count += _ATTENTION + _of_names(tensors) + _quantised(deployment, tensors, Role.ATTENTION)
    if Role.STATE in roles:
        count += _STATE + _quantised(deployment, tensors, Role.STATE)
    if Role.INDEXER in roles:
        count += _INDEXER
    if Role.MLP in roles:
        count += _MLP + _quantised(deployment, tensors, Role.MLP)
    if Role.SHARED_EXPERT in roles:
        count += _SHARED
    if Role.EXPERT in roles:
        count += _expert_kernels(deployment, tensors)
    return count


def _of_names(tensors: list[Tensor]) -> int:
    names = " ".join(tensor.name for tensor in tensors)
    count = _HEAD_NORMS if _has_head_norms(names) else 0
    return count + (_LATENT if "kv_b_proj" in names else 0)


def _has_head_norms(names: str) -> bool:
    return "q_norm" in names or "q_layernorm" in names


def _quantised(deployment: Deployment, tensors: list[Tensor], role: Role) -> int:
    for tensor in tensors:
        if tensor.role is role and tensor.encoding is not None:
            how = arithmetic_of(tensor.encoding, deployment.accelerator)
            return _QUANTISE if how.quantises else 0
    return 0


def _expert_kernels(deployment: Deployment, tensors: list[Tensor]) -> int:
    encoding = next(t.encoding for t in tensors if t.role is Role.EXPERT and t.linear)
    return _EXPERTS[arithmetic_of(encoding, deployment.accelerator).format]


def _reduces(model: Model, tensors: list[Tensor]) -> int:
    """One after attention or state, one after the MLP; a third where a norm spans sharded heads."""
    roles = {tensor.role for tensor in tensors}
    count = int(bool(roles & {Role.ATTENTION, Role.STATE}))
    count += int(bool(roles & {Role.MLP, Role.EXPERT, Role.SHARED_EXPERT}))
    wide = any(
        tensor.role is Role.NORM
        and "q_norm" in tensor.name
        and tensor.shape[0] > model.text.head_dim
        for tensor in tensors
    )
    return count + int(wide)
