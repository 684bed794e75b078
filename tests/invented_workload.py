"""Workloads invented for tests: every column holds something, nulls among it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa

from vramledger.workload.metadata import Metadata
from vramledger.workload.schema import COLUMNS, arrow_schema
from vramledger.workload.store import read_batches, write_workload

BLOCK_TOKENS = 16
OUTCOMES = ("ok", "ok", "ok", "failed", "cancelled", "unknown")


def rows_of_all_kinds(count: int, seed: int) -> list[dict[str, Any]]:
    """Rows as dicts of the columns, by arrival: sessions, shared prefixes, durations, gaps."""
    draw = Random(seed)
    systems = [list(range(each * 1000, each * 1000 + 40)) for each in range(3)]
    arrival, rows, next_block = 0.0, [], 10_000
    for row in range(count):
        arrival += draw.choice((0.0, draw.expovariate(0.5), draw.expovariate(3)))
        given = draw.choice((0, 1, draw.randrange(1, 900), draw.randrange(1, 9000)))
        shared = draw.choice(systems)[: draw.randrange(41)]
        own = list(range(next_block, next_block + -(-given // BLOCK_TOKENS)))
        next_block += len(own)
        blocks = (shared + own)[: -(-given // BLOCK_TOKENS)]
        made = draw.choice((0, 1, draw.randrange(1, 500), draw.randrange(1, 4000)))
        known = draw.random() > 0.1
        session = draw.randrange(40) if draw.random() > 0.3 else None
        rows.append(
            dict.fromkeys(COLUMNS)
            | {
                "row": row,
                "arrival_s": round(arrival, draw.choice((0, 3, 6))) if row else 0.0,
                "input_tokens": given,
                "output_tokens": made if known else None,
                "thinking_tokens": made // 3 if known and draw.random() > 0.5 else None,
                "cached_tokens": given // 4 if draw.random() > 0.5 else None,
                "max_output_tokens": draw.choice((None, 256, 4096)),
                "duration_s": draw.expovariate(0.1) if known else None,
                "prefix_blocks": blocks if draw.random() > 0.1 else None,
                "session": session,
                "turn": 0 if session is not None else None,
                "think_s": draw.expovariate(0.05) if session is not None else None,
                "outcome": draw.choice(OUTCOMES),
                "cancel_after_s": 4.5 if draw.random() > 0.95 else None,
                "retry_of": row - 1 if row and draw.random() > 0.95 else None,
                "images": draw.choice((None, 1, 2)),
                "audio_s": draw.choice((None, 1.25, 30.0006)),
                "model": draw.choice(("model-0", "model-1")),
                "tenant": draw.randrange(5),
            }
        )
    return rows


def stored(
    rows: Sequence[Mapping[str, Any]], path: Path, metadata: Metadata | None = None
) -> list[dict[str, Any]]:
    """Write the rows as a workload; gives them as stored, in order."""
    about = metadata or Metadata(block_tokens=BLOCK_TOKENS, week_offset_s=3 * 3600)
    batch = pa.RecordBatch.from_pylist(list(rows), arrow_schema())
    write_workload([batch], about, path)
    return [row for each in read_batches(path) for row in each.to_pylist()]


def rows_of(
    lengths: Sequence[tuple[int | None, int | None]], gap_s: float = 1.0
) -> list[dict[str, Any]]:
    """Rows of these input and output lengths, evenly spaced."""
    return [
        dict.fromkeys(COLUMNS)
        | {
            "row": row,
            "arrival_s": row * gap_s,
            "input_tokens": given,
            "output_tokens": made,
            "outcome": "ok",
        }
        for row, (given, made) in enumerate(lengths)
    ]
