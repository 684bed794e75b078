"""Mamba-2: a selective scan per head, with B and C shared by groups of heads."""

from vramledger.frozen import frozen
from vramledger.model.cache import CacheSpec, RecurrentState, StateKind, StatePart
from vramledger.model.parts import linear
from vramledger.model.tensor import Role, Shard, Tensor


@frozen
class _Rows:
    """Rows of a stored matrix that split alike."""

    count: int
    shard: Shard
    units: int


@frozen
class Mamba2:
    """Splits by heads, as in vLLM's MambaMixer2.

    B and C split by groups, and a single group is repeated on every rank, so they shard as KV
    heads do.
    """

    heads: int
    head_dim: int
    groups: int
    state: int
    kernel: int
    bias: bool  # of in_proj, and of out_proj where that says nothing else
    conv_bias: bool
    out_bias: bool | None = None
    gated_norm: bool = True  # an RMS norm over the output
    name: str = "mixer."

    @property
    def width(self) -> int:
        return self.heads * self.head_dim

    def tensors(self, prefix: str, layer: int, hidden: int) -> list[Tensor]:
        """The weights of one layer; `prefix` ends before the mixer's own name."""
        base, role = f"{prefix}{self.name}", Role.STATE
        out_bias = self.bias if self.out_bias is None else self.out_bias
        found = [
            *self._input(base, layer, hidden),
            *self._convolution(base, layer),
            *linear(f"{base}out_proj", hidden, self.width, role, Shard.ROW,
                    layer=layer, bias=out_bias, units=self.heads),
        ]  # fmt: skip
        found += [
            Tensor(f"{base}{name}", (self.heads,), role, Shard.COLUMN, layer)
            for name in ("A_log", "D", "dt_bias")
        ]
        if self.gated_norm:
            found.append(
                Tensor(f"{base}norm.weight", (self.width,), Role.NORM, Shard.COLUMN, layer,
                       units=self.heads)
            )  # fmt: skip
        return found

    def cache(self) -> tuple[CacheSpec, ...]:
        """The one state that the layer owns."""
        conv = StatePart(
            (self.width + 2 * self.groups * self.state, self.kernel - 1),
            recurrent=False,
            groups=self.groups,
            group_width=self.state,
        )
        scan = StatePart((self.heads, self.head_dim, self.state), recurrent=True)
        return (RecurrentState(StateKind.MAMBA2, (conv, scan), heads=self.heads),)

    def _input(self, base: str, layer: int, hidden: int) -> list[Tensor]:
        """One stored matrix: the gate, then x, B and C, then a time step per head."""
        gate = _Rows(self.width, Shard.COLUMN, self.heads)
        steps = _Rows(self.heads, Shard.COLUMN, self.heads)
        found: list[Tensor] = []
        for rows in (gate, *self._convolved(), steps):
            found += linear(f"{base}in_proj", rows.count, hidden, Role.STATE, rows.shard,
                            layer=layer, bias=self.bias, units=rows.units)  # fmt: skip
        return found

    def _convolution(self, base: str, layer: int) -> list[Tensor]:
        found: list[Tensor] = []
        for rows in self._convolved():
            shapes: dict[str, tuple[int, ...]] = {"weight": (rows.count, 1, self.kernel)}
            if self.conv_bias:
                shapes["bias"] = (rows.count,)
            found += [
                Tensor(f"{base}conv1d.{name}", shape, Role.STATE, rows.shard, layer,
                       units=rows.units)
                for name, shape in shapes.items()
            ]  # fmt: skip
        return found

    def _convolved(self) -> tuple[_Rows, ...]:
        """x, B and C."""
        grouped = _Rows(self.groups * self.state, Shard.KV, self.groups)
        return (_Rows(self.width, Shard.COLUMN, self.heads), grouped, grouped)
