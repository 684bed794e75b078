"""A simulation for a terminal."""

from collections.abc import Callable, Mapping
from math import isinf
from pathlib import Path
from typing import Final

from vramledger.report.number import duration, rate, share
from vramledger.report.simulation_contract import contract_lines, decision
from vramledger.report.simulation_refused import NO_THEORY, many_refused, refused_warning
from vramledger.report.simulation_serving import pool_lines, serving_line
from vramledger.report.table import table
from vramledger.simulate.answers import Answers
from vramledger.simulate.binding import BATCH, IDLE, KV, SEQUENCES, TOKENS
from vramledger.simulate.contrast import Contrast
from vramledger.simulate.ends import Ends
from vramledger.simulate.kv_room import KvRoom
from vramledger.simulate.levels import Levels
from vramledger.simulate.percentiles import Percentiles
from vramledger.simulate.policies import VLLM
from vramledger.simulate.run import Simulation
from vramledger.simulate.step_limits import BANDWIDTH, COMPUTE, LAUNCHES, LINKS
from vramledger.units import format_seconds

HEAD: Final = ("", "p50", "p95", "p99", "max")
_SLOW_HEAD: Final = ("p95 slow end", "p99 slow end")
RIGHT: Final = frozenset({1, 2, 3, 4, 5, 6})
LATENCIES: Final = {
    "ttft_s": "TTFT",
    "itl_s": "ITL",
    "tpot_s": "TPOT",
    "queue_s": "queue",
    "e2e_s": "E2E",
}
LIMITS: Final = {
    KV: "KV cache",
    SEQUENCES: "sequence cap",
    TOKENS: "token budget",
    BATCH: "batch not done",
    BANDWIDTH: "bandwidth",
    COMPUTE: "compute",
    LINKS: "links",
    LAUNCHES: "launches and host",
    IDLE: "idle",
}
_LEAST_SHARE: Final = 0.0005


def to_text(simulation: Simulation, folder: Path) -> str:
    """The simulation as lines of text; its title says that it is one."""
    blocks = [
        heading(simulation),
        *_sections(simulation),
        *_contrast(simulation.contrast),
        *pool_lines(simulation.main.split),
        theory(simulation),
        _room(simulation.kv_room),
        *(f"note: {note}" for note in simulation.notes),
        f"run         {folder}",
    ]
    return "\n".join(blocks)


def heading(simulation: Simulation) -> str:
    """What was simulated, in three lines or more; the first says that it is simulated, or warns."""
    question, deployment = simulation.question, simulation.deployment
    part, layout = question.part, deployment.layout
    scenario = f", scenario {question.scenario}" if question.scenario else ""
    scaled = f", arrivals x{part.rate_scale:g}" if part.rate_scale != 1 else ""
    policy = "" if question.policy == VLLM else f", policy {question.policy}"
    servers = f"{question.replicas} x " if question.replicas > 1 else ""
    served = serving_line(question.serving, question.replicas)
    return "\n".join(
        (
            *((warning,) if (warning := refused_warning(simulation)) else ()),
            f"SIMULATED, not measured: {part.workload.name}{scenario}{scaled}",
            (
                f"{servers}{deployment.model.id} on {layout.gpus} x {deployment.accelerator.name}, "
                f"vLLM {deployment.version}{policy}"
            ),
            *((served,) if served else ()),
            (
                f"{simulation.pool.num_blocks:,} KV blocks of {simulation.main.settings.block_size} tokens "
                f"(the {_END[question.end]} of the ledger's band), seed {question.seed}"
            ),
        )
    )


_END: Final = {"low": "pessimistic end", "expected": "expected value"}


def _sections(simulation: Simulation) -> list[str]:
    """The main run with the ends of its step times, and the one without prefix hits below."""
    main, decided = simulation.main.answers, decision(simulation)
    if simulation.own is None:
        return [*_section("without prefix hits", main, simulation.ends), *decided]
    with_hits = _section("with the workload's prefix hits", main, simulation.ends)
    return [*with_hits, *decided, *_section("without prefix hits", simulation.no_hits.answers)]


def _section(title: str, found: Answers, ends: Ends | None = None) -> list[str]:
    slow = None if ends is None else ends.slow
    rows = percentile_rows(found, slow)
    lines = ["", f"SIMULATED {title}", *table(percentile_head(slow), rows, RIGHT), *counted(found)]
    lines += contract_lines(found, ends)
    return lines + ([f"stuck       {found.stuck}"] if found.stuck else [])


def percentile_head(slow: Answers | None) -> tuple[str, ...]:
    """`HEAD`, with what `percentile_rows` adds."""
    return HEAD if slow is None else (*HEAD, *_SLOW_HEAD)


def percentile_rows(found: Answers, slow: Answers | None = None) -> list[tuple[str, ...]]:
    """A row a level or latency, in the columns of `percentile_head`; `slow` is of the slow end."""
    rows = _percentile_rows(found)
    if slow is None:
        return rows
    beside = ((row[2], row[3]) for row in _percentile_rows(slow))
    return [(*row, *more) for row, more in zip(rows, beside, strict=True)]


def _percentile_rows(found: Answers) -> list[tuple[str, ...]]:
    levels = found.levels
    return [
        _row("KV use", levels.kv_usage, _share),
        _row("running", levels.running, _count),
        _row("waiting", levels.waiting, _count),
        *(_row(title, found.latency[name], format_seconds) for name, title in LATENCIES.items()),
        _row("KV GiB-s", found.holding.each, _plain),
    ]


def counted(found: Answers) -> list[str]:
    """Lines on what became of the requests, each with its name in front."""
    ended = ", ".join(
        f"{count:,} {name.replace('_', ' ')}" for name, count in found.requests.items() if count
    )
    cost, levels = found.recomputing, found.levels
    goodput = found.goodput_per_hour
    hourly = (
        "no contract was stated"
        if goodput is None
        else f"{goodput:,.0f} requests an hour end as asked within every latency limit"
    )
    return [
        f"requests    {ended}",
        (
            f"preemptions {cost.preemptions:,}; {cost.tokens:,} tokens computed again, {share(cost.share)} of "
            f"all, about {duration(cost.seconds)} of GPU time"
        ),
        f"goodput     {hourly}",
        f"queue       {_queue(found)}",
        *binding_lines(levels),
        f"KV GiB-s    the hundredth of the requests with most takes {share(found.holding.longest_share)}",
        f"prefix hits {share(found.hit_share)} of the input tokens",
        (
            f"simulated   {duration(levels.span_s)} in {found.steps:,} steps, {found.per_wall_s:,.0f} requests "
            f"a second of this machine ({_how(found)})"
        ),
    ]


def _how(found: Answers) -> str:
    if found.batched:
        return "batch by batch"
    return "compiled" if found.compiled else "step by step"


def _queue(found: Answers) -> str:
    drains = "drains" if found.queue_drains else "does not drain while requests arrive"
    peak = found.queue_peak
    if peak is None:
        return f"{drains}; nobody ever waits behind a step"
    after = peak.drained_after_s
    empty = "and never empty" if after is None else f"empty {duration(after)} later"
    return f"{drains}; longest at {duration(peak.at_s)} with {peak.waiting:,} waiting, {empty}"


def _room(room: KvRoom) -> str:
    """Whether the headroom was kept, as one line."""
    said = {True: "kept", False: "not kept", None: "nothing ran"}
    return (
        f"headroom    {share(room.headroom)} of the KV pool: {said[room.kept_at_p99]} at p99, "
        f"{said[room.kept_at_peak]} at the peak (simulated)"
    )


def binding_lines(levels: Levels) -> list[str]:
    """What limits by share of time, and what would limit beneath each limit that lets requests wait."""
    lines = [f"limit       {_shares(levels.binding)} of the time"]
    for name, parts in levels.beneath.items():
        if levels.binding[name] > _LEAST_SHARE:
            lines.append(f"beneath     {LIMITS[name]}: {_shares(parts)}")
    return lines


def _shares(shares: Mapping[str, float]) -> str:
    ordered = sorted(shares.items(), key=lambda part: -part[1])
    said = [f"{LIMITS[name]} {share(part)}" for name, part in ordered if part > _LEAST_SHARE]
    return ", ".join(said)


def _contrast(contrast: Contrast | None) -> list[str]:
    """What continuous batching buys, as one line."""
    if contrast is None:
        return []
    asked, vllm = contrast.asked.answers, contrast.vllm.answers
    ratio = contrast.throughput_ratio
    least = "at least " if contrast.is_least else ""
    faster = "" if ratio is None else f" {least}{ratio:,.2f} times the output tokens a second,"
    said = [
        f"{title} p50 {_median(vllm, name)}, not {_median(asked, name)}"
        for name, title in (("ttft_s", "TTFT"), ("e2e_s", "E2E"))
    ]
    if vllm.goodput_per_hour is not None and asked.goodput_per_hour is not None:
        said.append(
            f"{vllm.goodput_per_hour:,.0f} good requests an hour, not {asked.goodput_per_hour:,.0f}"
        )
    why = "; it keeps up with the arrivals and could do more" if contrast.is_least else ""
    return [
        "",
        f"contrast    vLLM's continuous batching, simulated:{faster} {'; '.join(said)}{why}",
    ]


def _median(found: Answers, name: str) -> str:
    value = found.latency[name].p50
    return "-" if value is None else _said(value, format_seconds)


def theory(simulation: Simulation) -> str:
    """What closed forms say beside it, as one line."""
    if many_refused(simulation):
        return NO_THEORY
    sanity = simulation.sanity
    offered = "all at once" if sanity.offered_per_s is None else rate(sanity.offered_per_s)
    residual = (
        ""
        if sanity.little_residual is None
        else f"; Little's law holds within {share(abs(sanity.little_residual))}"
    )
    capacity = sanity.capacity
    served = "" if simulation.question.policy == VLLM else ", batched continuously"
    return (
        f"\ntheory      these lengths{served}: {capacity.concurrency:,.0f} run at once, saturation at "
        f"{rate(capacity.saturation_per_s)}, offered {offered}{residual}"
        f"{_safe_load(simulation)}"
    )


def _safe_load(simulation: Simulation) -> str:
    """A closed loop has no rate that could be safe, and none of the recorded bursts."""
    if simulation.question.serving.closed is not None:
        return ""
    capacity = simulation.sanity.capacity
    return (
        f"\nsafe load   about {rate(capacity.safe_per_s)} with {share(capacity.headroom)} of the KV pool "
        "free at p99 (derived from memory alone, with the recorded bursts and without prefix hits); latencies may end "
        "it sooner, which --knee simulates"
    )


def _row(title: str, found: Percentiles, say: Callable[[float], str]) -> tuple[str, ...]:
    values = (found.p50, found.p95, found.p99, found.max)
    return (title, *("-" if value is None else _said(value, say) for value in values))


def _said(value: float, say: Callable[[float], str]) -> str:
    return "inf" if isinf(value) else say(value)


def _share(value: float) -> str:
    return share(value)


def _count(value: float) -> str:
    return f"{value:,.0f}"


def _plain(value: float) -> str:
    return f"{value:,.4g}"
