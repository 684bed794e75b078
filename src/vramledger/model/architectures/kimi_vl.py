"""Kimi-VL, Kimi-K2.5 and Kimi-K3: MoonViT, a patch merger, and a DeepSeek or Kimi-Linear decoder."""

from typing import Final

from vramledger.frozen import frozen
from vramledger.model.architectures.multimodal import (
    TextPart,
    Tower,
    compose,
    inner_text,
    read_text,
    tied_outside,
    vision_config,
)
from vramledger.model.config import Config
from vramledger.model.model import Model
from vramledger.model.tensor import Role, Tensor
from vramledger.model.towers.moonvit import MoonVit, read_moonvit
from vramledger.model.towers.vit import layer_norm, replicated

_ROLE: Final = Role.PROJECTOR
_VL_PATCHES: Final = 4096  # Kimi-VL's preprocessor_config.json "in_token_limit"
_K2_PATCHES: Final = 16_384  # Kimi-K2.5's preprocessor_config.json "in_patch_limit"


@frozen
class _Style:
    architecture: str
    part: TextPart
    patches: int
    projector: tuple[str, str, str]  # its norm and its two projections


_UNTIED: Final = tied_outside(default=False)
_MERGER: Final = ("mm_projector.pre_norm", "mm_projector.proj.0", "mm_projector.proj.2")
_STYLES: Final = {
    "kimi_vl": _Style(
        "KimiVLForConditionalGeneration",
        inner_text("deepseek_v3", _UNTIED),
        _VL_PATCHES,
        (
            "multi_modal_projector.pre_norm",
            "multi_modal_projector.linear_1",
            "multi_modal_projector.linear_2",
        ),
    ),
    "kimi_k25": _Style(
        "Kimi_K25ForConditionalGeneration",
        inner_text("deepseek_v3", tied_outside(default=True)),
        _K2_PATCHES,
        _MERGER,
    ),
    "kimi_k3": _Style(
        "KimiK3ForConditionalGeneration",
        inner_text("kimi_linear", _UNTIED),
        _K2_PATCHES,
        ("mm_projector.post_norm", "mm_projector.proj.0", "mm_projector.proj.2"),
    ),
}


def build(config: Config, model_id: str) -> Model:
    """The model; the projector stands outside the tower and is whole on every rank."""
    style = _STYLES[config.text("model_type")]
    vision = vision_config(config)
    tower, text = read_moonvit(vision), read_text(config, style.part, model_id)
    weights = [
        *tower.tensors("vision_tower."),
        *_projector(vision, tower, text.text.hidden, style.projector),
    ]
    return compose(
        config,
        text,
        architecture=style.architecture,
        part=style.part,
        towers=[Tower(tuple(weights), tower.largest_image(style.patches))],
    )


def _projector(
    config: Config, tower: MoonVit, hidden: int, names: tuple[str, str, str]
) -> list[Tensor]:
    """A norm and two layers over merged patches; Kimi-K3 norms the result, by RMS and unbiased."""
    norm, first, second = names
    width = tower.vit.hidden
    merged = width * tower.merge**2
    after = config.text("mm_projector_type", "patchmerger") == "patchmergerv2"
    return [
        *layer_norm(norm, hidden if after else width, _ROLE, bias=not after),
        *replicated(first, (merged, merged), _ROLE, bias=not after),
        *replicated(second, (hidden, merged), _ROLE, bias=not after),
    ]
