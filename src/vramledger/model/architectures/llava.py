"""LLaVA, Gemma 3, Mistral 3 and LFM2-VL: an image encoder, a projector, and any language model."""

from collections.abc import Callable
from typing import Final

from vramledger.frozen import frozen
from vramledger.model.architectures.multimodal import (
    TextPart,
    Tower,
    compose,
    inner_text,
    read_text,
    tied_as_said,
    tied_either,
    tied_outside,
    vision_config,
)
from vramledger.model.config import Config
from vramledger.model.model import Model, TowerInput
from vramledger.model.parts import linear
from vramledger.model.tensor import Role, Shard, Tensor
from vramledger.model.towers.clip import ClipTower, read_clip, read_siglip, read_siglip2
from vramledger.model.towers.internvit import read_internvit
from vramledger.model.towers.pixtral import read_pixtral
from vramledger.model.towers.vit import inverse, layer_norm, merged, replicated

_ROLE: Final = Role.PROJECTOR
_PROJECTOR: Final = "multi_modal_projector."
_INTERNVL_TILES: Final = 12  # preprocessor_config.json "max_patches"
_TowerRule = Callable[[Config, int], Tower]


@frozen
class _Style:
    architecture: str
    part: TextPart
    tower: _TowerRule


def build(config: Config, model_id: str) -> Model:
    """The model; the projector is counted apart from the tower."""
    style = _STYLES[config.text("model_type")]
    text = read_text(config, style.part, model_id)
    return compose(
        config,
        text,
        architecture=style.architecture,
        part=style.part,
        towers=[style.tower(config, text.text.hidden)],
    )


def _clip_image(tower: ClipTower, tokens: int) -> TowerInput:
    return TowerInput(
        modality="image",
        pixels=tower.channels * tower.grid.image**2,
        tokens=tokens,
        patches=tower.positions,
        hidden=tower.vit.hidden,
    )


def _llava(config: Config, hidden: int) -> Tower:
    """336 pixels a side make 576 tokens; strategy "default" drops the class token."""
    vision = vision_config(
        config,
        assumed={"hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24,
                 "num_attention_heads": 16, "patch_size": 14, "image_size": 336},
    )  # fmt: skip
    tower = read_clip(vision)
    bias = config.flag("multimodal_projector_bias", default=True)
    dropped = config.text("vision_feature_select_strategy", "default") == "default"
    weights = [
        *tower.tensors("vision_tower.vision_model."),
        *_two_layers(tower.vit.hidden * _feature_layers(config), hidden, bias=bias),
    ]
    return Tower(tuple(weights), _clip_image(tower, tower.positions - (1 if dropped else 0)))


def _gemma3(config: Config, hidden: int) -> Tower:
    """Any image is scaled to a square; its patches are pooled to ``mm_tokens_per_image``."""
    tower = read_siglip(vision_config(config))
    width = tower.vit.hidden
    weights = [
        *tower.tensors("vision_tower.vision_model."),
        Tensor(f"{_PROJECTOR}mm_input_projection_weight", (width, hidden), _ROLE),
        *layer_norm(f"{_PROJECTOR}mm_soft_emb_norm", width, _ROLE, bias=False),
    ]
    return Tower(tuple(weights), _clip_image(tower, config.integer("mm_tokens_per_image", 256)))


def _mistral3(config: Config, hidden: int) -> Tower:
    """Pixtral at up to 1540 pixels; squares of patches are merged before the projector."""
    vision = vision_config(config, assumed={"patch_size": 14, "image_size": 1540})
    tower = read_pixtral(vision)
    width, merge = tower.vit.hidden, config.integer("spatial_merge_size", 2)
    bias = config.flag("multimodal_projector_bias", default=False)
    merger = f"{_PROJECTOR}patch_merger.merging_layer"
    weights = [
        *tower.tensors("vision_tower."),
        *layer_norm(f"{_PROJECTOR}norm", width, _ROLE, bias=False),
        *replicated(merger, (width, width * merge**2), _ROLE),
        *_two_layers(width * _feature_layers(config), hidden, bias=bias),
    ]
    return Tower(tuple(weights), tower.largest_input(merge))


def _internvl(config: Config, hidden: int) -> Tower:
    """Tiles of 448 pixels; squares of patches are shuffled into channels before the projector."""
    tower = read_internvit(vision_config(config))
    factor = inverse(config, "downsample_ratio", 0.5)
    wide = tower.vit.hidden * factor**2
    weights = [
        *tower.tensors("vision_tower."),
        *layer_norm(f"{_PROJECTOR}layer_norm", wide, _ROLE),
        *replicated(f"{_PROJECTOR}linear_1", (hidden, wide), _ROLE, bias=True),
        *replicated(f"{_PROJECTOR}linear_2", (hidden, hidden), _ROLE, bias=True),
    ]
    tiles = _INTERNVL_TILES + 1  # and a thumbnail
    largest = TowerInput(
        modality="image",
        pixels=tiles * tower.channels * tower.grid.image**2,
        tokens=tiles * merged(tower.grid.patches, factor**2),
        patches=tiles * tower.positions,
        hidden=tower.vit.hidden,
    )
    return Tower(tuple(weights), largest)


def _lfm2_vl(config: Config, hidden: int) -> Tower:
    """SigLIP 2 at native resolution; an image takes at most ``max_image_tokens`` a tile."""
    tower = read_siglip2(vision_config(config))
    factor = config.integer("downsample_factor", 2)
    inner = config.integer("projector_hidden_size", 2560)
    bias = config.flag("projector_bias", default=True)
    wide = tower.vit.hidden * factor**2
    stem = f"model.{_PROJECTOR}"
    weights = [
        *tower.tensors("model.vision_tower.vision_model."),
        *replicated(f"{stem}linear_1", (inner, wide), _ROLE, bias=bias),
        *replicated(f"{stem}linear_2", (hidden, inner), _ROLE, bias=bias),
    ]
    if config.flag("projector_use_layernorm", default=True):
        weights += layer_norm(f"{stem}layer_norm", wide, _ROLE)
    tokens = config.integer("max_image_tokens", 256)
    patches = tokens * factor**2
    largest = TowerInput(
        modality="image",
        pixels=tower.channels * patches * tower.grid.patch**2,
        tokens=tokens,
        patches=patches,
        hidden=tower.vit.hidden,
    )
    return Tower(tuple(weights), largest)


def _two_layers(inputs: int, hidden: int, *, bias: bool) -> list[Tensor]:
    return [
        *linear(f"{_PROJECTOR}linear_1", hidden, inputs, _ROLE, Shard.COLUMN, bias=bias),
        *linear(f"{_PROJECTOR}linear_2", hidden, hidden, _ROLE, Shard.ROW, bias=bias),
    ]


def _feature_layers(config: Config) -> int:
    """How many layers' outputs the projector reads side by side."""
    layers = config.raw("vision_feature_layer")
    return max(1, len(layers)) if isinstance(layers, list) else 1


_STYLES: Final = {
    "llava": _Style("LlavaForConditionalGeneration", inner_text("llama", tied_either), _llava),
    "gemma3": _Style(
        "Gemma3ForConditionalGeneration",
        inner_text("gemma3_text", tied_outside(default=True)),
        _gemma3,
    ),
    # transformers 5.24 would tie when nobody says so, but Mistral Small 3.1 says nothing and stores
    # a head
    "mistral3": _Style(
        "Mistral3ForConditionalGeneration", inner_text("mistral", tied_as_said), _mistral3
    ),
    "internvl": _Style(
        "InternVLForConditionalGeneration",
        inner_text("qwen2", tied_outside(default=True)),
        _internvl,
    ),
    "lfm2_vl": _Style(
        "Lfm2VlForConditionalGeneration", TextPart("lfm2", tied_outside(default=True)), _lfm2_vl
    ),
}
