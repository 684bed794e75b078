"""What the Gemma 3n and 4 families share: layer kinds, borrowed caches, inputs per layer."""

from collections.abc import Sequence
from typing import Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.model.architectures.decoder import Norms
from vramledger.model.architectures.windows import FULL, SLIDING, layer_kinds
from vramledger.model.config import Config
from vramledger.model.model import TextShape
from vramledger.model.parts import embedding, linear, norm
from vramledger.model.tensor import Role, Shard, Tensor

SANDWICH: Final = Norms(
    (
        "input_layernorm",
        "post_attention_layernorm",
        "pre_feedforward_layernorm",
        "post_feedforward_layernorm",
    )
)


def read_kinds(config: Config, layers: int, period: int) -> tuple[str, ...]:
    """Every `period`-th layer is full, where the file does not list them."""
    default = [FULL if (i + 1) % period == 0 else SLIDING for i in range(layers)]
    return layer_kinds(config, layers, default)


def owners(config: Config, kinds: Sequence[str], default: int) -> tuple[int | None, ...]:
    """Whose cache each layer reads; None for its own.

    The last ``num_kv_shared_layers`` read the last layer of their kind that keeps a cache.

    Raises:
        BadInput: no layer of that kind keeps one.
    """
    shared = config.integer("num_kv_shared_layers", default, least=0)
    first = len(kinds) - shared
    last = {kind: i for i, kind in enumerate(kinds[: max(first, 0)])}
    missing = [kind for kind in kinds[max(first, 0) :] if kind not in last]
    if missing:
        raise BadInput(
            f"{config.where}: 'num_kv_shared_layers' ({shared}) leaves no {missing[0]} layer with "
            "a cache to share; lower it."
        )
    return tuple(None if i < first else last[kind] for i, kind in enumerate(kinds))


@frozen
class PerLayerInput:
    """A narrow embedding of the token that each layer mixes in; vLLM repeats it on every rank."""

    width: int

    def tensors(self, prefix: str, layer: int, hidden: int) -> list[Tensor]:
        role = Role.MLP
        return [
            *linear(f"{prefix}per_layer_input_gate", self.width, hidden, role, Shard.REPLICATED,
                    layer=layer),
            *linear(f"{prefix}per_layer_projection", hidden, self.width, role, Shard.REPLICATED,
                    layer=layer),
            *norm(f"{prefix}post_per_layer_input_norm", hidden, layer=layer),
        ]  # fmt: skip


def per_layer_tables(config: Config, text: TextShape, width: int) -> list[Tensor]:
    """The table of all layers' narrow embeddings, and the projection that stands in for it."""
    rows, wide = config.integer("vocab_size_per_layer_input", 262144), text.layers * width
    return [
        embedding("model.embed_tokens_per_layer", rows, wide),
        *linear("model.per_layer_model_projection", wide, text.hidden, Role.MLP, Shard.COLUMN),
        *norm("model.per_layer_projection_norm", width),
    ]
