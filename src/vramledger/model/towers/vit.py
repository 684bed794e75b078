"""The transformer inside image encoders; families differ in names, norms, biases and gates."""

from math import isclose
from typing import Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.model.config import Config
from vramledger.model.parts import linear
from vramledger.model.tensor import Role, Shard, Tensor

LARGEST_DEPTH: Final = 1024


@frozen
class VitNames:
    """What a checkpoint calls the parts of a layer; ``{}`` in `layer` is its number."""

    layer: str
    norms: tuple[str, ...]
    qkv: tuple[str, ...]  # three projections, or one that yields all
    out: str
    mlp: tuple[str, ...]  # up and down, or gate, up and down
    head_norms: tuple[str, ...] = ()  # norms of queries and keys over one head


@frozen
class Vit:
    """A stack of equal layers; attention splits by heads, the MLP by columns and rows."""

    hidden: int
    depth: int
    heads: int
    intermediate: int
    names: VitNames
    norm_bias: bool = True
    qkv_bias: bool = True
    out_bias: bool = True
    mlp_bias: bool = True
    head_dim: int = 0  # 0: hidden / heads
    kv_heads: int = 0  # 0: as many as query heads

    def tensors(self, prefix: str, role: Role = Role.VISION) -> list[Tensor]:
        """The weights of all layers; `prefix` ends before the first layer's name.

        Raises:
            BadInput: the heads do not divide the width.
        """
        found: list[Tensor] = []
        for i in range(self.depth):
            found += self._layer(f"{prefix}{self.names.layer.format(i)}", role)
        return found

    @property
    def _head_dim(self) -> int:
        if not self.head_dim and self.hidden % self.heads:
            raise BadInput(
                f"A vision tower of width {self.hidden} cannot have {self.heads} heads; "
                "correct its 'hidden_size' or its number of heads."
            )
        return self.head_dim or self.hidden // self.heads

    def _layer(self, base: str, role: Role) -> list[Tensor]:
        found: list[Tensor] = []
        for name in self.names.norms:
            found += layer_norm(f"{base}{name}", self.hidden, role, bias=self.norm_bias)
        for name in self.names.head_norms:
            found += layer_norm(f"{base}{name}", self._head_dim, role, bias=False)
        return [*found, *self._attention(base, role), *self._mlp(base, role)]

    def _attention(self, base: str, role: Role) -> list[Tensor]:
        heads, kv_heads, width = self.heads, self.kv_heads or self.heads, self._head_dim
        names = self.names.qkv * 3 if len(self.names.qkv) == 1 else self.names.qkv
        splits = ((heads, Shard.COLUMN), (kv_heads, Shard.KV), (kv_heads, Shard.KV))
        found: list[Tensor] = []
        for name, (count, shard) in zip(names, splits, strict=True):
            found += linear(f"{base}{name}", count * width, self.hidden, role, shard,
                            bias=self.qkv_bias, units=count)  # fmt: skip
        return found + linear(f"{base}{self.names.out}", self.hidden, heads * width, role,
                              Shard.ROW, bias=self.out_bias, units=heads)  # fmt: skip

    def _mlp(self, base: str, role: Role) -> list[Tensor]:
        *ups, down = self.names.mlp
        found: list[Tensor] = []
        for name in ups:
            found += linear(f"{base}{name}", self.intermediate, self.hidden, role, Shard.COLUMN,
                            bias=self.mlp_bias)  # fmt: skip
        return found + linear(f"{base}{down}", self.hidden, self.intermediate, role, Shard.ROW,
                              bias=self.mlp_bias)  # fmt: skip


@frozen
class PatchGrid:
    """A square image cut into square patches, both by their side in pixels."""

    image: int
    patch: int

    @property
    def side(self) -> int:
        """Whole patches along a side."""
        return self.image // self.patch

    @property
    def patches(self) -> int:
        return self.side**2


def read_grid(config: Config, *, image: int, patch: int) -> PatchGrid:
    """From ``image_size`` and ``patch_size``; the arguments are a class's defaults.

    Raises:
        BadInput: not one patch fits into the image.
    """
    grid = PatchGrid(side(config, "image_size", image), side(config, "patch_size", patch))
    if not grid.side:
        raise BadInput(
            f"{config.where}: a patch of {grid.patch} pixels does not fit into an image of "
            f"{grid.image}; correct 'patch_size' or 'image_size'."
        )
    return grid


def merged(patches: int, per_token: int) -> int:
    """Tokens that patches become, one at least."""
    return max(1, patches // per_token)


def layer_norm(name: str, width: int, role: Role, *, bias: bool = True) -> list[Tensor]:
    """A norm of a tower, counted with the tower."""
    kinds = ("weight", "bias") if bias else ("weight",)
    return [Tensor(f"{name}.{kind}", (width,), role) for kind in kinds]


def replicated(
    name: str, shape: tuple[int, ...], role: Role, *, bias: bool = False
) -> list[Tensor]:
    """A weight that every rank holds whole, with its bias: convolutions and projections."""
    weight = Tensor(f"{name}.weight", shape, role)
    return [weight, Tensor(f"{name}.bias", shape[:1], role)] if bias else [weight]


def depth(config: Config, key: str, default: int) -> int:
    """How many layers; a limit keeps an absurd count from filling memory."""
    return config.integer(key, default, most=LARGEST_DEPTH)


def side(config: Config, key: str, default: int) -> int:
    """A length in pixels, given once or as height and width.

    Raises:
        BadInput: height and width differ, or it is no length.
    """
    value = config.raw(key)
    if not isinstance(value, list):
        return config.integer(key, default)
    lengths = config.integers(key, least=1) or ()
    if not lengths or len(set(lengths)) != 1:
        raise BadInput(
            f"{config.where}: {key!r} is {value}; only squares are known, give one length."
        )
    return lengths[0]


def inverse(config: Config, key: str, default: float) -> int:
    """The whole number that a ratio such as 0.5 stands for: patches along a side that join.

    Raises:
        BadInput: the ratio is not one over a whole number from 1 to 64.
    """
    ratio = config.number(key, default)
    joined = round(1 / ratio) if ratio >= 1 / 64 else 0
    if not joined or not isclose(ratio * joined, 1, rel_tol=1e-3):
        raise BadInput(
            f"{config.where}: {key!r} is {ratio}; it must be one over a whole number, such as 0.5."
        )
    return joined
