"""Step-3.7: an image encoder before Step-3.5's language model.

Class defaults are those of transformers 5.24, names those of the published checkpoints.
"""

from dataclasses import replace
from typing import Final

from vramledger.model.architectures import step3p5
from vramledger.model.architectures.multimodal import (
    TextPart,
    Tower,
    compose,
    text_config,
    tied_inside,
    vision_config,
)
from vramledger.model.config import Config
from vramledger.model.model import Model
from vramledger.model.parts import linear
from vramledger.model.rotary import rotary_tables
from vramledger.model.tensor import Role, Shard
from vramledger.model.towers.step import read_step

_PART: Final = TextPart("step3p5", tied_inside, body="model.")


def build(config: Config, model_id: str) -> Model:
    """The model; keys of the language model may stand in ``text_config`` or at the top."""
    inner = text_config(config, _PART)
    decoder = step3p5.build(inner, model_id)
    decoder = replace(decoder, rotary=rotary_tables(inner, decoder.text.head_dim))
    tower = read_step(vision_config(config))
    projector = linear(
        "vit_large_projector",
        decoder.text.hidden,
        tower.output,
        Role.PROJECTOR,
        Shard.COLUMN,
        bias=config.flag("projector_bias", default=False),
    )
    return compose(
        config,
        decoder,
        architecture="Step3p7ForConditionalGeneration",
        part=_PART,
        towers=[Tower((*tower.tensors("vision_model."), *projector), tower.largest_input())],
    )
