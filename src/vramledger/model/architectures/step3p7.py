"""Step3p7ForConditionalGeneration: an image encoder before the decoder of Step-3.5.

Names are those of the published checkpoints.
"""

from typing import Final

from vramledger.model.architectures.multimodal import (
    TextPart,
    Tower,
    compose,
    read_text,
    tied_inside,
    vision_config,
)
from vramledger.model.config import Config
from vramledger.model.model import Model
from vramledger.model.parts import linear
from vramledger.model.tensor import Role, Shard
from vramledger.model.towers.step import read_step

_PART: Final = TextPart("step3p5", tied_inside, body="model.")


def build(config: Config, model_id: str) -> Model:
    """The model; keys of the language model may stand in ``text_config`` or at the top."""
    text = read_text(config, _PART, model_id)
    tower = read_step(vision_config(config))
    projector = linear(
        "vit_large_projector",
        text.text.hidden,
        tower.output,
        Role.PROJECTOR,
        Shard.COLUMN,
        bias=config.flag("projector_bias", default=False),
    )
    return compose(
        config,
        text,
        architecture="Step3p7ForConditionalGeneration",
        part=_PART,
        towers=[Tower((*tower.tensors("vision_model."), *projector), tower.largest_input())],
    )
