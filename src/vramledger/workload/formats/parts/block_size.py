"""How many tokens a prefix id stands for, read off the lengths of prompts and of their lists of ids."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

_SIZES: Final = (512, 16, 32, 64, 128, 256, 1024)  # those in use; Mooncake's first


def consistent_sizes(
    records: Iterable[Mapping[str, Any]], length: str = "input_length", ids: str = "hash_ids"
) -> tuple[int, ...]:
    """The usual block sizes that explain every record, the most usual first; none without records.

    A list may hold an id for the last, partly filled block (Mooncake, Bailian) or leave it out (Weka).
    """
    pairs = [
        (each[length], len(each[ids]))
        for each in records
        if isinstance(each.get(length), int) and isinstance(each.get(ids), list) and each[ids]
    ]
    if not pairs:
        return ()
    return tuple(
        size
        for size in _SIZES
        if all(count in (tokens // size, -(-tokens // size)) for tokens, count in pairs)
    )
