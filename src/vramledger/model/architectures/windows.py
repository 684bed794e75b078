"""Which layers keep only a window of tokens, by the rule of each class.

A rule gives one figure a layer: the window in tokens, 0 for a layer that keeps all.
"""

from collections.abc import Callable, Sequence
from typing import Final

from vramledger.errors import BadInput, UnknownName
from vramledger.model.config import Config
from vramledger.model.model import TextShape

WindowRule = Callable[[Config, int], tuple[int, ...]]

FULL: Final = "full_attention"
SLIDING: Final = "sliding_attention"
_KINDS: Final = (FULL, SLIDING)


def none(_config: Config, layers: int) -> tuple[int, ...]:
    """Every layer keeps all tokens."""
    return (0,) * layers


def everywhere(default: int = 0, key: str = "sliding_window") -> WindowRule:
    """One window for all layers."""

    def rule(config: Config, layers: int) -> tuple[int, ...]:
        return (read_window(config, default, key),) * layers

    return rule


def interleaved(period: int, default: int = 4096) -> WindowRule:
    """Every `period`-th layer is full; the file may list ``layer_types`` or another pattern."""

    def rule(config: Config, layers: int) -> tuple[int, ...]:
        kinds = layer_kinds(config, layers, _patterned(config, layers, period))
        return by_kind(kinds, read_window(config, default))

    return rule


def _patterned(config: Config, layers: int, period: int) -> list[str]:
    """Kinds by ``sliding_window_pattern``: a period, or letters (EXAONE 4) with L for sliding.

    Letters repeat, and the last layer is full whatever its letter.
    """
    letters = config.raw("sliding_window_pattern")
    if not isinstance(letters, str):
        every = config.integer("sliding_window_pattern", period)
        return [FULL if (i + 1) % every == 0 else SLIDING for i in range(layers)]
    if not letters or set(letters) - {"L", "G"}:
        raise BadInput(
            f"{config.where}: 'sliding_window_pattern' is {letters[:40]!r}; write it in the letters "
            "L (sliding) and G (full), or as a period."
        )
    slides = [letters[i % len(letters)] == "L" and i < layers - 1 for i in range(layers)]
    return [SLIDING if slide else FULL for slide in slides]


def listed(default: int = 4096) -> WindowRule:
    """Layers as ``layer_types`` lists them; without it all slide when there is a window."""

    def rule(config: Config, layers: int) -> tuple[int, ...]:
        kinds = layer_kinds(config, layers, [SLIDING] * layers)
        return by_kind(kinds, read_window(config, default))

    return rule


def without_rope(config: Config, layers: int) -> tuple[int, ...]:
    """SmolLM3: windows, when switched on, sit on the layers without rotary positions."""
    window = read_window(config, 0)
    every = config.integer("no_rope_layer_interval", 4)
    rope = config.integers("no_rope_layers") or [int((i + 1) % every != 0) for i in range(layers)]
    slides = config.flag("use_sliding_window", default=False) and window
    kinds = [SLIDING if slides and not has_rope else FULL for has_rope in rope]
    return by_kind(layer_kinds(config, layers, kinds[:layers]), window)


def switched(kind_of: Callable[[int, int], bool]) -> WindowRule:
    """Qwen's switch: windows only with ``use_sliding_window``.

    `kind_of` says whether layer i slides, given ``max_window_layers``.
    """

    def rule(config: Config, layers: int) -> tuple[int, ...]:
        if not config.flag("use_sliding_window", default=False):
            return none(config, layers)
        bound = config.integer("max_window_layers", 28, least=0)
        window = read_window(config, 4096)
        kinds = [SLIDING if kind_of(i, bound) else FULL for i in range(layers)]
        return by_kind(layer_kinds(config, layers, kinds), window)

    return rule


def everywhere_if_used(config: Config, layers: int) -> tuple[int, ...]:
    """One window for all layers, only with ``use_sliding_window``."""
    if not config.flag("use_sliding_window", default=False):
        return none(config, layers)
    return everywhere(4096)(config, layers)


def above_max_window_layers(config: Config, layers: int) -> tuple[int, ...]:
    """Layers from ``max_window_layers`` on slide, unless ``layer_types`` says otherwise."""
    window = read_window(config, 4096)
    bound = config.integer("max_window_layers", layers, least=0)
    kinds = [SLIDING if window and i >= bound else FULL for i in range(layers)]
    return by_kind(layer_kinds(config, layers, kinds), window)


def read_window(config: Config, default: int, key: str = "sliding_window") -> int:
    """The window in tokens: absent means the class default, null none (0)."""
    if key not in config.values:
        return default
    return config.integer(key, 0, least=0)


def layer_kinds(
    config: Config,
    layers: int,
    default: Sequence[str],
    known: Sequence[str] = _KINDS,
    key: str = "layer_types",
) -> tuple[str, ...]:
    """The kind of every layer from the file, or `default`.

    Raises:
        BadInput: the list is shorter than the layers.
        UnknownName: a kind is none of `known`.
    """
    kinds = config.texts(key)
    if kinds is None:
        return tuple(default)
    if len(kinds) < layers:
        raise BadInput(
            f"{config.where}: {key!r} lists {len(kinds)} layers, but there are {layers}; "
            "list every layer."
        )
    for kind in kinds[:layers]:
        if kind not in known:
            raise UnknownName("layer kind", kind, known, f"{config.where}, {key!r}")
    return kinds[:layers]


def by_kind(kinds: Sequence[str], window: int) -> tuple[int, ...]:
    """The window on sliding layers, 0 on the others."""
    return tuple(window if kind == SLIDING else 0 for kind in kinds)


def bounded(windows: Sequence[int], text: TextShape) -> tuple[int, ...]:
    """The windows, less those that the longest possible sequence never fills."""
    return tuple(window if window < text.max_positions else 0 for window in windows)
