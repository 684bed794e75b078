"""Dimensions of a decoder, read with the defaults of its class."""

from collections.abc import Callable
from typing import Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.model.config import LARGEST_DIMENSION, Config
from vramledger.model.model import TextShape

LARGEST_LAYER_COUNT: Final = 4096
_LENGTH_KEYS: Final = (
    "max_position_embeddings",
    "n_positions",
    "max_seq_len",
    "seq_length",
    "max_target_positions",
    "max_sequence_length",
    "max_seq_length",
    "seq_len",
)
# Rope variants whose published length already includes the scaling (vLLM's rule).
_LENGTH_INCLUDES_SCALING: Final = {
    "su",
    "longrope",
    "llama3",
    "yarn",
    "deepseek_yarn",
    "deepseek_llama_scaling",
}


ShapeRule = Callable[[Config], TextShape]


@frozen
class Defaults:
    """What a configuration class assumes for dimensions that a file leaves out.

    The first five are used only in a part of another configuration, which is saved as its
    difference from the class; a configuration of its own must state them.
    """

    hidden: int = 0  # 0: no default, the file must say
    layers: int = 0
    heads: int = 0
    intermediate: int = 0
    vocab: int = 0
    kv_heads: int = 0  # 0: as many as query heads
    head_dim: int = 0  # 0: hidden / heads
    positions: int = 2048


def read_shape(
    config: Config, defaults: Defaults, *, head_dim: int = 0, intermediate: int | None = None
) -> TextShape:
    """The dimensions under their usual names.

    `head_dim` and `intermediate` stand in where a class has other keys for them.

    Raises:
        BadInput: one is missing or out of range, or heads do not divide.
    """
    hidden = _own(config, "hidden_size", defaults.hidden)
    heads = _own(config, "num_attention_heads", defaults.heads)
    return TextShape(
        hidden=hidden,
        layers=layer_count(config, default=defaults.layers),
        heads=heads,
        kv_heads=read_kv_heads(config, "num_key_value_heads", heads, defaults.kv_heads),
        head_dim=head_dim or read_head_dim(config, hidden, heads, defaults.head_dim),
        intermediate=(
            _own(config, "intermediate_size", defaults.intermediate)
            if intermediate is None
            else intermediate
        ),
        vocab=_own(config, "vocab_size", defaults.vocab),
        max_positions=max_positions(config, defaults.positions),
        short_positions=_short_positions(config),
    )


@frozen
class Keys:
    """The spellings of the dimensions in a class that has its own; the first one found counts."""

    hidden: tuple[str, ...]
    layers: tuple[str, ...]
    heads: tuple[str, ...]
    vocab: tuple[str, ...] = ("vocab_size",)
    intermediate: tuple[str, ...] = ()  # none given or found: four times the hidden width
    kv_heads: str = ""  # none: as many as query heads


def keyed(keys: Keys, positions: int = 2048) -> ShapeRule:
    """A reader of dimensions under other names; `positions` is the class's longest sequence."""

    def read(config: Config) -> TextShape:
        hidden = config.integer(_found(config, keys.hidden))
        heads = config.integer(_found(config, keys.heads))
        inner = _found(config, keys.intermediate) if keys.intermediate else ""
        return TextShape(
            hidden=hidden,
            layers=layer_count(config, _found(config, keys.layers)),
            heads=heads,
            kv_heads=read_kv_heads(config, keys.kv_heads, heads, 0) if keys.kv_heads else heads,
            head_dim=read_head_dim(config, hidden, heads),
            intermediate=config.integer(inner, 4 * hidden) if inner else 4 * hidden,
            vocab=config.integer(_found(config, keys.vocab)),
            max_positions=max_positions(config, positions),
        )

    return read


def _found(config: Config, names: tuple[str, ...]) -> str:
    return next((name for name in names if config.has(name)), names[0])


def layer_count(config: Config, key: str = "num_hidden_layers", default: int = 0) -> int:
    """How many layers; a limit keeps an absurd count from filling memory."""
    return config.integer(key, default if config.nested and default else None,
                          most=LARGEST_LAYER_COUNT)  # fmt: skip


def read_kv_heads(config: Config, key: str, heads: int, default: int) -> int:
    """KV heads: an explicit null means as many as query heads, absence the class default.

    Raises:
        BadInput: they do not divide the query heads.
    """
    absent = key not in config.values
    kv_heads = config.integer(key, (default or heads) if absent else heads)
    if heads % kv_heads:
        origin = ", the default of its class" if absent else ""
        raise BadInput(
            f"{config.where}: {key!r} ({kv_heads}{origin}) does not divide the query heads ({heads}), "
            "so no group of queries can share a KV head; correct one of them."
        )
    return kv_heads


def read_head_dim(config: Config, hidden: int, heads: int, default: int = 0) -> int:
    """Width of a head: given, the class default, or hidden / heads.

    Raises:
        BadInput: it has to be hidden / heads, and that is not whole.
    """
    if config.has("head_dim"):
        return config.integer("head_dim")
    if default and "head_dim" not in config.values:
        return default
    if hidden % heads:
        raise BadInput(
            f"{config.where}: the hidden size ({hidden}) is not a multiple of the attention heads "
            f"({heads}) and no 'head_dim' is given; add it."
        )
    return hidden // heads


def max_positions(config: Config, default: int) -> int:
    """The longest sequence the configuration allows, rope scaling applied.

    Follows vLLM 0.33: the smallest of the length keys, replaced by ``model_max_length`` where
    given, times the rope factor unless the published length includes it already.

    Raises:
        BadInput: a length or the factor is out of range.
    """
    lengths = [config.integer(key) for key in _LENGTH_KEYS if config.has(key)]
    length = min(lengths, default=default)
    if config.has("model_max_length"):
        length = config.integer("model_max_length")
    if "gemma3" in config.text("model_type", ""):
        return length
    scaled = length * _rope_factor(config)
    if scaled > LARGEST_DIMENSION:
        raise BadInput(
            f"{config.where}: the longest sequence comes to more than {LARGEST_DIMENSION} tokens; "
            "correct its length or the rope 'factor'."
        )
    return int(scaled)


def _short_positions(config: Config) -> int | None:
    """The original length of a LongRoPE model, None for every other."""
    kinds = [rope.text("rope_type", rope.text("type", "")) for rope in _rope_sections(config)]
    key = "original_max_position_embeddings"
    return config.integer(key) if "longrope" in kinds and config.has(key) else None


def _own(config: Config, key: str, default: int) -> int:
    return config.integer(key, default if config.nested and default else None)


def _rope_factor(config: Config) -> float:
    factor = 1.0
    for rope in _rope_sections(config):
        kind = rope.text("rope_type", rope.text("type", "default"))
        if kind not in _LENGTH_INCLUDES_SCALING:
            factor = rope.number("factor", factor)
    if factor <= 0:
        raise BadInput(f"{config.where}: the rope 'factor' is {factor}; it must be positive.")
    return factor


def _rope_sections(config: Config) -> list[Config]:
    """The rope settings: one section, or one for each kind of layer."""
    section = config.sub("rope_parameters") or config.sub("rope_scaling")
    if section is None:
        return []
    inner = [section.sub(key) for key, value in section.values.items() if isinstance(value, dict)]
    return [part for part in inner if part is not None] or [section]
