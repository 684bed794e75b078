"""Rules about matrix shapes. Sources: ``layers/linear.py``, ``vocab_parallel_embedding.py``."""

from vramledger.engine.vllm.layouts.placement import Placement
from vramledger.engine.vllm.resident.split import VOCAB_PADDING
from vramledger.model.quantization.encoding import Family, Tiled
from vramledger.model.tensor import Shard, Tensor
from vramledger.units import round_up


def vocabulary(placement: Placement) -> str | None:
    """The vocabulary, padded to 64 rows, is divided over the ranks."""
    tp = placement.layout.tp
    for tensor in placement.model.tensors:
        padded = round_up(tensor.shape[0], VOCAB_PADDING)
        if tensor.shard is Shard.VOCAB and padded % tp:
            return (
                f"The vocabulary of {tensor.shape[0]} tokens, padded to {padded}, is not divisible "
                f"by a tensor-parallel size of {tp}; choose one that divides {padded}."
            )
    return None


def matrices(placement: Placement) -> str | None:
    """The split dimension of every column- and row-parallel layer is divided evenly.

    MXFP4 experts are cut in blocks of 32 and padded, so they always load.
    """
    for tensor in placement.model.tensors:
        ranks = placement.ranks_of(tensor)
        parts = _parts(tensor)
        if parts is None or parts % ranks == 0 or _padded_by_kernel(tensor):
            continue
        if tensor.units == placement.model.text.heads:
            continue  # the rule of query heads says so already
        what = "inputs" if tensor.shard is Shard.ROW else "outputs"
        unit = f"{parts} heads or groups" if tensor.units > 1 else f"{parts} {what}"
        return (
            f"The {unit} of {tensor.name} are not divisible over {ranks} ranks; "
            f"choose a tensor-parallel size that divides {parts}."
        )
    return None


def _parts(tensor: Tensor) -> int | None:
    """What must be divisible, None where the tensor is not cut."""
    if tensor.shard is Shard.COLUMN:
        return tensor.units if tensor.units > 1 else tensor.shape[0]
    if tensor.shard is Shard.ROW:
        return tensor.units if tensor.units > 1 else tensor.shape[-1]
    return None


def _padded_by_kernel(tensor: Tensor) -> bool:
    return isinstance(tensor.encoding, Tiled) and tensor.encoding.family is Family.MXFP4
