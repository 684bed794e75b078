"""How people and tools write the name of a card, made comparable.

A name becomes a set of words: ``NVIDIA A100-SXM4-80GB`` and ``a100 80 GB sxm`` are both
``a100 80gb sxm``. Words that only name a brand do not tell two cards apart.
"""

import re
from typing import Final

_BRANDS: Final = frozenset(
    [
        "nvidia",
        "geforce",
        "tesla",
        "rtx",
        "gtx",
        "amd",
        "instinct",
        "radeon",
        "rx",
        "intel",
        "huawei",
        "gpu",
        "graphics",
        "r",
        "tm",
    ]
)
_VARIANTS: Final = frozenset(["ti", "super", "d", "xt", "xtx", "gre", "v2"])
# Only names that are not exactly ours come to these; `re` keeps them once compiled.
_SEPARATOR: Final = r"[^a-z0-9.+]+"
_MEMORY: Final = r"(\d+) ?(?:gb|gib|g)\b"
_SOCKET: Final = r"\b([a-z0-9]+?)?sxm\d*\b"
_GLUED_BRAND: Final = r"\b(rtx|gtx|rx)(\d{4})"
_GLUED_VARIANT: Final = r"\b(\d{4})(ti|super|d|xtx|xt|gre|ada)\b"
_GLUED_FORM: Final = r"\b([a-z]+\d+)(pcie|nvl)\b"
_SLICE: Final = re.compile(
    r"(?P<card>.+?)[\s/:_-]+(?:mig[\s_-]+)?(?P<profile>\d+g\.\d+gb)(?:\+\w+)?"
)


def folded(name: str) -> str:
    """The name without case and with one kind of separator: ``h100-80gb-hbm3``."""
    return re.sub(r"[\s_-]+", "-", name.strip().casefold())


def words(name: str) -> frozenset[str]:
    """The words of a name, sizes as ``80gb``, sockets as ``sxm``."""
    text = re.sub(_SEPARATOR, " ", name.casefold())
    text = re.sub(_GLUED_BRAND, r"\1 \2", text)
    text = re.sub(_GLUED_VARIANT, r"\1 \2", text)
    text = re.sub(_GLUED_FORM, r"\1 \2", text)
    text = re.sub(_SOCKET, lambda match: f"{match[1] or ''} sxm", text)
    return frozenset(re.sub(_MEMORY, r"\1gb", text).split())


def telling_words(name: str) -> frozenset[str]:
    """The words without those that only name a brand."""
    return words(name) - _BRANDS


def variant_words(name: str) -> frozenset[str]:
    """The words that make another model of a name: ``ti``, ``super``."""
    return words(name) & _VARIANTS


def covers(card_words: frozenset[str], wanted: frozenset[str]) -> bool:
    """Whether every wanted word is among a card's; a bare size ``80`` means ``80gb``."""
    return all(
        word in card_words or (word.isdigit() and f"{word}gb" in card_words) for word in wanted
    )


def split_slice(name: str) -> tuple[str, str] | None:
    """``(card, profile)`` of a MIG slice such as ``NVIDIA H200 MIG 1g.18gb``, None for a card."""
    match = _SLICE.fullmatch(name.strip().casefold())
    return None if match is None else (match["card"], match["profile"])
