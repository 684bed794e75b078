"""Profiles made by hand, to draw: figures small enough to check by eye."""

from collections import Counter
from typing import Final

from vramledger.workload.profile.bins import bin_of
from vramledger.workload.profile.profile import (
    Arrival,
    Burst,
    Cell,
    Concurrency,
    ContextLimit,
    Holding,
    Joint,
    Lengths,
    Prefix,
    Profile,
    Reuse,
    Sessions,
    Slice,
)

INPUTS: Final = (0, 90, 100, 110, 1_000, 1_100, 1_469, 1_500, 30_000, 120_000)
OUTPUTS: Final = (5, 10, 10, 20, 129, 200, 200, 250, 601, 1_000)


def lengths(values: tuple[int, ...]) -> Lengths:
    """Percentiles are those of the nearest value: drawings only show what they are given."""
    ordered = sorted(values)

    def at(share: float) -> float:
        return float(ordered[min(len(ordered) - 1, int(share * len(ordered)))])

    return Lengths(
        count=len(values),
        total=sum(values),
        mean=sum(values) / len(values),
        min=ordered[0],
        p10=at(0.1),
        p25=at(0.25),
        p50=at(0.5) + 0.5,
        p75=at(0.75),
        p90=at(0.9),
        p95=at(0.95),
        p99=at(0.99),
        p999=at(0.999),
        max=ordered[-1],
        bins=tuple(sorted(Counter(map(bin_of, values)).items())),
    )


def joint() -> Joint:
    cells = Counter(zip(map(bin_of, INPUTS), map(bin_of, OUTPUTS), strict=True))
    return Joint(
        tuple(Cell(i, o, count, 7 * count, 3 * count) for (i, o), count in sorted(cells.items())),
        longest_input=120_000,
        longest_output=1_000,
    )


def whole() -> Profile:
    """Every part is known."""
    totals = tuple(i + o for i, o in zip(INPUTS, OUTPUTS, strict=True))
    return Profile(
        requests=10,
        input_tokens=lengths(INPUTS),
        output_tokens=lengths(OUTPUTS),
        total_tokens=lengths(totals),
        joint=joint(),
        arrival=Arrival(
            span_s=7_204.5,
            mean_per_s=0.00139,
            peak_per_s=2,
            dispersion={"1": 1.25, "60": 3.5},
            per_step=(4, *(0,) * 59, 1, *(0,) * 58, 5),
            hour_of_week=(*(0,) * 32, 4, 6, *(0,) * 134),
            bursts=(Burst(7_140, 60, 5, 0.0833),),
            quantum_s=3.0,
        ),
        outcomes={"ok": 7, "cancelled": 2, "failed": 1},
        retries=1,
        cancellations=2,
        models={"model-0": 6, "model-1": 4},
        prefix=Prefix(
            block_tokens=16, blocks=900, distinct=700, reuse=(Reuse(16, 3_200, 0.0206),), cached_share=0.25
        ),
        holding=Holding(60_000_000, 0.873, ((0.0, 0.0), (0.01, 0.873), (0.5, 0.99), (1.0, 1.0))),
        concurrency=Concurrency(10, 1.5, 1.0, 3.0, 4.0, 5),
        sessions=Sessions(6, ((1, 4), (3, 2)), tuple(float(s) for s in range(101)), 0.61),
        context=(ContextLimit(32_768, 1, 0, 2), ContextLimit(131_072, 0, 0, None)),
        scenarios=(
            Slice("peak", "The 15 minutes with most tokens.", 6_300.0, 900.0, 5, 0.00556,
                  lengths(INPUTS), lengths(OUTPUTS), joint()),
        ),
        basis={"input_tokens": "measured", "output_tokens": "assumed"},
        time_zone="+00:00 (assumed)",
        formats={"azure-llm": 1},
        inferred=("Times carry no time zone and are taken as UTC (assumed).",),
        history=("imported",),
        loss={"rows_read": 12, "rows_kept": 10, "dropped": {"output tokens are not a number": 2}},
    )  # fmt: skip


def bare() -> Profile:
    """A log that only counts requests."""
    return Profile(
        requests=3,
        unknown={"holding": "the log counts no tokens.", "arrival": "the log has no times."},
    )
