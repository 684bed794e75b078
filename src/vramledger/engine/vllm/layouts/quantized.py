"""Rules about quantised weights: what a rank's share must be a multiple of, and who can run it.

Sources: ``quantization/{awq,gptq}.py``, ``compressed_tensors_wNa16.py``,
``utils/fp8_utils.py`` (validate_fp8_block_shape), ``bitsandbytes_loader.py`` and each method's
``get_min_capability``.
"""

from collections.abc import Callable, Mapping
from typing import Final

from vramledger.engine.vllm.layouts.placement import Placement
from vramledger.hardware.accelerator import Vendor
from vramledger.model.quantization.encoding import Family, Flat, Packing, Part, Tiled
from vramledger.model.tensor import Shard, Tensor

_GROUPED: Final = frozenset({Family.GPTQ, Family.AWQ, Family.PACKED_INT, Family.NVFP4})
Capability = tuple[int, int]
# Oldest NVIDIA compute capability a method runs on, and where that became looser.
_OLDEST: Final[Mapping[str, Callable[[Placement], Capability]]] = {
    "fp8": lambda placement: _or_turing(placement, (8, 0)),
    "fbgemm_fp8": lambda _: (8, 0),
    "awq": lambda _: (7, 5),
    "gptq": lambda _: (6, 0),
    "compressed-tensors": lambda _: (7, 0),
    "bitsandbytes": lambda _: (7, 0),
    "mxfp4": lambda _: (8, 0),
    "modelopt": lambda placement: (8, 0) if placement.rules.modelopt_ampere else (8, 9),
    "nvfp4": lambda placement: _or_turing(placement, (8, 0)),
    "experts_int8": lambda _: (8, 0),
}
_LOOSER: Final[Capability] = (7, 5)


def groups(placement: Placement) -> str | None:
    """A row-split share holds whole groups of inputs, a share of outputs whole packed words."""
    for tensor in placement.model.tensors:
        encoding = tensor.encoding
        if not isinstance(encoding, Tiled) or encoding.family not in _GROUPED:
            continue
        message = _inputs(placement, tensor, encoding) or _words(placement, tensor, encoding)
        if message is not None:
            return message
    return None


def _inputs(placement: Placement, tensor: Tensor, encoding: Tiled) -> str | None:
    if "act-order" in encoding.name:
        return None  # the scales are repeated whole on every rank
    ranks = placement.ranks_of(tensor) if tensor.shard is Shard.ROW else 1
    inputs = tensor.shape[-1]
    group = max((part.in_tile for part in encoding.parts if _is_scale(part)), default=0)
    if group == 0 or inputs % ranks or (inputs // ranks) % group == 0:
        return None
    return (
        f"A rank's share of {tensor.name}, {inputs // ranks} inputs, is not a multiple of the "
        f"quantisation group of {group}; use fewer ranks or a checkpoint with smaller groups."
    )


def _words(placement: Placement, tensor: Tensor, encoding: Tiled) -> str | None:
    packed = [part for part in encoding.parts if part.packing is Packing.OUTPUTS]
    ranks = placement.ranks_of(tensor) if tensor.shard in {Shard.COLUMN, Shard.KV} else 1
    outputs = tensor.shape[0]
    for part in packed:
        multiple = part.word_bits // part.bits
        if outputs % ranks == 0 and (outputs // ranks) % multiple:
            return (
                f"A rank's share of {tensor.name}, {outputs // ranks} outputs, does not fill "
                f"packed words of {multiple}; use fewer ranks."
            )
    return None


def _is_scale(part: Part) -> bool:
    return part.name in {"scales", "weight_scale"}


def blocks(placement: Placement) -> str | None:
    """Shares of block-quantised FP8 weights are whole blocks, once they are cut at all."""
    for tensor in placement.model.tensors:
        encoding = tensor.encoding
        ranks = placement.ranks_of(tensor)
        if ranks == 1 or not isinstance(encoding, Tiled) or encoding.family is not Family.FP8:
            continue
        scale = encoding.parts[1]
        if tensor.shard is Shard.ROW and scale.in_tile > 1:
            share, tile, what = tensor.shape[-1] // ranks, scale.in_tile, "inputs"
        elif tensor.shard in {Shard.COLUMN, Shard.KV} and scale.out_tile > 1:
            share, tile, what = _outputs(tensor, ranks), scale.out_tile, "outputs"
        else:
            continue
        if share % tile:
            return (
                f"A rank's share of {tensor.name}, {share} {what}, is not a multiple of the FP8 "
                f"block of {tile}; use fewer ranks, or expert parallelism where these are experts."
            )
    return None


def _outputs(tensor: Tensor, ranks: int) -> int:
    if tensor.shard is Shard.KV and ranks > tensor.units:
        return tensor.shape[0] // tensor.units
    return tensor.shape[0] // ranks


def prequantized_bitsandbytes(placement: Placement) -> str | None:
    """Checkpoints stored in bitsandbytes could not be cut over ranks up to 0.10."""
    stored = any(isinstance(tensor.encoding, Flat) for tensor in placement.model.tensors)
    if placement.layout.tp == 1 or not stored or placement.rules.bnb_cuts_stored:
        return None
    return (
        "This version cannot cut weights that are stored in bitsandbytes format over "
        f"{placement.layout.tp} ranks; use pipeline parallelism instead."
    )


def capability(placement: Placement) -> str | None:
    """The accelerator must be new enough for the method's kernels."""
    scheme, accelerator = placement.model.quantization, placement.accelerator
    if scheme is None or accelerator is None or accelerator.vendor is not Vendor.NVIDIA:
        return None
    own = accelerator.compute_capability
    oldest = _OLDEST.get(scheme.method)
    if own is None or oldest is None or own >= oldest(placement):
        return None
    needed = oldest(placement)
    return (
        f"{scheme.method} weights need compute capability {needed[0]}.{needed[1]}; "
        f"{accelerator.name} has {own[0]}.{own[1]}."
    )


def _or_turing(placement: Placement, before: Capability) -> Capability:
    return _LOOSER if placement.rules.turing_fp8 else before
