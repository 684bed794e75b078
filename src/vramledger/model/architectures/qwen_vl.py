"""Qwen2-VL, Qwen2.5-VL, Qwen3-VL, Qwen3.5 and GLM-4.5V: native-resolution image encoders."""

from collections.abc import Callable
from typing import Final

from vramledger.frozen import frozen
from vramledger.model.architectures.multimodal import (
    TextPart,
    Tower,
    compose,
    read_text,
    tied_either,
    tied_outside,
    vision_config,
)
from vramledger.model.config import Config
from vramledger.model.model import Model
from vramledger.model.towers.qwen import (
    QwenTower,
    read_glm4v,
    read_qwen2,
    read_qwen2_5,
    read_qwen3,
)

_UNTIED: Final = tied_outside(default=False)
# Pixels of the largest image by the preprocessors published with the models.
_QWEN2_PIXELS: Final = 12_845_056  # preprocessor_config.json "max_pixels"
_QWEN3_PIXELS: Final = 16_777_216  # preprocessor_config.json "size.longest_edge"
_GLM_PIXELS: Final = 9_633_792  # preprocessor_config.json "size.longest_edge"


@frozen
class _Style:
    architecture: str
    part: TextPart
    tower: Callable[[Config], QwenTower]
    pixels: int
    prefix: str = "model.visual."
    frames_like_images: bool = False  # a video's frames may be as large as a still image


def _flat(model_type: str) -> TextPart:
    """Qwen2-VL stores the language model as if it stood alone."""
    return TextPart(model_type, tied_either, body="model.")


_STYLES: Final = {
    "qwen2_vl": _Style(
        "Qwen2VLForConditionalGeneration",
        _flat("qwen2_vl_text"),
        read_qwen2,
        _QWEN2_PIXELS,
        "visual.",
        frames_like_images=True,
    ),
    "qwen2_5_vl": _Style(
        "Qwen2_5_VLForConditionalGeneration",
        _flat("qwen2_5_vl_text"),
        read_qwen2_5,
        _QWEN2_PIXELS,
        "visual.",
        frames_like_images=True,
    ),
    "qwen3_vl": _Style(
        "Qwen3VLForConditionalGeneration",
        TextPart("qwen3_vl_text", _UNTIED),
        read_qwen3,
        _QWEN3_PIXELS,
    ),
    "qwen3_vl_moe": _Style(
        "Qwen3VLMoeForConditionalGeneration",
        TextPart("qwen3_vl_moe_text", _UNTIED),
        read_qwen3,
        _QWEN3_PIXELS,
    ),
    "qwen3_5": _Style(
        "Qwen3_5ForConditionalGeneration",
        TextPart("qwen3_5_text", _UNTIED),
        lambda config: read_qwen3(config, deepstack=()),
        _QWEN3_PIXELS,
    ),
    "qwen3_5_moe": _Style(
        "Qwen3_5MoeForConditionalGeneration",
        TextPart("qwen3_5_moe_text", _UNTIED),
        lambda config: read_qwen3(config, deepstack=()),
        _QWEN3_PIXELS,
    ),
    "glm4v_moe": _Style(
        "Glm4vMoeForConditionalGeneration",
        TextPart("glm4v_moe_text", tied_either),
        read_glm4v,
        _GLM_PIXELS,
    ),
}


def build(config: Config, model_id: str) -> Model:
    """The model; mergers belong to the tower."""
    style = _STYLES[config.text("model_type")]
    tower = style.tower(vision_config(config))
    towers = [Tower(tuple(tower.tensors(style.prefix)), tower.largest_image(style.pixels))]
    if style.frames_like_images:
        towers.append(Tower((), tower.largest_video(style.pixels)))
    return compose(
        config,
        read_text(config, style.part, model_id),
        architecture=style.architecture,
        part=style.part,
        towers=towers,
    )
