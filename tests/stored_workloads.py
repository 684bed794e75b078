"""Small stored workloads for tests: rows as dictionaries, written and read back."""

import random
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from vramledger.workload.metadata import Metadata
from vramledger.workload.schema import COLUMNS, arrow_schema
from vramledger.workload.store import read_batches, write_workload

Row = dict[str, Any]
BLOCK = 16


def request(row: int, **values: Any) -> Row:
    return dict.fromkeys(COLUMNS) | {"row": row, "outcome": "ok"} | values


def stored(path: Path, requests: Iterable[Row], **metadata: Any) -> Path:
    batch = pa.RecordBatch.from_pylist(list(requests), arrow_schema())
    write_workload([batch], Metadata(**{"block_tokens": BLOCK} | metadata), path)
    return path


def rows(path: Path) -> list[Row]:
    return [row for batch in read_batches(path) for row in batch.to_pylist()]


def column(path: Path, name: str) -> list[Any]:
    return [row[name] for row in rows(path)]


def chats(sessions: int, turns: int = 4, *, seed: int = 0, span_s: float = 3600) -> list[Row]:
    """Conversations of three tenants behind one system prompt of two blocks.

    A tenant's sessions share a third block, a session's turns grow by two blocks each. The first
    session starts at 0; times are whole milliseconds.
    """
    draw = random.Random(seed)
    found: list[Row] = []
    for session in range(sessions):
        start, tenant = draw.randrange(int(span_s * 1000)) if session else 0, session % 3
        blocks = [0, 1, 10 + tenant]
        for turn in range(turns):
            blocks = [*blocks, *(100 + 100 * session + 2 * turn + half for half in (0, 1))]
            found.append(
                request(
                    len(found),
                    arrival_s=(start + turn * 20_000) / 1000,
                    input_tokens=len(blocks) * BLOCK + draw.randrange(BLOCK),
                    output_tokens=1 + draw.randrange(300),
                    prefix_blocks=blocks,
                    session=session,
                    turn=turn,
                    think_s=20.0 if turn else None,
                    tenant=tenant,
                    model=f"model-{tenant % 2}",
                )
            )
    return found


def reused_share(requests: Iterable[Mapping[str, Any]], block_tokens: int = BLOCK) -> float:
    """Share of full blocks that an earlier request had, counted plainly."""
    seen: set[int] = set()
    again = total = 0
    for row in requests:
        full = (row["prefix_blocks"] or [])[: row["input_tokens"] // block_tokens]
        total += len(full)
        again += sum(block in seen for block in full)
        seen.update(full)
    return again / total if total else 0.0
