"""A distribution of seconds in little memory: counts in buckets that grow by a fixed ratio."""

import math
from collections.abc import Mapping
from typing import Any, Final

_PER_DOUBLING: Final = 16  # so that a percentile is wrong by 2.2 % at most
_SMALLEST_S: Final = 1e-6
_LOG: Final = math.log(2) / _PER_DOUBLING


class Sketch:
    """Adds seconds one by one; percentiles are right within 2.2 %, the largest value and the sum are exact.

    Bucket i holds what lies in 2^(i/16) us up to 2^((i+1)/16) us; bucket 0 everything below.
    """

    __slots__ = ("count", "counts", "max_s", "sum_s")

    def __init__(self) -> None:
        self.counts: dict[int, int] = {}
        self.count = 0
        self.max_s = 0.0
        self.sum_s = 0.0

    def add(self, seconds: float) -> None:
        """Count a value."""
        bucket = int(math.log(seconds / _SMALLEST_S) / _LOG) if seconds > _SMALLEST_S else 0
        self.counts[bucket] = self.counts.get(bucket, 0) + 1
        self.count += 1
        self.sum_s += seconds
        self.max_s = max(self.max_s, seconds)

    def merge(self, other: "Sketch") -> None:
        """Count everything that the other has counted."""
        for bucket, count in other.counts.items():
            self.counts[bucket] = self.counts.get(bucket, 0) + count
        self.count += other.count
        self.sum_s += other.sum_s
        self.max_s = max(self.max_s, other.max_s)

    def percentile(self, share: float) -> float | None:
        """The value that this share (0..1) of the counted do not exceed; None where there is none."""
        if not self.count:
            return None
        wanted, seen = math.ceil(share * self.count), 0
        for bucket in sorted(self.counts):
            seen += self.counts[bucket]
            if seen >= wanted:
                return min(_SMALLEST_S * math.exp((bucket + 1) * _LOG), self.max_s)
        return self.max_s

    def to_json(self) -> dict[str, Any]:
        """The counts by bucket, and the exact figures."""
        counts = {str(bucket): self.counts[bucket] for bucket in sorted(self.counts)}
        return {"count": self.count, "sum_s": self.sum_s, "max_s": self.max_s, "buckets": counts}

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> "Sketch":
        """What `to_json` made."""
        made = cls()
        made.counts = {int(bucket): count for bucket, count in found["buckets"].items()}
        made.count, made.sum_s, made.max_s = found["count"], found["sum_s"], found["max_s"]
        return made
