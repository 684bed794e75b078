"""Parts: copies of stored workloads on their way into one, and when their requests arrive."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from vramledger.frozen import frozen
from vramledger.workload.operators.columns import (
    Column,
    column,
    nanoseconds,
    narrow,
    numbers_of,
    read,
)
from vramledger.workload.operators.groups import thinned
from vramledger.workload.operators.sharing import lists
from vramledger.workload.store import Stored

if TYPE_CHECKING:
    from vramledger.workload.operators.columns import Array

LABEL: Final = re.compile(r"model-(\d+)")  # a label of ours, not a name that was kept


@frozen
class Source:
    """A stored workload and how far its numbers go."""

    stored: Stored
    sessions: int
    tenants: int
    blocks: int
    models: int  # of ours: model-0, model-1, ...
    timed: bool
    period_ns: int  # first arrival to last, and one mean gap
    coarser: int | None = 1  # blocks that make one; None: its blocks are left out

    @property
    def path(self) -> Path:
        return self.stored.path


@frozen
class Part:
    """A copy of a source, thinned and moved in time."""

    source: Source
    copy: int = 0  # 0 is the original, which comes before its copies
    share: float = 1.0  # of its groups that are kept
    seed: int = 0
    stream: int = 0  # of the seed: one for each source
    shift_ns: int = 0  # circular, within the source's period
    at_ns: int = 0  # then added
    end_ns: int | None = None  # arrivals from here on are left out


@frozen
class Arranged:
    """When the rows of a part arrive."""

    kept: "Array"
    arrival: Column  # ns
    wrapped: "Array"  # rows that the circular shift took from the end to the beginning


def source_of(stored: Stored) -> Source:
    """A stored workload measured for its numbers, in one pass."""
    sizes = dict.fromkeys(("session", "tenant"), 0)
    blocks = models = last = 0
    timed = False
    for batch in narrow(stored.path, ("session", "tenant", "model", "prefix_blocks", "arrival_s")):
        for name in sizes:
            sizes[name] = max(sizes[name], numbers_of(column(batch, name)))
        blocks = max(blocks, int(lists(batch).values.max(initial=-1)) + 1)
        labels = [LABEL.fullmatch(name or "") for name in batch["model"].unique().to_pylist()]
        models = max((models, *(int(label[1]) + 1 for label in labels if label)))
        arrival = nanoseconds(column(batch, "arrival_s"))
        timed = timed or not arrival.absent.all()
        last = max(last, int(arrival.values.max(initial=0)))
    period = last + max(1, last // max(1, stored.rows - 1))
    return Source(stored, sizes["session"], sizes["tenant"], blocks, models, timed, period)


def arranged(part: Part) -> Arranged:
    """The rows a part keeps and when they arrive."""
    import numpy as np

    source = part.source
    kept = thinned(source.stored, part.share, part.seed, part.stream, part.copy)
    arrival = nanoseconds(read(source.path, "arrival_s"))
    wrapped = arrival.values + part.shift_ns >= source.period_ns
    values = arrival.values + part.shift_ns - np.where(wrapped, source.period_ns, 0) + part.at_ns
    if part.end_ns is not None:
        kept &= arrival.absent | (values < part.end_ns)
    return Arranged(kept, Column(values, arrival.absent), wrapped & ~arrival.absent)


def first_arrival_ns(parts: Sequence[Part]) -> int:
    """The earliest arrival of all parts, 0 where none has one."""
    found = []
    for part in parts:
        here = arranged(part)
        timed = here.kept & ~here.arrival.absent
        if timed.any():
            found.append(int(here.arrival.values[timed].min()))
    return min(found, default=0)
