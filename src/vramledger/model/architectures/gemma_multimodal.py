"""Gemma 3n and Gemma 4 with their image and audio encoders."""

from typing import Final

from vramledger.model.architectures.multimodal import (
    TextPart,
    Tower,
    compose,
    read_text,
    tied_outside,
    vision_config,
)
from vramledger.model.config import Config
from vramledger.model.model import Model, TowerInput
from vramledger.model.parts import linear
from vramledger.model.tensor import Role, Shard, Tensor
from vramledger.model.towers.gemma import (
    read_gemma3n_audio,
    read_gemma4_audio,
    read_gemma4_vision,
)
from vramledger.model.towers.timm import read_named_tower
from vramledger.model.towers.vit import layer_norm, replicated

_IMAGE_TOKENS: Final = 280  # Gemma 4's processor, "max_soft_tokens"
_AUDIO_TOKENS: Final = 750  # Gemma 4's processor: 30 seconds at one token in 40 ms
_TIED: Final = tied_outside(default=True)
_PARTS: Final = {
    "gemma3n": TextPart("gemma3n_text", _TIED),
    "gemma4": TextPart("gemma4_text", _TIED),
    "gemma4_unified": TextPart("gemma4_unified_text", _TIED),
}


def build(config: Config, model_id: str) -> Model:
    """The model; a section that is null stands for an encoder that is not there."""
    model_type = config.text("model_type")
    part = _PARTS[model_type]
    text = read_text(config, part, model_id)
    architecture, read_towers = _CLASSES[model_type]
    return compose(
        config,
        text,
        architecture=architecture,
        part=part,
        towers=read_towers(config, text.text.hidden),
    )


def _gemma3n(config: Config, hidden: int) -> list[Tower]:
    vision, audio = vision_config(config), vision_config(config, "audio_config")
    eye, ear = read_named_tower(vision), read_gemma3n_audio(audio)
    return [
        Tower(
            (
                *eye.tensors("model.vision_tower.timm_model"),
                *_vocabulary(vision, "model.embed_vision.", eye.width, Role.EMBEDDING),
                *_soft_tokens("model.embed_vision.", eye.width, hidden, Role.PROJECTOR),
            ),
            eye.largest_input(config.integer("vision_soft_tokens_per_image", 256)),
        ),
        Tower(
            (
                *ear.tensors("model.audio_tower."),
                *_vocabulary(audio, "model.embed_audio.", ear.hidden, Role.AUDIO),
                *_soft_tokens("model.embed_audio.", ear.hidden, hidden, Role.AUDIO),
            ),
            ear.largest_input(config.integer("audio_soft_tokens_per_image", 188)),
        ),
    ]


def _vocabulary(config: Config, prefix: str, width: int, role: Role) -> list[Tensor]:
    """Embeddings of the modality's own token ids."""
    rows = config.integer("vocab_size", 128)
    return [Tensor(f"{prefix}embedding.weight", (rows, width), role, Shard.VOCAB)]


def _soft_tokens(prefix: str, width: int, hidden: int, role: Role) -> list[Tensor]:
    return [
        *layer_norm(f"{prefix}hard_embedding_norm", width, role, bias=False),
        *layer_norm(f"{prefix}soft_embedding_norm", width, role, bias=False),
        *linear(f"{prefix}embedding_projection", hidden, width, role, Shard.ROW),
    ]


def _gemma4(config: Config, hidden: int) -> list[Tower]:
    towers: list[Tower] = []
    if config.has("vision_config"):
        eye = read_gemma4_vision(vision_config(config))
        weights = (*eye.tensors("model.vision_tower."), *_project("vision", eye.vit.hidden, hidden))
        tokens = config.integer("vision_soft_tokens_per_image", _IMAGE_TOKENS)
        towers.append(Tower(weights, eye.largest_input(tokens)))
    if config.has("audio_config"):
        ear = read_gemma4_audio(vision_config(config, "audio_config"))
        weights = (*ear.tensors("model.audio_tower."), *_project("audio", ear.output, hidden))
        towers.append(Tower(weights, ear.largest_input(_AUDIO_TOKENS)))
    return towers


def _project(modality: str, width: int, hidden: int) -> list[Tensor]:
    name = f"model.embed_{modality}.embedding_projection"
    return replicated(name, (hidden, width), Role.PROJECTOR)


def _gemma4_unified(config: Config, hidden: int) -> list[Tower]:
    """No encoders: patches and audio frames are projected straight into the language model."""
    towers: list[Tower] = []
    if config.has("vision_config"):
        towers.append(_raw_patches(vision_config(config), hidden))
    if config.has("audio_config"):
        section = vision_config(config, "audio_config")
        width = section.integer("audio_embed_dim", 640)
        clip = TowerInput("audio", width * _AUDIO_TOKENS, _AUDIO_TOKENS, _AUDIO_TOKENS, width)
        towers.append(Tower(tuple(_project("audio", width, hidden)), clip))
    return towers


def _raw_patches(config: Config, hidden: int) -> Tower:
    role, prefix = Role.VISION, "model.vision_embedder."
    width = config.integer("mm_embed_dim", 3840)
    side = config.integer("patch_size", 16) * config.integer("pooling_kernel_size", 3)
    rows = config.integer("mm_posemb_size", 1120)
    flat = 3 * side**2
    weights = [
        *layer_norm(f"{prefix}patch_ln1", flat, role),
        *replicated(f"{prefix}patch_dense", (width, flat), role, bias=True),
        *layer_norm(f"{prefix}patch_ln2", width, role),
        Tensor(f"{prefix}pos_embedding", (rows, 2, width), role),
        *layer_norm(f"{prefix}pos_norm", width, role),
        *_project("vision", config.integer("output_proj_dims", 3840), hidden),
    ]
    pixels = _IMAGE_TOKENS * flat
    return Tower(tuple(weights), TowerInput("image", pixels, _IMAGE_TOKENS, _IMAGE_TOKENS, width))


_CLASSES: Final = {
    "gemma3n": ("Gemma3nForConditionalGeneration", _gemma3n),
    "gemma4": ("Gemma4ForConditionalGeneration", _gemma4),
    "gemma4_unified": ("Gemma4UnifiedForConditionalGeneration", _gemma4_unified),
}
