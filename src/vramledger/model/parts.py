"""Building blocks that architectures share: each returns the tensors of one block of one layer.

Shapes are ``[out, in]`` as checkpoints store them. `prefix` is the checkpoint's name up to the
block, with a closing dot.
"""

from vramledger.model.dtype import DType
from vramledger.model.tensor import Role, Shard, Tensor


def linear(
    name: str,
    out: int,
    inp: int,
    role: Role,
    shard: Shard,
    *,
    layer: int | None = None,
    bias: bool = False,
    units: int = 1,
    copies: int = 1,
) -> list[Tensor]:
    """A weight matrix and, when asked, its bias; a row-split layer keeps its bias whole."""
    weight = Tensor(f"{name}.weight", (out, inp), role, shard, layer, copies, units, linear=True)
    if not bias:
        return [weight]
    bias_shard = Shard.REPLICATED if shard is Shard.ROW else shard
    return [weight, Tensor(f"{name}.bias", (out,), role, bias_shard, layer, copies, units)]


def norm(
    name: str,
    width: int,
    *,
    layer: int | None = None,
    bias: bool = False,
    class_dtype: DType | None = None,
) -> list[Tensor]:
    """RMS norm (a weight) or layer norm (weight and bias)."""
    return [
        Tensor(f"{name}.{part}", (width,), Role.NORM, layer=layer, class_dtype=class_dtype)
        for part in (("weight", "bias") if bias else ("weight",))
    ]


def embedding(name: str, rows: int, width: int) -> Tensor:
    """A token embedding, split over ranks by vocabulary."""
    return Tensor(f"{name}.weight", (rows, width), Role.EMBEDDING, Shard.VOCAB)


def head(name: str, rows: int, width: int, *, bias: bool = False) -> list[Tensor]:
    """An output head, split by vocabulary; quantisation schemes usually leave it out."""
    return linear(name, rows, width, Role.HEAD, Shard.VOCAB, bias=bias)
