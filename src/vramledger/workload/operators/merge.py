"""Workloads side by side in time."""

from collections.abc import Sequence
from pathlib import Path

from vramledger.errors import BadInput, CannotKnow
from vramledger.workload.operators.agreement import same_blocks, together
from vramledger.workload.operators.change import Change, Progress, change, figures, silent, towards
from vramledger.workload.operators.part import Part, Source, source_of
from vramledger.workload.operators.union import union
from vramledger.workload.operators.week import WEEK_S
from vramledger.workload.store import read_metadata, write_workload


def merge(
    paths: Sequence[Path],
    out: Path,
    progress: Progress = silent,
    *,
    by_week: bool = False,
    same_models: bool = False,
) -> Change:
    """Write all requests of two or more workloads.

    Their clocks all start at 0; with `by_week` each starts at its own hour of the week, at or after
    that of the first. No session, tenant or prefix block of one is that of another.

    Raises:
        BadInput: fewer than two, no workload, or `out` cannot be written.
        CannotKnow: one has no times, or with `by_week` no clock.
    """
    if len(paths) < 2:
        raise BadInput("merge takes two workloads or more; name another one.")
    notes: list[str] = []
    sources = same_blocks([timed(path) for path in paths], notes)
    before = tuple(figures(path) for path in paths)
    starts = _starts_s(sources, notes, by_week=by_week)
    parts = [
        Part(source, at_ns=start * 10**9) for source, start in zip(sources, starts, strict=True)
    ]
    metadata = together(sources, f"merge: {len(paths)} workloads")
    rows = sum(source.stored.rows for source in sources)
    stored = write_workload(
        union(parts, same_models=same_models), metadata, out, progress=towards(rows, progress)
    )
    return change("merge", before, stored, notes)


def timed(path: Path) -> Source:
    """A stored workload that has times.

    Raises:
        BadInput: no workload.
        CannotKnow: it has no times.
    """
    source = source_of(read_metadata(path))
    if not source.timed:
        raise CannotKnow(
            f"{path} has no times, so its requests have no place beside others; vram workload synth "
            "makes arrivals for it."
        )
    return source


def _starts_s(sources: Sequence[Source], notes: list[str], *, by_week: bool) -> list[int]:
    """Seconds from the first workload's zero to that of each."""
    if not by_week:
        if len({source.stored.metadata.week_offset_s for source in sources}) > 1:
            notes.append("All clocks start at 0; hours of the week are those of the first.")
        return [0] * len(sources)
    offsets = [_week_offset_s(source) for source in sources]
    return [(offset - offsets[0]) % WEEK_S for offset in offsets]


def _week_offset_s(source: Source) -> int:
    found = source.stored.metadata.week_offset_s
    if found is None:
        raise CannotKnow(
            f"{source.path} has no clock, so its hour of the week is not known; leave out --by-week."
        )
    return found
