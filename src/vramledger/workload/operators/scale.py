"""More or fewer arrivals, longer or shorter requests, a faster or slower clock.

Below 1, a rate thins: each of the `groups` (a session; a request without one, with its retries) is kept
with that probability, independently of all others. Above 1 it superposes: the workload itself and floor(rate) - 1
copies of it, and one more copy thinned to what is left of the rate. A copy is other people with the
same habits: its sessions, tenants and prefix blocks are new but for the blocks that `common_blocks`
finds. Its arrivals are shifted circularly by a time drawn evenly up to an hour (or the whole log, where
that is shorter): bursts of minutes do not fall together, the hours of the day do. A session that the
shift cuts in two becomes two.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from vramledger.errors import BadInput, CannotKnow
from vramledger.frozen import frozen
from vramledger.workload.metadata import Metadata
from vramledger.workload.operators.change import (
    Change,
    Progress,
    change,
    figures,
    refuse_empty,
    silent,
    towards,
)
from vramledger.workload.operators.columns import NS, Column, column, read, seconds, with_column
from vramledger.workload.operators.draws import generator
from vramledger.workload.operators.groups import thinned
from vramledger.workload.operators.lengths import Stretch, factor, stretch
from vramledger.workload.operators.part import Part, Source, source_of
from vramledger.workload.operators.subset import batches, subset
from vramledger.workload.operators.union import union
from vramledger.workload.operators.week import done, moved
from vramledger.workload.store import Stored, read_metadata, write_workload

if TYPE_CHECKING:
    import pyarrow as pa

LARGEST: Final = 1000.0  # factor
_SHIFT_NS: Final = 3600 * 10**9
_SHIFTS: Final = 1  # stream of the seed, beside those of the copies


@frozen
class Scale:
    """Factors; 1 leaves as it is. `option` is what the user calls the rate."""

    rate: float = 1.0
    time: float = 1.0  # of the clock: 0.5 lets a log of an hour go by in half of one
    input: float = 1.0
    output: float = 1.0
    seed: int = 0
    option: str = "--rate"


def scale(path: Path, by: Scale, out: Path, progress: Progress = silent) -> Change:
    """Write a workload at other factors.

    Raises:
        BadInput: no workload, a factor out of range, nothing left, or `out` cannot be written.
        CannotKnow: a rate above 1 of a workload without times.
    """
    _check(by)
    source, before = read_metadata(path), figures(path)
    refuse_empty(source.rows, f"{path} holds no request.")
    notes: list[str] = []
    rated = _rated(source, by, notes)
    rows = rated.rows
    if by.time != 1:
        rows = compressed(rows, by.time)
        notes.append("Times between arrivals are scaled; durations and first tokens are not.")
    if by.input != 1 or by.output != 1:
        rows = stretch(
            rows, Stretch(factor(by.input), factor(by.output)), source.metadata.block_tokens
        )
    stored = write_workload(
        rows,
        _metadata(source.metadata, by, rated.zero_s),
        out,
        ordered=rated.ordered,
        progress=towards(round(source.rows * by.rate), progress),
    )
    return change("scale", (before,), stored, notes)


def copies(source: Source, rate: float, seed: int, stream: int = 0) -> list[Part]:
    """The parts that superpose to `rate` (above 0) times the workload."""
    whole = int(rate)
    shares = [1.0] * whole + ([rate - whole] if rate > whole else [])
    most = min(source.period_ns, _SHIFT_NS)
    draws = generator(seed, stream, _SHIFTS, len(shares))
    shifts = [0, *(int(draws.integers(0, most)) for _ in shares[1:])]
    return [
        Part(source, copy, share, seed, stream, shift)
        for copy, (share, shift) in enumerate(zip(shares, shifts, strict=True))
    ]


def compressed(batches: Iterable["pa.RecordBatch"], by: float) -> Iterator["pa.RecordBatch"]:
    """Arrivals and the times between turns multiplied, in whole nanoseconds; durations are not."""
    import numpy as np

    for batch in batches:
        for name in ("arrival_s", "think_s"):
            own = column(batch, name)
            times = Column(np.rint(own.values * by * NS).astype(np.int64), own.absent)
            batch = with_column(batch, name, seconds(times))  # noqa: PLW2901
        yield batch


def _check(by: Scale) -> None:
    for name, value in _factors(by).items():
        if not 0 < value <= LARGEST:
            raise BadInput(f"--{name} {value:g} is no factor; take one above 0, up to {LARGEST:g}.")


def _factors(by: Scale) -> dict[str, float]:
    return {"rate": by.rate, "time": by.time, "input": by.input, "output": by.output}


@frozen
class _Rated:
    """Rows at another rate, the second of the source they count from, and whether in order."""

    rows: Iterator["pa.RecordBatch"]
    zero_s: float
    ordered: bool


def _rated(source: Stored, by: Scale, notes: list[str]) -> _Rated:
    if by.rate > 1:
        return _superposed(source, by, notes)
    kept = thinned(source, by.rate, by.seed)
    refuse_empty(
        int(kept.sum()),
        f"{by.option} {by.rate:g} leaves none of {source.rows:,} requests; take a larger one.",
    )
    if by.rate < 1 and source.metadata.block_tokens and _names_no_session(source):
        notes.append(
            "The workload names no sessions: requests that share a prefix block which fewer than 1 % "
            "of the requests hold are kept or dropped together (assumed: one conversation)."
        )
    chosen = subset(source.path, kept)
    notes.extend(chosen.notes)
    return _Rated(batches(chosen), chosen.zero_s, ordered=True)


def _names_no_session(source: Stored) -> bool:
    return bool(read(source.path, "session").absent.all())


def _superposed(source: Stored, by: Scale, notes: list[str]) -> _Rated:
    measured = source_of(source)
    if not measured.timed:
        raise CannotKnow(
            f"{source.path} has no times, so it has no rate to raise; vram workload synth makes "
            "arrivals for it."
        )
    parts = copies(measured, by.rate, by.seed)
    notes.append(
        f"{len(parts) - 1} shifted copies with sessions, tenants and private prefixes of their own."
        if len(parts) > 2
        else "One shifted copy with sessions, tenants and private prefixes of its own."
    )
    if measured.blocks and not (measured.sessions or measured.tenants):
        notes.append(
            "The workload names no sessions: prefix blocks that 1 % of the requests hold are taken as "
            "everybody's (assumed), all others as private."
        )
    return _Rated(union(parts), 0.0, ordered=False)


def _metadata(metadata: Metadata, by: Scale, zero_s: float) -> Metadata:
    said = ", ".join(f"{name} x{value:g}" for name, value in _factors(by).items() if value != 1)
    after = done(moved(metadata, zero_s), f"scale: {said or 'x1'}, seed {by.seed}")
    return after if by.time == 1 else replace(after, week_offset_s=None)
