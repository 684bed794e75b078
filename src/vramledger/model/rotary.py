"""Rotary position tables: cosine and sine for every position, which engines keep on the device.

One table serves all layers that rotate alike. A configuration describes them by the length it
allows, the rotated part of a head, and a scaling that may lengthen the table.
"""

from collections.abc import Callable, Mapping
from typing import Final

from vramledger.frozen import frozen
from vramledger.model.config import Config

_TEXT_KEYS: Final = ("text_config", "llm_config", "language_config")
_LENGTH_KEYS: Final = (
    "max_position_embeddings",
    "n_positions",
    "seq_length",
    "max_sequence_length",
    "model_max_length",
)
# Classes whose positions are learned, relative, by linear biases, or none at all.
_WITHOUT: Final = frozenset(
    {
        "bart", "bert", "bloom", "falcon_mamba", "gpt2", "gpt_bigcode", "jamba", "mamba", "mamba2",
        "mbart", "mpt", "nemotron_h", "opt", "roberta", "t5", "whisper", "xlm-roberta",
    }
)  # fmt: skip
# The rotated share of a head where a class assumes one that its files may leave out.
_PARTIAL: Final[Mapping[str, float]] = {
    "chatglm": 0.5,
    "glm": 0.5,
    "glm4": 0.5,
    "glm4_moe": 0.5,
    "gpt_neox": 0.25,
    "nemotron": 0.5,
    "nemotron-nas": 1.0,
    "persimmon": 0.5,
    "phi": 0.5,
    "qwen3_next": 0.25,
    "recurrent_gemma": 0.5,
    "stablelm": 0.25,
}
# Classes whose sliding layers keep the plain table while full layers scale theirs.
_PLAIN_FOR_SLIDING: Final = frozenset({"gemma3", "gemma3_text", "gemma3n_text", "olmo3"})
_FLOAT32: Final = frozenset({"gpt_oss"})  # classes that keep the table in float32


@frozen
class RotaryTable:
    """One table of `positions` rows, `dim` elements each (cosines and sines together).

    `sections` says that positions have several axes (images, video), for which engines lengthen the
    table; `float32` that the table is kept in that type whatever the model's.
    """

    positions: int
    dim: int
    sections: bool = False
    float32: bool = False


def rotary_tables(config: Config, head_dim: int) -> tuple[RotaryTable, ...]:
    """The tables of a decoder, none where its class has no rotary positions.

    Raises:
        BadInput: a rope value has the wrong type.
    """
    text = next((part for key in _TEXT_KEYS if (part := config.sub(key)) is not None), config)
    kind = text.text("model_type", config.text("model_type", ""))
    if head_dim < 1 or kind in _WITHOUT or _without_by_choice(text):
        return ()
    length = _length(text)
    settings = text.sub("rope_parameters") or text.sub("rope_scaling")
    if settings is None:
        return (RotaryTable(length, _dim(text, kind, head_dim), float32=kind in _FLOAT32),)
    by_layer = [part for key in settings.values if _is_object(part := settings.raw(key))]
    if by_layer:
        return _tables_by_layer(text, settings, kind, head_dim, length)
    main = _table(settings, length, _dim(text, kind, head_dim), float32=kind in _FLOAT32)
    plain = RotaryTable(length, main.dim)
    needs_plain = kind in _PLAIN_FOR_SLIDING or text.has("rope_local_base_freq")
    return (main, plain) if needs_plain else (main,)


def _tables_by_layer(
    text: Config, settings: Config, kind: str, head_dim: int, length: int
) -> tuple[RotaryTable, ...]:
    tables = []
    for name in settings.values:
        part = settings.sub(name) if _is_object(settings.raw(name)) else None
        if part is None:
            continue
        width = text.integer("global_head_dim", head_dim) if name == "full_attention" else head_dim
        tables.append(_table(part, length, _dim(part, kind, width), float32=kind in _FLOAT32))
    return tuple(tables)


def _table(settings: Config, length: int, dim: int, *, float32: bool) -> RotaryTable:
    kind = settings.text("rope_type", settings.text("type", "default"))
    rows = _ROWS.get(kind, _as_published)(settings, length)
    return RotaryTable(rows, dim, sections=settings.has("mrope_section"), float32=float32)


def _as_published(_settings: Config, length: int) -> int:
    return length


def _times_factor(settings: Config, length: int) -> int:
    return length if settings.has("alpha") else int(length * settings.number("factor", 1.0))


def _original_times_factor(settings: Config, length: int) -> int:
    original = settings.integer("original_max_position_embeddings", length)
    return int(original * settings.number("factor", 1.0))


def _short_and_long(settings: Config, length: int) -> int:
    return length + settings.integer("original_max_position_embeddings", length)


_ROWS: Final[Mapping[str, Callable[[Config, int], int]]] = {
    "linear": _times_factor,
    "dynamic": _times_factor,
    "yarn": _original_times_factor,
    "deepseek_yarn": _original_times_factor,
    "deepseek_llama_scaling": _original_times_factor,
    "longrope": _short_and_long,
    "su": _short_and_long,
}


def _length(text: Config) -> int:
    lengths = (text.integer(key) for key in _LENGTH_KEYS if text.has(key))
    return next(lengths, 2048)


def _dim(config: Config, kind: str, head_dim: int) -> int:
    """Rotated elements of a head, whichever way the class says it."""
    if config.has("qk_rope_head_dim"):
        return config.integer("qk_rope_head_dim", least=0)
    if config.has("rotary_dim"):
        return config.integer("rotary_dim", least=0)
    if config.text("rope_type", "") == "proportional":
        return head_dim  # the table spans the head, its unrotated part as zeros
    share = _PARTIAL.get(kind, 1.0)
    for key in ("partial_rotary_factor", "rotary_pct", "rope_pct"):
        if config.has(key):
            share = config.number(key, share)
    return int(head_dim * share)


def _without_by_choice(text: Config) -> bool:
    """A class that may switch rotary positions off, switched off."""
    return (
        text.raw("position_embedding_type") in ("nope", "alibi", "absolute")
        or text.raw("alibi") is True
        or text.raw("use_mem_rope") is False
    )


def _is_object(value: object) -> bool:
    return isinstance(value, dict)
