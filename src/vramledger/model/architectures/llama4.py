"""Llama4ForConditionalGeneration: tiles through an image encoder, chunked attention after it."""

from typing import Final

from vramledger.model.architectures.multimodal import (
    Tower,
    compose,
    inner_text,
    read_text,
    tied_inside,
    vision_config,
)
from vramledger.model.config import Config
from vramledger.model.model import Model
from vramledger.model.parts import linear
from vramledger.model.tensor import Role, Shard
from vramledger.model.towers.llama4 import read_llama4

_PART: Final = inner_text("llama4_text", tied_inside)


def build(config: Config, model_id: str) -> Model:
    """The model; the projector reads what the tower's adapter gives."""
    text = read_text(config, _PART, model_id)
    vision = vision_config(config)
    tower = read_llama4(vision)
    projector = linear(
        "multi_modal_projector.linear_1",
        text.text.hidden,
        vision.integer("vision_output_dim", 7680),
        Role.PROJECTOR,
        Shard.COLUMN,
    )
    return compose(
        config,
        text,
        architecture="Llama4ForConditionalGeneration",
        part=_PART,
        towers=[Tower((*tower.tensors("vision_model."), *projector), tower.largest_input())],
    )
