"""The clock of a workload whose zero moves."""

from dataclasses import replace
from typing import Final

from vramledger.workload.metadata import Metadata

WEEK_S: Final = 7 * 86_400


def moved(metadata: Metadata, by_s: float) -> Metadata:
    """The metadata when second 0 is `by_s` later than it was; offsets stay in whole minutes."""
    if metadata.week_offset_s is None:
        return metadata
    offset = int(metadata.week_offset_s + by_s) % WEEK_S // 60 * 60
    return replace(metadata, week_offset_s=offset)


def done(metadata: Metadata, what: str) -> Metadata:
    """The metadata with one more line of history."""
    return replace(metadata, history=(*metadata.history, what))
