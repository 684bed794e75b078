"""The knee of a simulated deployment for a terminal."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from vramledger.methods.simulated.knee import Side, SimulatedKnee
from vramledger.methods.subject import Axis, Goal
from vramledger.report.knee_finding import factor_said, finding, method
from vramledger.report.knee_table import BROKEN, curve
from vramledger.report.knee_words import both, knee_sentence, level
from vramledger.report.number import rate, share
from vramledger.report.simulation_serving import serving_line
from vramledger.report.table import table
from vramledger.simulate.policies import VLLM

_END: Final = {"low": "the pessimistic end", "expected": "the expected value"}


def to_text(found: SimulatedKnee) -> str:
    """The answer as lines of text; its title says that it is simulated."""
    blocks = [*opening(found), *goals(found)]
    for side in found.sides:
        blocks += ["", *_side(found, side)]
    blocks += ["", theory(found), f"note: {method(found)}"]
    if found.notes:
        blocks += [f"{notes_title(found)}:", *(f"note: {note}" for note in found.notes)]
    return "\n".join(blocks)


def opening(found: SimulatedKnee) -> list[str]:
    """What was simulated."""
    question, bench = found.question, found.standing.bench
    scenario = f", scenario {question.scenario}" if question.scenario else ""
    loads = "at other rates" if found.axis is Axis.RATE else "at other numbers in flight"
    policy = "" if question.policy == VLLM else f", policy {question.policy}"
    served = serving_line(replace(question.serving, closed=None), question.replicas)
    return [
        f"SIMULATED, not measured: {question.part.workload.name}{scenario}, {loads}",
        f"{deployed(found)}, vLLM {bench.deployment.version}{policy}",
        *((served,) if served else ()),
        (
            f"{bench.pool.num_blocks:,} KV blocks of {bench.pool.layout.block_size} tokens "
            f"({_END[question.end]} of the ledger's band), seeds from {question.seed}"
        ),
    ]


def deployed(found: SimulatedKnee) -> str:
    """``2 x meta-llama/Llama-3.1-8B on 1 x H100-80GB-SXM``."""
    replicas, deployment = found.question.replicas, found.standing.bench.deployment
    servers = f"{replicas} x " if replicas > 1 else ""
    layout = deployment.layout
    return f"{servers}{deployment.model.id} on {layout.gpus} x {deployment.accelerator.name}"


def goals(found: SimulatedKnee) -> list[str]:
    asked = "; ".join(found.asked(Goal.CONTRACT))
    stated = "" if found.stated else " (none was stated)"
    beside = "; ".join(found.asked(Goal.SAFE))
    return [f"contract    {asked}{stated}", f"safe load   beside the contract: {beside}"]


def hits_said(side: Side) -> str:
    """Whether the workload's prefixes are found."""
    return "with the workload's prefix hits" if side.hits else "without prefix hits"


def _side(found: SimulatedKnee, side: Side) -> list[str]:
    lines = [f"SIMULATED {hits_said(side)}", finding(found, side)]
    if side.knee is None:
        lines.append("These loads were tried:")
    else:
        lines += [
            "",
            "at the expected step times:",
            *both(side.knee.contract, side.knee.safe, found.axis),
        ]
        lines += [knee_sentence(side.knee.curve, found.axis), *_slow_end(found, side)]
        lines += ["", *_repeat(found, side)]
    shown = curve(found.axis, side.points)
    return [*lines, "", *table(shown.head, shown.rows, shown.right), BROKEN]


def _slow_end(found: SimulatedKnee, side: Side) -> Iterator[str]:
    """The ends where steps are as slow as their band allows; its loads are in the page and the JSON."""
    if side.slow is None:
        return
    yield ""
    yield f"at the slow end of their band, {factor_said(found, side)}:"
    if side.slow.limits is None:
        yield "Stopped before the end."
    else:
        yield from both(side.slow.limits.contract, side.slow.limits.safe, found.axis)
        yield knee_sentence(side.slow.curve, found.axis)


def _repeat(found: SimulatedKnee, side: Side) -> list[str]:
    """How to see the ends again."""
    assert side.knee is not None  # noqa: S101 - asked of finished searches
    flag = "--rate-scale" if found.axis is Axis.RATE else "--closed"
    hits = "" if side.hits or not found.standing.hits else " --no-prefix"
    slow = None if side.slow is None else side.slow.limits
    ends = [
        f"{flag} {point.level:g} --seed {point.example(Goal.CONTRACT).seed}{hits} {verdict}"
        for point, verdict in (
            (
                side.knee.contract.held,
                "holds" if slow is None else "holds at the expected step times",
            ),
            (side.knee.contract.failed, "fails"),
            (None if slow is None else slow.contract.held, "holds at the slow end, too"),
        )
        if point is not None
    ]
    return [f"To see it: vram simulate ... {'; '.join(ends)}."] if ends else []


def notes_title(found: SimulatedKnee) -> str:
    """Which run the notes are of."""
    point = found.shown
    if point is None:
        return "Notes"
    seed = point.example(Goal.CONTRACT).seed
    return (
        f"Notes on the run at {level(point, found.axis)}, seed {seed}, at the expected step times"
    )


def theory(found: SimulatedKnee) -> str:
    """What closed forms say, at the expected step times."""
    capacity = found.standing.capacity
    return (
        f"theory      these lengths: {capacity.concurrency:,.0f} run at once, saturation at "
        f"{rate(capacity.saturation_per_s)}, safe load about {rate(capacity.safe_per_s)} with "
        f"{share(capacity.headroom)} of the KV pool free (derived from memory alone, without prefix hits)"
    )
