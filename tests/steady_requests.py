"""Requests that arrive at random at one rate, and stored: loads whose answer is known beforehand."""

from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path
from random import Random

from stored_workloads import Row, request, stored

Lengths = int | tuple[int, int]  # one length, or the least and the most


def poisson(
    requests: int,
    per_s: float,
    input_tokens: Lengths,
    output_tokens: Lengths,
    *,
    seed: int = 0,
    start_s: float = 0.0,
) -> Iterator[Row]:
    """Requests with exponential gaps and lengths drawn evenly from a range."""
    draw, at = Random(seed), start_s

    def length(asked: Lengths) -> int:
        return asked if isinstance(asked, int) else draw.randint(*asked)

    for _ in islice(count(), requests):
        yield request(
            0,
            arrival_s=round(at, 6),
            input_tokens=length(input_tokens),
            output_tokens=length(output_tokens),
        )
        at += draw.expovariate(per_s)


def together(path: Path, *streams: Iterator[Row]) -> Path:
    """The streams in one stored workload, in the order of arrival."""
    rows = sorted((row for stream in streams for row in stream), key=lambda row: row["arrival_s"])
    first = rows[0]["arrival_s"]
    return stored(
        path,
        [row | {"row": n, "arrival_s": row["arrival_s"] - first} for n, row in enumerate(rows)],
    )
