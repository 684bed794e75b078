"""What several workloads say of themselves, as one: block sizes, clocks, bases, histories."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from vramledger.workload.metadata import Metadata
from vramledger.workload.operators.part import Source

_WEAKEST_LAST: Final = ("measured", "exact", "assumed", "mean")


def same_blocks(sources: Sequence[Source], notes: list[str]) -> list[Source]:
    """The sources with their prefix blocks at one size: the largest of them.

    Smaller blocks are joined where the largest is a multiple of them; else they are left out, and a
    note says so.
    """
    sizes = [source.stored.metadata.block_tokens for source in sources]
    largest = max((size for size in sizes if size), default=None)
    found = []
    for place, (source, size) in enumerate(zip(sources, sizes, strict=True), 1):
        if largest is None or size is None or size == largest:
            found.append(source)
        elif largest % size:
            notes.append(
                f"Prefix blocks of {size} tokens do not make blocks of {largest}; those of workload "
                f"{place} are left out."
            )
            found.append(replace(source, coarser=None))
        else:
            notes.append(
                f"Prefix blocks of workload {place} are joined from {size} tokens to {largest}."
            )
            found.append(replace(source, coarser=largest // size))
    return found


def together(sources: Sequence[Source], what: str) -> Metadata:
    """The metadata of a workload made of several; its clock is that of the first.

    Counts are added, of bases the weakest holds (mean, then assumed, exact, measured), and each
    history keeps the number of its workload.
    """
    each = [source.stored.metadata for source in sources]
    sizes = [metadata.block_tokens for metadata in each if metadata.block_tokens]
    zones = {metadata.time_zone for metadata in each}
    formats: Counter[str] = Counter()
    for metadata in each:
        formats.update(metadata.formats)
    return Metadata(
        block_tokens=max(sizes, default=None),
        week_offset_s=each[0].week_offset_s,
        time_zone=zones.pop() if len(zones) == 1 else each[0].time_zone,
        formats=dict(sorted(formats.items())),
        loss=_added([metadata.loss for metadata in each]),
        inferred=tuple(dict.fromkeys(said for metadata in each for said in metadata.inferred)),
        basis=_weakest(each),
        history=(
            *(
                f"workload {place}: {said}"
                for place, metadata in enumerate(each, 1)
                for said in metadata.history
            ),
            what,
        ),
        synthetic=any(metadata.synthetic for metadata in each),
    )


def _weakest(each: Sequence[Metadata]) -> dict[str, str]:
    names = sorted({name for metadata in each for name in metadata.basis})
    return {
        name: max(
            (metadata.basis[name] for metadata in each if name in metadata.basis),
            key=lambda basis: _WEAKEST_LAST.index(basis) if basis in _WEAKEST_LAST else len(basis),
        )
        for name in names
    }


def _added(reports: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Loss reports as one: counts added, sentences joined; places in files belong to one alone."""
    found: dict[str, Any] = {}
    for report in reports:
        for name, value in report.items():
            kept = _addable(value)
            if kept is not None:
                found[name] = kept if name not in found else _sum(found[name], kept)
    return found


def _addable(value: Any) -> Any:
    """A count, counts by name or sentences; None for everything else."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, Mapping) and all(type(count) is int for count in value.values()):
        return dict(value)
    if isinstance(value, list | tuple) and all(isinstance(said, str) for said in value):
        return tuple(value)
    return None


def _sum(first: Any, second: Any) -> Any:
    if isinstance(first, tuple):
        return tuple(dict.fromkeys(first + second))
    if isinstance(first, dict):
        return dict(Counter(first) + Counter(second))
    return first + second
