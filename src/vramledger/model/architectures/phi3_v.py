"""Phi3VForCausalLM (Phi-3-vision, Phi-3.5-vision): CLIP at 336 pixels before Phi-3.

The class's own code is published with the models; names follow it, and the encoder it names
(``openai/clip-vit-large-patch14-336``) has the sizes of that checkpoint.
"""

from dataclasses import replace
from typing import Final

from vramledger.errors import UnknownName
from vramledger.model.architectures import build as build_any
from vramledger.model.config import Config
from vramledger.model.model import Model, TowerInput
from vramledger.model.tensor import Role, Tensor
from vramledger.model.towers.clip import read_clip
from vramledger.model.towers.vit import replicated

_ENCODERS: Final = {
    "openai/clip-vit-large-patch14-336": {
        "hidden_size": 1024,
        "intermediate_size": 4096,
        "num_hidden_layers": 24,
        "num_attention_heads": 16,
        "patch_size": 14,
        "image_size": 336,
    },
}
_BASE: Final = "model.vision_embed_tokens."
_CROPS: Final = 16  # of the published Phi-3-vision preprocessor; a thumbnail comes on top
_CROP_TOKENS: Final = 144


def build(config: Config, model_id: str) -> Model:
    """The model; four patches of the encoder become one token."""
    inner = config.changed(model_type="phi3")
    inner.nested = config.nested
    text = build_any(inner, model_id)
    section = config.sub("img_processor") or Config({}, f"{config.where}, 'img_processor'")
    name = section.text("model_name", "openai/clip-vit-large-patch14-336")
    if name not in _ENCODERS:
        raise UnknownName("vision encoder", name, _ENCODERS, f"{section.where}, 'model_name'")
    tower = read_clip(Config(_ENCODERS[name], section.where))
    merged, hidden = 4 * tower.vit.hidden, text.text.hidden
    projector = (
        *replicated(f"{_BASE}img_projection.0", (hidden, merged), Role.PROJECTOR, bias=True),
        *replicated(f"{_BASE}img_projection.2", (hidden, hidden), Role.PROJECTOR, bias=True),
        Tensor(f"{_BASE}glb_GN", (1, 1, merged), Role.PROJECTOR),
        Tensor(f"{_BASE}sub_GN", (1, 1, 1, merged), Role.PROJECTOR),
    )
    weights = tower.tensors(f"{_BASE}img_processor.vision_model.")
    side = round(_CROPS**0.5)
    largest = TowerInput(
        modality="image",
        pixels=(_CROPS + 1) * tower.channels * tower.grid.image**2,
        tokens=(_CROPS + 1) * _CROP_TOKENS + 1 + (side + 1) * 12,
        patches=(_CROPS + 1) * tower.positions,
        hidden=tower.vit.hidden,
    )
    return replace(
        text,
        architecture="Phi3VForCausalLM",
        model_type=config.text("model_type"),
        tensors=(*weights, *projector, *text.tensors),
        towers=(largest,),
    )
