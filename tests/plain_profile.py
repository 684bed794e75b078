"""The profile computed the plain way, request by request: what the engines are checked against."""

from collections import Counter
from collections.abc import Sequence
from math import ceil, floor
from typing import Any

import numpy as np

from vramledger.workload.profile.bins import bin_of

Row = dict[str, Any]


def values(rows: Sequence[Row], name: str) -> list[Any]:
    return [row[name] for row in rows if row[name] is not None]


def both(rows: Sequence[Row]) -> list[Row]:
    return [
        row for row in rows if row["input_tokens"] is not None and row["output_tokens"] is not None
    ]


def figures(lengths: Sequence[int]) -> dict[str, Any]:
    """As `Lengths`, by numpy over the written-out values."""
    given = np.array(lengths)
    named = {
        "p10": 10,
        "p25": 25,
        "p50": 50,
        "p75": 75,
        "p90": 90,
        "p95": 95,
        "p99": 99,
        "p999": 99.9,
    }
    return {
        "count": len(given),
        "total": int(given.sum()),
        "mean": sum(lengths) / len(lengths),
        "min": int(given.min()),
        "max": int(given.max()),
        "bins": tuple(sorted(Counter(bin_of(each) for each in lengths).items())),
        **{name: float(np.percentile(given, at)) for name, at in named.items()},
    }


def cells(rows: Sequence[Row]) -> dict[tuple[int, int], tuple[int, int, int]]:
    found: dict[tuple[int, int], tuple[int, int, int]] = {}
    for row in both(rows):
        given, made = row["input_tokens"], row["output_tokens"]
        key = bin_of(given), bin_of(made)
        n, i, o = found.get(key, (0, 0, 0))
        found[key] = n + 1, i + given, o + made
    return found


def token_steps(row: Row) -> int:
    given, made = row["input_tokens"], row["output_tokens"]
    return int(sum(given + step for step in range(1, made + 1)))


def in_flight(rows: Sequence[Row]) -> list[int]:
    """Requests in flight at every whole second up to the last arrival of those with a duration."""
    timed = [row for row in rows if row["duration_s"] is not None]
    last = floor(max(row["arrival_s"] for row in timed))
    first = min(ceil(row["arrival_s"]) for row in timed)
    return [
        sum(row["arrival_s"] <= t < row["arrival_s"] + row["duration_s"] for row in timed)
        for t in range(first, last + 1)
    ]


def full_blocks(row: Row, block_tokens: int) -> list[int]:
    listed = row["prefix_blocks"] or []
    return list(listed[: row["input_tokens"] // block_tokens])


def reusable(rows: Sequence[Row], block_tokens: int, multiple: int) -> int:
    """Tokens that an endless prefix cache serves, of blocks `multiple` times as large."""
    cached, served = set(), 0
    for row in rows:
        blocks = full_blocks(row, block_tokens)[multiple - 1 :: multiple]
        served += sum(block in cached for block in blocks) * multiple * block_tokens
        cached.update(blocks)
    return served


def shared_blocks(rows: Sequence[Row], block_tokens: int) -> list[tuple[int, int, int]]:
    cached: set[int] = set()
    found: Counter[tuple[int, int]] = Counter()
    for row in rows:
        if row["prefix_blocks"] is None:
            continue
        blocks = full_blocks(row, block_tokens)
        found[bin_of(row["input_tokens"]), sum(block in cached for block in blocks)] += 1
        cached.update(blocks)
    return sorted((place, seen, n) for (place, seen), n in found.items())


def counts(rows: Sequence[Row], window_s: int) -> list[int]:
    places = [floor(row["arrival_s"]) // window_s for row in rows]
    return [places.count(place) for place in range(max(places) + 1)]
