"""Multi-token prediction (MTP) layers: in checkpoints, used by speculative decoding only.

Each reads the last hidden state and the next token's embedding, joins them, and runs one decoder
layer. The model's class does not build them, so they are counted apart.
"""

from dataclasses import replace
from typing import Final

from vramledger.frozen import frozen
from vramledger.model.architectures.decoder import Layer
from vramledger.model.architectures.shape import LARGEST_LAYER_COUNT
from vramledger.model.config import Config
from vramledger.model.model import TextShape
from vramledger.model.parts import embedding, head, linear, norm
from vramledger.model.tensor import Role, Shard, Tensor


@frozen
class PredictionNames:
    """What a checkpoint calls the parts; ``{}`` in `prefix` is the layer's number."""

    prefix: str = "model.layers.{}."
    after_layers: bool = True  # numbers go on from the last decoder layer
    entry: tuple[str, str] = ("enorm", "hnorm")
    joint: str = "eh_proj"
    final: str = "shared_head.norm"
    embed: str = "embed_tokens"  # own copy of the embedding, empty where shared
    head: str = "shared_head.head"  # own copy of the head, empty where shared
    outer: str = ""  # prefix of the last three where it is not the layer's
    block: str = ""  # prefix of the decoder layer inside
    count_keys: tuple[str, ...] = ("num_nextn_predict_layers", "num_mtp_layers")
    count: int = 0  # layers where the file says nothing


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
LONGCAT: Final = PredictionNames(
    prefix="model.mtp.layers.{}.",
    after_layers=False,
    entry=("enorm.m", "hnorm.m"),
    final="norm",
    head="",
    outer="model.mtp.",
    count=1,
)
MINIMAX: Final = PredictionNames(
    prefix="model.mtp.layers.{}.",
    after_layers=False,
    final="final_layernorm",
    embed="",
    head="",
    count_keys=("num_nextn_predict_layers", "num_mtp_modules"),
    block="transformer_layer.",
)
HUNYUAN: Final = PredictionNames(final="final_layernorm", embed="", head="")


def prediction_layers(
    config: Config, text: TextShape, layer: Layer, names: PredictionNames = DEEPSEEK
) -> tuple[Tensor, ...]:
    """The weights of the MTP layers that the configuration counts, each built around `layer`."""
    key = next((key for key in names.count_keys if config.has(key)), names.count_keys[0])
    count = config.integer(key, names.count, least=0, most=LARGEST_LAYER_COUNT)
    first = text.layers if names.after_layers else 0
    tensors: list[Tensor] = []
    for i in range(count):
        prefix = names.prefix.format(first + i)
        number = text.layers + i
        tensors += layer.tensors(f"{prefix}{names.block}", number, text.hidden)
        tensors += _frame(prefix, number, text, names)
    return tuple(replace(tensor, role=Role.DRAFT) for tensor in tensors)


def _frame(prefix: str, number: int, text: TextShape, names: PredictionNames) -> list[Tensor]:
    outer = names.outer or prefix
    found = [
        *linear(f"{prefix}{names.joint}", text.hidden, 2 * text.hidden, Role.DRAFT,
                Shard.REPLICATED, layer=number),
    ]  # fmt: skip
    for name in (*(f"{prefix}{entry}" for entry in names.entry), f"{outer}{names.final}"):
        found += norm(name, text.hidden, layer=number)
    if names.embed:
        found.append(embedding(f"{outer}{names.embed}", text.vocab, text.hidden))
    if names.head:
        found += head(f"{outer}{names.head}", text.vocab, text.hidden)
    return found
