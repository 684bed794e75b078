"""Two workloads at stated shares, at the rate of the first.

The first is thinned to 1 - share, the second brought to share x the first's rate by thinning or
superposing as in `scale`, over the time that the first covers: a longer one is cut there, a shorter
one is repeated end to end, each time as other people. Thinning is by session, so the number of
requests is that of the first on average, not to the unit.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.units import div_ceil
from vramledger.workload.operators.agreement import same_blocks, together
from vramledger.workload.operators.change import (
    Change,
    Progress,
    change,
    figures,
    refuse_empty,
    silent,
    towards,
)
from vramledger.workload.operators.columns import NS
from vramledger.workload.operators.merge import timed
from vramledger.workload.operators.part import Part, Source, arranged, first_arrival_ns
from vramledger.workload.operators.scale import copies
from vramledger.workload.operators.union import union
from vramledger.workload.operators.week import moved
from vramledger.workload.store import write_workload

_MOST_PARTS: Final = 1000
_FIRST, _SECOND = 0, 1  # streams of the seed


@frozen
class Mix:
    """How to mix. `share` is the second workload's share of the requests, between 0 and 1."""

    share: float
    seed: int = 0
    same_models: bool = False


def mix(first: Path, second: Path, how: Mix, out: Path, progress: Progress = silent) -> Change:
    """Write the mix of two workloads.

    Raises:
        BadInput: no workload, a share out of range, a second one far too short, nothing left, or
            `out` cannot be written.
        CannotKnow: one has no times.
    """
    if not 0 < how.share < 1:
        raise BadInput(f"--share {how.share:g} is no share; take one between 0 and 1.")
    notes: list[str] = []
    sources = same_blocks([timed(first), timed(second)], notes)
    before = (figures(first), figures(second))
    parts = [
        Part(sources[0], share=1 - how.share, seed=how.seed, stream=_FIRST),
        *_brought(sources, how, notes),
    ]
    refuse_empty(sum(int(arranged(part).kept.sum()) for part in parts), "The mix has no request.")
    zero_ns = first_arrival_ns(parts)
    metadata = moved(together(sources, f"mix: share {how.share:g}, seed {how.seed}"), zero_ns / NS)
    rows = union(parts, zero_ns=zero_ns, same_models=how.same_models)
    stored = write_workload(rows, metadata, out, progress=towards(before[0].requests, progress))
    return change("mix", before, stored, notes)


def _brought(sources: Sequence[Source], how: Mix, notes: list[str]) -> list[Part]:
    """The second workload at its share of the first one's rate, over the first one's time."""
    base, other = sources
    rate = how.share * _per_ns(base) / _per_ns(other)
    times = div_ceil(base.period_ns, other.period_ns)
    once = copies(other, rate, how.seed, _SECOND)
    if times * len(once) > _MOST_PARTS:
        raise BadInput(
            f"{other.path} would be repeated {times * len(once):,} times to last as long as "
            f"{base.path} at that share; make a longer one of it with vram workload synth."
        )
    notes.append(_lasting(base, other, times))
    return [
        replace(
            part,
            copy=repeat * len(once) + part.copy,
            at_ns=repeat * other.period_ns,
            end_ns=base.period_ns,
        )
        for repeat in range(times)
        for part in once
    ]


def _per_ns(source: Source) -> float:
    return source.stored.rows / source.period_ns


def _lasting(base: Source, other: Source, times: int) -> str:
    if times > 1:
        return (
            f"The second workload is shorter and is repeated {times} times, as other people each."
        )
    if other.period_ns > base.period_ns:
        return "The second workload is longer; what comes after the first one's end is left out."
    return "Both workloads last equally long."
