"""``max_model_len``: what the model allows, what the launch asks for, what the engine derives.

Source: vLLM's ``_get_and_verify_max_len``.
"""

from typing import Final

from vramledger.engine.setting import Origin, Setting
from vramledger.engine.vllm.model_traits import Traits
from vramledger.engine.vllm.rules import Rules
from vramledger.engine.vllm.values import Values
from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.model.model import Model
from vramledger.units import parse_count

_UNKNOWN_LENGTH: Final = 2048  # used where a configuration does not say
_AUTO: Final = frozenset({"auto", "-1"})
_LARGEST: Final = 1 << 31


@frozen
class Length:
    """The length setting. `derived` is the longest the model's configuration allows.

    `planning` is the length other defaults are computed with: the setting, or `derived` when the
    engine is to fit it to memory.
    """

    setting: Setting[int | None]
    derived: int
    planning: int


def resolve_length(values: Values, model: Model, traits: Traits, rules: Rules) -> Length:
    """The length after derivation; a longer one than derived is kept for the findings to name.

    Raises:
        BadInput: not a count, below 1, or ``auto`` on a version without it.
    """
    derived = _overridden(values) or model.text.max_positions or _UNKNOWN_LENGTH
    note = ""
    if values.switch("disable-sliding-window") and traits.window:
        derived = min(derived, traits.window)
        note = "--disable-sliding-window caps the length at the window."
    text = values.text("max-model-len")
    if text is None:
        short = model.text.short_positions if rules.longrope_starts_short else None
        if short is not None and short < derived:
            note = f"LongRoPE starts at its original {short} tokens unless a longer limit is given."
            return Length(Setting(short, Origin.DERIVED, note), derived, short)
        return Length(Setting(derived, Origin.DERIVED, note), derived, derived)
    if text.casefold() in _AUTO:
        if not rules.auto_fit:
            raise BadInput(
                f"--max-model-len in {values.where} is {text!r}, which vLLM {rules.family} does "
                "not know; it fits the length to memory from 0.14 on, so give a number of tokens."
            )
        return Length(Setting(None, Origin.GIVEN), derived, derived)
    value = parse_count(text, f"--max-model-len in {values.where}")
    if not 1 <= value <= _LARGEST:
        raise BadInput(
            f"--max-model-len in {values.where} is {text}; it must be from 1 to {_LARGEST}."
        )
    return Length(Setting(value, Origin.GIVEN), derived, value)


def _overridden(values: Values) -> int | None:
    """The length that ``--rope-scaling`` or ``--hf-overrides`` extend the model to."""
    overrides = values.json("hf-overrides") or {}
    rope = values.json("rope-scaling")
    if rope is None:
        inner = overrides.get("rope_scaling") or overrides.get("rope_parameters")
        rope = inner if isinstance(inner, dict) else {}
    stated = overrides.get("max_position_embeddings")
    if isinstance(stated, int) and not isinstance(stated, bool) and stated > 0:
        return stated
    original, factor = rope.get("original_max_position_embeddings"), rope.get("factor")
    if not isinstance(original, int) or not isinstance(factor, int | float):
        return None
    return int(original * factor) if 0 < original * factor <= _LARGEST else None
