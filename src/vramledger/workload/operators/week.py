"""What a workload says of itself once an operator has changed it: its clock, its history."""

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
    """The metadata with one more line of history.

    Names and dates that an import kept are left behind: sessions and tenants are numbered anew, and
    who is not in the result is not to be named by it.
    """
    left = " (names and dates that were kept are left out)" if metadata.kept else ""
    return replace(metadata, history=(*metadata.history, what + left), kept={})
