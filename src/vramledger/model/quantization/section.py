"""Where a configuration keeps its quantisation section, and what is read the same way in all."""

from typing import Final

from vramledger.model.config import Config

_KEYS: Final = ("quantization_config", "compression_config")
_TEXT_KEYS: Final = ("text_config", "llm_config", "language_config")


def find_section(config: Config) -> Config | None:
    """The quantisation section of a ``config.json`` (also of its text part), None where plain.

    The contents of ``hf_quant_config.json`` may stand under ``quantization_config`` as they are:
    its inner ``quantization`` object is used.
    """
    for holder in (config, *_text_parts(config)):
        for key in _KEYS:
            section = holder.sub(key)
            if section is not None and section.values:
                return section.sub("quantization") or section
    return None


def method_of(section: Config) -> str:
    """The method's name in lower case; sections of ModelOpt may give only their algorithm."""
    if not section.has("quant_method") and section.has("quant_algo"):
        return "modelopt"
    return section.text("quant_method").strip().lower()


def names(section: Config, *keys: str) -> tuple[str, ...]:
    """All module names listed under the keys, in order."""
    return tuple(name for key in keys for name in section.texts(key) or ())


def group_size(section: Config, key: str, default: int) -> int:
    """Inputs that share a scale; -1 and null mean all of them, given as 0."""
    value = section.integer(key, default, least=-1)
    return max(value, 0)


def _text_parts(config: Config) -> tuple[Config, ...]:
    return tuple(part for key in _TEXT_KEYS if (part := config.sub(key)) is not None)
