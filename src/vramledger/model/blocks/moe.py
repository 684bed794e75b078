"""Mixture-of-experts feed-forward blocks."""

from dataclasses import replace

from vramledger.frozen import frozen
from vramledger.model.blocks.mlp import GATED, Mlp
from vramledger.model.dtype import DType
from vramledger.model.parts import linear, norm
from vramledger.model.tensor import Role, Shard, Tensor


@frozen
class Correction:
    """A per-expert bias that steers the router's choice.

    Most classes keep it as a buffer; a few count it as a parameter.
    """

    name: str  # after the block's own name
    parameter: bool = False
    row: bool = False  # stored as a matrix of one row


@frozen
class Latent:
    """A narrower space that routed experts work in; vLLM repeats the ways in and out on every rank."""

    width: int
    enter: str  # names of the projections, after the block's own name
    leave: str
    norm: str = ""  # a norm on the way out
    bias: bool = False

    def tensors(self, base: str, layer: int, hidden: int) -> list[Tensor]:
        inner = norm(f"{base}{self.norm}", self.width, layer=layer) if self.norm else []
        return [
            *linear(f"{base}{self.enter}", self.width, hidden, Role.MLP, Shard.REPLICATED,
                    layer=layer, bias=self.bias),
            *inner,
            *linear(f"{base}{self.leave}", hidden, self.width, Role.MLP, Shard.REPLICATED,
                    layer=layer, bias=self.bias),
        ]  # fmt: skip


@frozen
class Moe:
    """Routed experts, a router, and perhaps shared experts that every token passes."""

    experts: int
    per_token: int
    intermediate: int
    shared: Mlp | None = None
    shared_gate: str = ""  # name of the scalar gate on the shared expert
    router: str = "gate"
    router_bias: bool = False
    router_float32: bool = False  # the class keeps the router in float32
    router_rows: int = 0  # choices of the router, 0 for one an expert
    correction: Correction | None = None
    table_rows: int = 0  # tokens of a table that names each one's experts, 0 where none
    expert_bias: bool = False
    latent: Latent | None = None  # None: experts work in the hidden width
    name: str = "mlp."
    expert_name: str = "experts.{e}."
    names: tuple[str, ...] = GATED
    stacked: bool = False  # one array for all experts: ``down_proj`` and ``down_proj_bias``

    @property
    def shared_intermediate(self) -> int:
        return self.shared.intermediate if self.shared else 0

    def tensors(self, prefix: str, layer: int, hidden: int) -> list[Tensor]:
        """The weights of one layer; `prefix` ends before the block's own name."""
        base = f"{prefix}{self.name}"
        width = self.latent.width if self.latent else hidden
        found = [*self._router(base, layer, hidden), *self._experts(base, layer, width)]
        if self.latent:
            found += self.latent.tensors(base, layer, hidden)
        if self.shared:
            found += self.shared.tensors(base, layer, hidden)
        if self.shared_gate:
            found += linear(f"{base}{self.shared_gate}", 1, hidden, Role.SHARED_EXPERT,
                            Shard.REPLICATED, layer=layer)  # fmt: skip
        return found

    def _router(self, base: str, layer: int, hidden: int) -> list[Tensor]:
        rows = self.router_rows or self.experts
        kept = DType.FLOAT32 if self.router_float32 else None
        found = [
            replace(tensor, class_dtype=kept)
            for tensor in linear(f"{base}{self.router}", rows, hidden, Role.ROUTER,
                                 Shard.REPLICATED, layer=layer, bias=self.router_bias)
        ]  # fmt: skip
        if self.correction:
            role = Role.ROUTER if self.correction.parameter else Role.BUFFER
            shape = (1, rows) if self.correction.row else (rows,)
            found.append(
                Tensor(f"{base}{self.correction.name}", shape, role, layer=layer,
                       dtype=DType.FLOAT32, class_dtype=DType.FLOAT32)
            )  # fmt: skip
        if self.table_rows:
            found.append(
                Tensor(f"{base}{self.router}.tid2eid", (self.table_rows, self.per_token),
                       Role.BUFFER, layer=layer, dtype=DType.INT64)
            )  # fmt: skip
        return found

    def _experts(self, base: str, layer: int, hidden: int) -> list[Tensor]:
        *ups, down = self.names
        stem = f"{base}{self.expert_name}"
        found: list[Tensor] = []
        for up in ups:
            found += linear(f"{stem}{up}", self.intermediate, hidden, Role.EXPERT, Shard.COLUMN,
                            layer=layer, bias=self.expert_bias, copies=self.experts)  # fmt: skip
        found += linear(f"{stem}{down}", hidden, self.intermediate, Role.EXPERT, Shard.ROW,
                        layer=layer, bias=self.expert_bias, copies=self.experts)  # fmt: skip
        if not self.stacked:
            return found
        return [replace(tensor, name=_bare(tensor.name)) for tensor in found]


def _bare(name: str) -> str:
    """The name of an array that is no module's weight: ``x.weight`` is x, ``x.bias`` x_bias."""
    return name.removesuffix(".weight") if name.endswith(".weight") else f"{name[:-5]}_bias"
