"""Which layers of a class carry experts, how many and how wide, read from its own keys."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.model.architectures.decoder import FeedForward
from vramledger.model.architectures.windows import layer_kinds
from vramledger.model.blocks.mlp import Mlp
from vramledger.model.blocks.moe import Moe
from vramledger.model.config import Config
from vramledger.model.model import TextShape
from vramledger.model.tensor import Role

SparseRule = Callable[[Config, int], tuple[bool, ...]]

DENSE: Final = "dense"
SPARSE: Final = "sparse"
_KINDS: Final = "mlp_layer_types"
_FLAGS: Final = "moe_layer_freq"


@frozen
class Key:
    """A count under one of several spellings, with the class default (0: the file must say)."""

    names: tuple[str, ...]
    default: int = 0
    least: int = 1

    def read(self, config: Config) -> int:
        name = next((name for name in self.names if config.has(name)), self.names[0])
        has_default = self.default or not self.least
        return config.integer(name, self.default if has_default else None, least=self.least)


@frozen
class Mixture:
    """The feed-forward blocks of a class with experts.

    `block` carries the names; its sizes are read from the keys. Shared experts are as wide as
    `shared` says: so many times the expert's width (`shared_units`) or a width of their own.
    """

    block: Moe
    experts: Key
    per_token: Key
    intermediate: Key
    shared_count: Key | None = None  # how many expert widths the shared expert has
    shared_width: Key | None = None  # its width itself
    sparse: SparseRule = lambda _config, layers: (True,) * layers
    bias_key: str = ""  # of dense and shared MLPs
    dense_name: str = "mlp."

    def __call__(self, config: Config, text: TextShape) -> tuple[FeedForward, ...]:
        """One block a layer.

        Raises:
            BadInput: a count is missing or out of range.
        """
        bias = bool(self.bias_key) and config.flag(self.bias_key, default=False)
        mixed = self.read(config, bias=bias)
        plain = Mlp(text.intermediate, bias, self.dense_name)
        return tuple(mixed if has else plain for has in self.sparse(config, text.layers))

    def read(self, config: Config, *, bias: bool = False) -> Moe:
        """The block of a layer with experts."""
        intermediate = self.intermediate.read(config)
        experts, per_token = self.experts.read(config), self.per_token.read(config)
        if per_token > experts:
            raise BadInput(
                f"{config.where}: a token takes {per_token} experts "
                f"({self.per_token.names[0]!r}), but there are only {experts}; correct one of them."
            )
        shared = self._shared_intermediate(config, intermediate)
        return replace(
            self.block,
            experts=experts,
            per_token=per_token,
            intermediate=intermediate,
            shared=self._shared(shared, bias=bias) if shared else None,
            shared_gate=self.block.shared_gate if shared else "",
        )

    def _shared_intermediate(self, config: Config, intermediate: int) -> int:
        if self.shared_width:
            return self.shared_width.read(config)
        return self.shared_count.read(config) * intermediate if self.shared_count else 0

    def _shared(self, intermediate: int, *, bias: bool) -> Mlp:
        template = self.block.shared or SHARED_EXPERTS
        return replace(template, intermediate=intermediate, bias=bias)


SHARED_EXPERTS: Final = Mlp(0, name="shared_experts.", role=Role.SHARED_EXPERT)
SHARED_EXPERT: Final = Mlp(0, name="shared_expert.", role=Role.SHARED_EXPERT)


def after_first(default: int, key: str = "first_k_dense_replace") -> SparseRule:
    """The first layers are dense, the others carry experts."""

    def rule(config: Config, layers: int) -> tuple[bool, ...]:
        first = config.integer(key, default, least=0)
        return tuple(i >= first for i in range(layers))

    return rule


def after_first_stepping(config: Config, layers: int) -> tuple[bool, ...]:
    """DeepSeek's first rule: from ``first_k_dense_replace`` on, every ``moe_layer_freq``-th layer."""
    first = config.integer("first_k_dense_replace", 0, least=0)
    step = config.integer("moe_layer_freq", 1)
    return tuple(i >= first and i % step == 0 for i in range(layers))


def every_step(config: Config, layers: int) -> tuple[bool, ...]:
    """Qwen's rule: every ``decoder_sparse_step``-th layer, less those of ``mlp_only_layers``."""
    step = config.integer("decoder_sparse_step", 1)
    plain = set(config.integers("mlp_only_layers") or ())
    return tuple(i not in plain and (i + 1) % step == 0 for i in range(layers))


def between(config: Config, layers: int) -> tuple[bool, ...]:
    """ERNIE's rule: every ``moe_layer_interval``-th layer from a first to a last one."""
    step = config.integer("moe_layer_interval", 1)
    first = config.integer("moe_layer_start_index", 1, least=0)
    last = config.integer("moe_layer_end_index", -1, least=-1)
    last = layers - 1 if last == -1 else last
    return tuple((i + 1) % step == 0 and first <= i <= last for i in range(layers))


def listed(default: Callable[[Config, int], Sequence[str]]) -> SparseRule:
    """Layers as ``mlp_layer_types`` lists them, or as the class assumes."""

    def rule(config: Config, layers: int) -> tuple[bool, ...]:
        kinds = layer_kinds(config, layers, default(config, layers), (DENSE, SPARSE), _KINDS)
        return tuple(kind == SPARSE for kind in kinds)

    return rule


def first_dense(count: int, key: str = "") -> Callable[[Config, int], Sequence[str]]:
    """The class's assumption: `count` dense layers (or as many as `key` says), then experts."""

    def kinds(config: Config, layers: int) -> Sequence[str]:
        first = config.integer(key, count, least=0) if key else count
        return [DENSE if i < first else SPARSE for i in range(layers)]

    return kinds


def flagged_or_listed(default: Callable[[Config, int], Sequence[str]]) -> SparseRule:
    """As `listed`, but where only the older ``moe_layer_freq`` is given, as that flags them."""
    by_kind = listed(default)

    def rule(config: Config, layers: int) -> tuple[bool, ...]:
        older = config.has(_FLAGS) and not config.has(_KINDS)
        return flagged(config, layers) if older else by_kind(config, layers)

    return rule


def flagged(config: Config, layers: int) -> tuple[bool, ...]:
    """Layers as ``moe_layer_freq`` flags them, one flag a layer; all carry experts without it.

    Raises:
        BadInput: the list is shorter than the layers.
    """
    flags = config.integers(_FLAGS)
    if flags is None:
        return (True,) * layers
    if len(flags) < layers:
        raise BadInput(
            f"{config.where}: 'moe_layer_freq' lists {len(flags)} layers, but there are {layers}; "
            "list every layer."
        )
    return tuple(bool(flag) for flag in flags[:layers])
