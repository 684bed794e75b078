"""vLLM's own parameters: neighbouring projections of a checkpoint are one allocation each.

Source: ``packed_modules_mapping`` of the model classes and the fused MoE layer.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Final

from vramledger.engine.vllm.resident.split import Split, share_of
from vramledger.frozen import frozen
from vramledger.model.dtype import DType
from vramledger.model.tensor import Encoding, Role, Shard, Tensor

_FUSED: Final[Mapping[str, str]] = {
    "q_proj": "qkv_proj",
    "k_proj": "qkv_proj",
    "v_proj": "qkv_proj",
    "query": "qkv_proj",
    "key": "qkv_proj",
    "value": "qkv_proj",
    "gate_proj": "gate_up_proj",
    "up_proj": "gate_up_proj",
    "w1": "w13",
    "w3": "w13",
    "q_a_proj": "fused_qkv_a_proj",
    "kv_a_proj_with_mqa": "fused_qkv_a_proj",
    "in_proj_qkv": "in_proj_qkvz",
    "in_proj_z": "in_proj_qkvz",
    "in_proj_b": "in_proj_ba",
    "in_proj_a": "in_proj_ba",
}


@frozen
class Parameter:
    """One of vLLM's parameters on one rank: pieces of outputs over the same inputs."""

    name: str
    role: Role
    outs: tuple[int, ...]  # outputs of each fused piece
    inp: int  # 1 for vectors
    copies: int  # experts that share the allocation
    vector: bool  # biases, norms
    row: bool  # the inputs are the dimension that ranks share
    dtype: DType
    encoding: Encoding | None
    full_inp: int  # inputs before the split

    @property
    def out(self) -> int:
        return sum(self.outs)

    @property
    def elements(self) -> int:
        return self.out * self.inp * self.copies


def parameters(tensors: Iterable[Tensor], split: Split, default: DType) -> list[Parameter]:
    """The parameters of one rank; `default` is the element type of what says nothing else."""
    found: dict[tuple[object, ...], list[Parameter]] = {}
    for tensor in tensors:
        piece = _single(tensor, split, default)
        encoding = piece.encoding.name if piece.encoding is not None else ""
        key = (piece.name, encoding, piece.inp, piece.copies, piece.dtype)
        found.setdefault(key, []).append(piece)
    return [_fused(pieces) for pieces in found.values()]


def _fused(pieces: Sequence[Parameter]) -> Parameter:
    """One parameter with the outputs of all pieces."""
    if len(pieces) == 1:
        return pieces[0]
    return replace(pieces[0], outs=tuple(out for piece in pieces for out in piece.outs))


def _single(tensor: Tensor, split: Split, default: DType) -> Parameter:
    share = share_of(tensor, split)
    return Parameter(
        name=fused_name(tensor.name),
        role=tensor.role,
        outs=(share.out,),
        inp=share.inp,
        copies=share.copies,
        vector=len(tensor.shape) < 2,
        row=tensor.shard is Shard.ROW,
        dtype=tensor.dtype or default,
        encoding=tensor.encoding,
        full_inp=prod(tensor.shape[1:]),
    )


def fused_name(name: str) -> str:
    """The name of the parameter that holds a tensor."""
    module, _, last = name.rpartition(".")
    parent, _, leaf = module.rpartition(".")
    return f"{parent}.{_FUSED.get(leaf, leaf)}.{last}"
