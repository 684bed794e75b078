"""Rows in parts as one array, part by part, so that Ctrl-C is heard between two of them."""

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vramledger.simulate.fast.load import Rows

_AT_ONCE: Final = 1 << 20  # rows


def joined(parts: "list[Rows]", empty: "Rows") -> "Rows":
    """All rows in order; `parts` is emptied meanwhile, so that hardly more memory than theirs is taken.

    `empty` has the type of the rows where there is no part.
    """
    if len(parts) == 1:
        return parts.pop()
    whole = np.empty(sum(map(len, parts)), empty.dtype)
    at = 0
    parts.reverse()
    while parts:
        part = parts.pop()
        whole[at : at + len(part)] = part
        at += len(part)
    return whole


def all_rows(tables: "Sequence[Rows]") -> "Rows":
    """The rows of tables that stay as they are, at least one: of a single one itself, not a copy."""
    if len(tables) == 1:
        return tables[0]
    slices = [
        table[start : start + _AT_ONCE]
        for table in tables
        for start in range(0, len(table), _AT_ONCE)
    ]
    return joined(slices, tables[0])
