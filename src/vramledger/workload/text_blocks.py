"""Prefix blocks of prompts whose text a log holds.

A block is `block_tokens` tokens of the prompt; its id is a keyed digest of its tokens and of the id of the block before,
so that equal ids mean equal prompts up to the block's end. Where tokens are estimated from characters a block is
as many characters as make that many tokens. A beginning that fills no block has none, as in an engine's own cache.

The key and the ids stay in memory: whoever had both could test whether a text occurred.
"""

from hashlib import blake2b
from typing import Final

from vramledger.workload.counting import Counter

KEY_BYTES: Final = 32
_ID_BYTES: Final = 12  # by chance equal among a billion ids: 1 in 1e11


def block_ids(text: str, counter: Counter, block_tokens: int, key: bytes) -> list[bytes]:
    """The ids of a text's full blocks, in order. `key` has `KEY_BYTES`, drawn anew for each run."""
    import numpy as np

    units = counter.units(text)
    total = int(units.ends[-1]) if len(units.ends) else 0
    step = block_tokens * units.parts
    borders = np.arange(step, total + 1, step, dtype=np.int64)
    ends = np.searchsorted(units.ends, borders, side="left") + 1  # the unit that reaches a border
    ids: list[bytes] = []
    before, start = b"", 0
    for end in ends.tolist():
        symbols = units.symbols[start * units.width : end * units.width]
        before = blake2b(before + symbols, key=key, digest_size=_ID_BYTES).digest()
        ids.append(before)
        start = end
    return ids
