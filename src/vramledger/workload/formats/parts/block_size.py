"""How many tokens a prefix id stands for, read off the lengths of prompts and of their lists of ids."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

_SIZES: Final = (512, 16, 32, 64, 128, 256, 1024)  # those in use; Mooncake's first
_LARGEST: Final = 1 << 20  # tokens of a block; beyond it the field means something else
_SHARE: Final = 0.9  # of the records must agree: a log may have a damaged row


def consistent_sizes(
    records: Iterable[Mapping[str, Any]], length: str = "input_length", ids: str = "hash_ids"
) -> tuple[int, ...]:
    """The usual block sizes that explain the records, the most usual first; none without records.

    A list may hold an id for the last, partly filled block (Mooncake, Bailian) or leave it out (Weka).
    """
    pairs = [
        (each[length], len(each[ids]))
        for each in records
        if isinstance(each.get(length), int) and each[length] >= 0
        if isinstance(each.get(ids), list) and each[ids]
    ]
    if not pairs:
        return ()
    return tuple(size for size in _SIZES if _explained(size, pairs) >= _SHARE * len(pairs))


def stated_size(records: Iterable[Mapping[str, Any]], name: str = "block_size") -> int | None:
    """The size that the first record to state one states."""
    for each in records:
        size = each.get(name)
        if type(size) is int and 1 <= size <= _LARGEST:
            return size
    return None


def _explained(size: int, pairs: list[tuple[int, int]]) -> int:
    """How many lists have an id for each block of this size, with or without the last part."""
    return sum(count in (tokens // size, -(-tokens // size)) for tokens, count in pairs)
