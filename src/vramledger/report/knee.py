"""The knee of a simulated deployment for a terminal."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from vramledger.methods.knee.curve import power
from vramledger.methods.knee.probes import Point
from vramledger.methods.simulated.knee import Side, SimulatedKnee
from vramledger.methods.subject import Axis, Goal, Verdict
from vramledger.report.knee_words import knee_sentence, method, sentences
from vramledger.report.number import rate, share
from vramledger.report.simulation_serving import serving_line
from vramledger.report.table import table
from vramledger.simulate.policies import VLLM
from vramledger.units import format_seconds

_VERDICTS: Final = {
    Verdict.HOLDS: "holds",
    Verdict.TOO_MUCH: "fails",
    Verdict.TOO_LITTLE: "too little",
    Verdict.UNCERTAIN: "uncertain",
    None: "",
}
_HEAD: Final = {Axis.RATE: "factor", Axis.CONCURRENCY: "in flight"}
_COLUMNS: Final = (
    "offered", "answered", "goodput/h", "TTFT p50", "TTFT p95", "E2E mean", "E2E p95", "in system", "p99",
    "KV p99", "preempted", "power", "contract", "", "safe", "",
)  # fmt: skip
CURVE_RIGHT: Final = frozenset({*range(13), 13, 15})


def to_text(found: SimulatedKnee) -> str:
    """The answer as lines of text; its title says that it is simulated."""
    blocks = [_title(found), *_goals(found)]
    for side in found.sides:
        blocks += ["", *_side(found, side)]
    blocks += ["", _theory(found), f"note: {method(found.axis)}"]
    blocks += [f"note: {note}" for note in found.main.notes]
    return "\n".join(blocks)


def _title(found: SimulatedKnee) -> str:
    question, bench = found.question, found.standing.bench
    scenario = f", scenario {question.scenario}" if question.scenario else ""
    servers = f"{question.replicas} x " if question.replicas > 1 else ""
    loads = "at other rates" if found.axis is Axis.RATE else "at other numbers in flight"
    policy = "" if question.policy == VLLM else f", policy {question.policy}"
    served = serving_line(replace(question.serving, closed=None), question.replicas)
    deployment = bench.deployment
    return "\n".join(
        (
            f"SIMULATED, not measured: {question.part.workload.name}{scenario}, {loads}",
            (
                f"{servers}{deployment.model.id} on {deployment.layout.gpus} x "
                f"{deployment.accelerator.name}, vLLM {deployment.version}{policy}"
            ),
            *((served,) if served else ()),
            (
                f"{bench.pool.num_blocks:,} KV blocks of {bench.pool.layout.block_size} tokens "
                f"({_END[question.end]} of the ledger's band), seeds from {question.seed}"
            ),
        )
    )


_END: Final = {"low": "the pessimistic end", "expected": "the expected value"}


def _goals(found: SimulatedKnee) -> list[str]:
    asked = "; ".join(found.asked(Goal.CONTRACT))
    stated = "" if found.stated else " (none was stated)"
    beside = "; ".join(found.asked(Goal.SAFE))
    return [f"contract    {asked}{stated}", f"safe load   beside the contract: {beside}"]


def _side(found: SimulatedKnee, side: Side) -> list[str]:
    hits = "with the workload's prefix hits" if side.hits else "without prefix hits"
    lines = [f"SIMULATED {hits}"]
    if side.knee is None:
        lines += ["Stopped before the end; these loads were tried:"]
    else:
        for limit in (side.knee.contract, side.knee.safe):
            lines += sentences(limit, found.axis)
        lines += [knee_sentence(side.knee.curve, found.axis), *_repeat(found, side)]
    return [*lines, "", *_curve(found.axis, side.points)]


def _repeat(found: SimulatedKnee, side: Side) -> list[str]:
    """How to see the ends again."""
    assert side.knee is not None  # noqa: S101 - asked of finished searches
    flag = "--rate-scale" if found.axis is Axis.RATE else "--closed"
    hits = "" if side.hits or not found.standing.hits else " --no-prefix"
    ends = [
        f"{flag} {point.level:g} --seed {point.example(Goal.CONTRACT).seed}{hits} {verdict}"
        for point, verdict in (
            (side.knee.contract.held, "holds"),
            (side.knee.contract.failed, "fails"),
        )
        if point is not None
    ]
    return [f"To see it: vram simulate ... {'; '.join(ends)}."] if ends else []


def _curve(axis: Axis, points: tuple[Point, ...]) -> list[str]:
    return table(curve_head(axis), curve_rows(points), CURVE_RIGHT)


def curve_head(axis: Axis) -> tuple[str, ...]:
    """The columns of `curve_rows`."""
    return (_HEAD[axis], *_COLUMNS)


def curve_rows(points: tuple[Point, ...]) -> list[tuple[str, ...]]:
    """A row a level that was played."""
    return [_row(point) for point in points]


def _row(point: Point) -> tuple[str, ...]:
    seen = point.first.figures
    goodput = None if seen.goodput_per_hour is None else seen.goodput_per_hour
    return (
        f"{point.level:,.10g}",
        _said(seen.offered_per_s, rate),
        rate(seen.answered_per_s),
        _said(goodput, _count),
        *(
            _said(seconds, format_seconds)
            for seconds in (seen.ttft_p50_s, seen.ttft_p95_s, seen.e2e_mean_s, seen.e2e_p95_s)
        ),
        _said(seen.in_system_mean, _count),
        _said(seen.in_system_p99, _count),
        _said(seen.kv_p99, share),
        _said(seen.preemptions, _count),
        _said(power(seen), _power),
        *(
            cell
            for goal in Goal
            for cell in (
                f"{point.held(goal)} of {len(point.plays)}",
                _VERDICTS[point.verdict(goal)],
            )
        ),
    )


def _theory(found: SimulatedKnee) -> str:
    capacity = found.standing.capacity
    return (
        f"theory      mean requests: {capacity.concurrency:,.0f} run at once, saturation at "
        f"{rate(capacity.saturation_per_s)}, safe load about {rate(capacity.safe_per_s)} with "
        f"{share(capacity.headroom)} of the KV pool free (derived from memory alone, without prefix hits)"
    )


def _said(value: float | None, say: Callable[[float], str]) -> str:
    return "-" if value is None else say(value)


def _count(value: float) -> str:
    return f"{value:,.0f}"


def _power(value: float) -> str:
    return f"{value:.3g}"
