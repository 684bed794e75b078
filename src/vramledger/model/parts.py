"""Building blocks that architectures share: each returns the tensors of one block of one layer.

Shapes are ``[out, in]`` as checkpoints store them. `prefix` is the checkpoint's name up to the
block, with a closing dot.
"""

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


def norm(name: str, width: int, *, layer: int | None = None, bias: bool = False) -> list[Tensor]:
    """RMS norm (a weight) or layer norm (weight and bias)."""
    weight = Tensor(f"{name}.weight", (width,), Role.NORM, layer=layer)
    return [weight, Tensor(f"{name}.bias", (width,), Role.NORM, layer=layer)] if bias else [weight]


def embedding(name: str, rows: int, width: int) -> Tensor:
    """A token embedding, split over ranks by vocabulary."""
    return Tensor(f"{name}.weight", (rows, width), Role.EMBEDDING, Shard.VOCAB)


def head(name: str, rows: int, width: int, *, bias: bool = False) -> list[Tensor]:
    """An output head, split by vocabulary; quantisation schemes usually leave it out."""
    return linear(name, rows, width, Role.HEAD, Shard.VOCAB, bias=bias)


def attention(
    prefix: str,
    layer: int,
    *,
    hidden: int,
    heads: int,
    kv_heads: int,
    head_dim: int,
    qkv_bias: bool = False,
    out_bias: bool = False,
    v_dim: int = 0,
    out_name: str = "o_proj",
) -> list[Tensor]:
    """Grouped-query attention: separate q, k, v projections and the output projection."""
    value_dim = v_dim or head_dim
    role = Role.ATTENTION
    return [
        *linear(f"{prefix}q_proj", heads * head_dim, hidden, role, Shard.COLUMN,
                layer=layer, bias=qkv_bias, units=heads),
        *linear(f"{prefix}k_proj", kv_heads * head_dim, hidden, role, Shard.KV,
                layer=layer, bias=qkv_bias, units=kv_heads),
        *linear(f"{prefix}v_proj", kv_heads * value_dim, hidden, role, Shard.KV,
                layer=layer, bias=qkv_bias, units=kv_heads),
        *linear(f"{prefix}{out_name}", hidden, heads * value_dim, role, Shard.ROW,
                layer=layer, bias=out_bias, units=heads),
    ]  # fmt: skip


def gated_mlp(
    prefix: str,
    layer: int | None,
    *,
    hidden: int,
    intermediate: int,
    role: Role = Role.MLP,
    bias: bool = False,
    copies: int = 1,
) -> list[Tensor]:
    """Gate, up and down projections (SwiGLU and its kin); `copies` > 1 for a layer's experts."""
    return [
        *linear(f"{prefix}gate_proj", intermediate, hidden, role, Shard.COLUMN,
                layer=layer, bias=bias, copies=copies),
        *linear(f"{prefix}up_proj", intermediate, hidden, role, Shard.COLUMN,
                layer=layer, bias=bias, copies=copies),
        *linear(f"{prefix}down_proj", hidden, intermediate, role, Shard.ROW,
                layer=layer, bias=bias, copies=copies),
    ]  # fmt: skip
