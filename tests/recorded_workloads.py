"""Profiles of recorded requests made by hand, for the tests of plans and sizing: no database needed."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from vramledger.workload.profile.bins import bin_of
from vramledger.workload.profile.json_form import to_json
from vramledger.workload.profile.profile import (
    Arrival,
    Cell,
    ContextLimit,
    Joint,
    Lengths,
    Profile,
    Slice,
)

Requests: TypeAlias = Sequence[tuple[int, int]]  # input and output tokens of each
CHAT: Requests = [(400 + 9 * i, 60 + i % 300) for i in range(300)]
LONG: Requests = [(9000 + 31 * i, 200 + i) for i in range(20)]
_LIMITS = (2048, 4096, 8192, 16384, 32768)


def order_statistic(values: Sequence[int], share: float) -> int:
    """The smallest of the values that this share of them stays within."""
    ordered = sorted(values)
    whole, rest = divmod(round(share * 1000) * len(ordered), 1000)
    return ordered[max(0, whole + (rest > 0) - 1)]


def lengths_of(values: Sequence[int]) -> Lengths:
    at: dict[str, Any] = {
        name: float(order_statistic(values, share)) for name, share in _SHARES.items()
    }
    return Lengths(
        count=len(values), total=sum(values), mean=sum(values) / len(values), min=min(values),
        max=max(values), **at,
    )  # fmt: skip


def joint_of(requests: Requests) -> Joint:
    cells: dict[tuple[int, int], list[int]] = {}
    for inputs, outputs in requests:
        counted = cells.setdefault((bin_of(inputs), bin_of(outputs)), [0, 0, 0])
        for index, more in enumerate((1, inputs, outputs)):
            counted[index] += more
    longest = max(requests, key=sum)
    return Joint(tuple(Cell(*key, *cells[key]) for key in sorted(cells)), *longest)


def slice_of(
    name: str, requests: Requests, per_s: float | None = 2.0, duration_s: float | None = None
) -> Slice:
    return Slice(
        name=name,
        definition="a test's",
        start_s=0.0,
        seconds=3600.0,
        requests=len(requests),
        mean_per_s=per_s,
        input_tokens=lengths_of([each[0] for each in requests]),
        output_tokens=lengths_of([each[1] for each in requests]),
        joint=joint_of(requests),
        mean_duration_s=duration_s,
    )


def limit_of(requests: Requests, limit: int, asked: Sequence[int] | None = None) -> ContextLimit:
    """What a limit turns away, request by request; `asked` are the most output tokens of each."""
    refused = sum(inputs >= limit for inputs, _ in requests)
    cut = sum(inputs < limit < inputs + outputs for inputs, outputs in requests)
    over = None
    if asked is not None:
        over = sum(inputs + most > limit for (inputs, _), most in zip(requests, asked, strict=True))
    return ContextLimit(limit, refused, cut, over)


def profile_of(
    requests: Requests, per_s: float | None = 2.0, slices: Sequence[Slice] = (), **parts: Any
) -> Profile:
    """The whole of `requests`; `parts` are further fields of the profile."""
    inputs, outputs = [each[0] for each in requests], [each[1] for each in requests]
    longest = max(map(sum, requests))
    useful = next((limit for limit in _LIMITS if limit >= longest), _LIMITS[-1])
    stated: Mapping[str, Any] = {
        "basis": {"input_tokens": "measured", "output_tokens": "measured"},
        "outcomes": {"unknown": len(requests)},
        "context": tuple(limit_of(requests, each) for each in _LIMITS if each <= useful),
    }
    return Profile(
        **{
            "requests": len(requests),
            "input_tokens": lengths_of(inputs),
            "output_tokens": lengths_of(outputs),
            "joint": joint_of(requests),
            "arrival": Arrival(mean_per_s=per_s),
            "scenarios": tuple(slices),
            **stated,
            **parts,
        }
    )


def written(profile: Profile, path: Path) -> Path:
    """The profile as a JSON file."""
    path.write_text(json.dumps(to_json(profile)), encoding="utf-8")
    return path


_SHARES = {
    "p10": 0.1, "p25": 0.25, "p50": 0.5, "p75": 0.75, "p90": 0.9, "p95": 0.95, "p99": 0.99,
    "p999": 0.999,
}  # fmt: skip
