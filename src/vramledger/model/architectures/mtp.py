"""Multi-token prediction (MTP) layers: in checkpoints, used by speculative decoding only.

Each reads the last hidden state and the next token's embedding, joins them, and runs one decoder
layer. The model's class does not build them, so they are counted apart.
"""

from dataclasses import dataclass, replace
from typing import Final

from vramledger.model.architectures.decoder import Layer
from vramledger.model.architectures.shape import LARGEST_LAYER_COUNT
from vramledger.model.config import Config
from vramledger.model.model import TextShape
from vramledger.model.parts import embedding, head, linear, norm
from vramledger.model.tensor import Role, Shard, Tensor


@dataclass(frozen=True, slots=True)
class PredictionNames:
    """What a checkpoint calls the parts; ``{}`` in `prefix` is the layer's number."""

    prefix: str = "model.layers.{}."
    after_layers: bool = True  # numbers go on from the last decoder layer
    entry: tuple[str, str] = ("enorm", "hnorm")
    joint: str = "eh_proj"
    final: str = "shared_head.norm"
    embed: str = "embed_tokens"  # own copy of the embedding, empty where shared
    head: str = "shared_head.head"  # own copy of the head, empty where shared


DEEPSEEK: Final = PredictionNames()
MIMO: Final = PredictionNames(
    prefix="model.mtp_layers.{}.",
    after_layers=False,
    entry=("token_layernorm", "hidden_layernorm"),
    joint="input_proj",
    final="final_layernorm",
    embed="",
    head="",
)
HUNYUAN: Final = PredictionNames(final="final_layernorm", embed="", head="")


def prediction_layers(
    config: Config, text: TextShape, layer: Layer, names: PredictionNames = DEEPSEEK
) -> tuple[Tensor, ...]:
    """The weights of ``num_nextn_predict_layers`` MTP layers built around `layer`."""
    count = config.integer("num_nextn_predict_layers", 0, least=0, most=LARGEST_LAYER_COUNT)
    first = text.layers if names.after_layers else 0
    tensors: list[Tensor] = []
    for i in range(count):
        prefix = names.prefix.format(first + i)
        number = text.layers + i
        tensors += layer.tensors(prefix, number, text.hidden)
        tensors += _frame(prefix, number, text, names)
    return tuple(replace(tensor, role=Role.DRAFT) for tensor in tensors)


def _frame(prefix: str, number: int, text: TextShape, names: PredictionNames) -> list[Tensor]:
    found = [
        *linear(f"{prefix}{names.joint}", text.hidden, 2 * text.hidden, Role.DRAFT,
                Shard.REPLICATED, layer=number),
    ]  # fmt: skip
    for name in (*names.entry, names.final):
        found += norm(f"{prefix}{name}", text.hidden, layer=number)
    if names.embed:
        found.append(embedding(f"{prefix}{names.embed}", text.vocab, text.hidden))
    if names.head:
        found += head(f"{prefix}{names.head}", text.vocab, text.hidden)
    return found
