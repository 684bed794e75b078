"""A rank's share of one tensor.

Sources: vLLM's ``layers/linear.py`` (column, row, QKV), ``vocab_parallel_embedding.py`` and
``fused_moe/config.py``. Shares that do not divide are rounded up: whether a layout is legal is
another question.
"""

from math import prod
from typing import Final

from vramledger.engine.vllm.deployment import Deployment
from vramledger.frozen import frozen
from vramledger.model.tensor import Role, Shard, Tensor
from vramledger.units import div_ceil, round_up

VOCAB_PADDING: Final = 64  # rows; the padded vocabulary is then divided by the ranks


@frozen
class Split:
    """Over how many ranks which tensors are spread."""

    tp: int  # dense layers
    expert_tp: int  # a single expert's matrices
    expert_ranks: int  # the experts of a layer; 1 without expert parallelism


@frozen
class Share:
    """What one rank holds of a tensor: `copies` matrices of ``[out, in]``."""

    out: int
    inp: int
    copies: int


def split_of(deployment: Deployment) -> Split:
    """The split of a deployment.

    Without expert parallelism a mixture spreads each expert over all ranks of all data-parallel
    engines; with it, whole experts are spread instead.
    """
    layout = deployment.layout
    if layout.expert_parallel:
        return Split(layout.tp, 1, layout.expert_ranks)
    across_engines = layout.dp if deployment.rules.v1 else 1
    return Split(layout.tp, layout.tp * across_engines * layout.pcp, 1)


def share_of(tensor: Tensor, split: Split) -> Share:
    """The largest share any rank of the split holds."""
    ranks = split.expert_tp if tensor.role is Role.EXPERT else split.tp
    shape = list(tensor.shape) or [1]
    match tensor.shard:
        case Shard.COLUMN:
            shape[0] = _part(shape[0], tensor.units, ranks)
        case Shard.ROW:
            shape[-1] = _part(shape[-1], tensor.units, ranks)
        case Shard.KV:
            shape[0] = _heads(shape[0], tensor.units, ranks)
        case Shard.VOCAB:
            shape[0] = div_ceil(round_up(shape[0], VOCAB_PADDING), ranks)
        case Shard.REPLICATED:
            pass
    copies = tensor.copies
    if tensor.role is Role.EXPERT:
        copies = div_ceil(copies, split.expert_ranks)
    if len(shape) == 1:
        return Share(shape[0], 1, copies)
    return Share(shape[0], prod(shape[1:]), copies)


def _part(length: int, units: int, ranks: int) -> int:
    """A share made of whole units; a `units` of 1 stands for single elements."""
    if units <= 1:
        return div_ceil(length, ranks)
    return div_ceil(units, ranks) * div_ceil(length, units)


def _heads(length: int, heads: int, ranks: int) -> int:
    """KV heads are divided, or repeated where ranks outnumber them."""
    return max(1, div_ceil(heads, ranks)) * div_ceil(length, heads)
