"""A version family as something that can be compared: rows of our tables say "since 0.20"."""

from vramledger.engine.vllm.rules import Rules

Family = tuple[int, int]


def family_of(rules: Rules) -> Family:
    """``"0.19"`` as ``(0, 19)``; a family written ``"0.10.2"`` counts as ``(0, 10)``."""
    major, minor, *_ = rules.family.split(".")
    return int(major), int(minor)
