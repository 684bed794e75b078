"""A synthetic workload and how close it came, as text and as JSON."""

from typing import Any, Final

from vramledger.report.table import table
from vramledger.workload.synth.closeness import Closeness
from vramledger.workload.synth.line import Line
from vramledger.workload.synth.make import Synthetic

SCHEMA: Final = "vramledger.synth/1"
_HEAD: Final = ("part", "distance", "found", "typical", "limit", "verdict")
_NUMBERS: Final = frozenset({2, 3, 4})


def to_text(made: Synthetic) -> str:
    """What was written, then a line a distance."""
    lines = [f"{made.stored.rows:,} synthetic requests in {made.stored.path}.", *made.said]
    if made.closeness is not None:
        lines += ["", *_report(made.closeness)]
    return "\n".join(lines)


def to_json(made: Synthetic) -> dict[str, Any]:
    """The same as one JSON object."""
    return {
        "schema": SCHEMA,
        "requests": made.stored.rows,
        "arrivals": made.arrivals.kind,
        "notes": list(made.said),
        "closeness": None if made.closeness is None else _closeness(made.closeness),
    }


def _report(found: Closeness) -> list[str]:
    rows = [_row(line) for line in found.lines]
    said = [
        (
            f"typical and limit: half and {found.level:.0%} of pairs of samples of one source, of "
            f"{found.source_requests:,} and {found.requests:,} requests, differ by no more."
        )
    ]
    reasons = dict.fromkeys((line.verdict, line.reason) for line in found.lines if line.reason)
    for verdict, reason in reasons:
        parts = [
            line.part for line in found.lines if (line.verdict, line.reason) == (verdict, reason)
        ]
        said.append(f"{', '.join(parts)}: {verdict}, {reason}.")
    if found.not_compared:
        said.append(
            f"Not compared, because the synthetic workload has none: "
            f"{', '.join(found.not_compared)}."
        )
    said.append(
        "Within sampling error: no distance is beyond its limit."
        if found.holds
        else "Beyond sampling error: " + ", ".join(dict.fromkeys(found.beyond)) + "."
    )
    return [*table(_HEAD, rows, _NUMBERS), "", *said]


def _row(line: Line) -> tuple[str, ...]:
    return (
        line.part,
        line.statistic,
        _number(line.distance),
        _number(line.typical),
        _number(line.limit),
        line.verdict,
    )


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def _closeness(found: Closeness) -> dict[str, Any]:
    return {
        "holds": found.holds,
        "level": found.level,
        "source_requests": found.source_requests,
        "lines": [
            {
                "part": line.part,
                "statistic": line.statistic,
                "distance": _finite(line.distance),
                "typical": line.typical,
                "limit": line.limit,
                "resolution": line.resolution,
                "verdict": line.verdict.value,
                "reason": line.reason,
            }
            for line in found.lines
        ],
        "not_compared": list(found.not_compared),
    }


def _finite(value: float) -> float | str:
    return "inf" if value == float("inf") else value
