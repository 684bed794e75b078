"""The tensor-parallel steps of a sweep for a terminal."""

from collections.abc import Callable, Sequence
from typing import Final

from vramledger.methods.sweep.tensor_steps import (
    ALONE,
    FASTEST,
    LOADED,
    SATURATION,
    SLOWEST,
    TensorStep,
    Turn,
)
from vramledger.report.number import rate
from vramledger.units import format_seconds

_GIGA: Final = 1e9
_END: Final = {"low": "pessimistic end", "expected": "expected value"}


def tensor_lines(steps: Sequence[TensorStep]) -> list[str]:
    """Each step with what it does on this link and where that would turn round; none without steps."""
    if not steps:
        return []
    title = (
        "TENSOR-PARALLEL STEPS, derived in closed form for requests of mean lengths, KV pool at the "
        f"{_END[steps[0].end]} of the ledger's band"
    )
    return ["", title, *(line for step in steps for line in _lines(step))]


def _lines(step: TensorStep) -> list[str]:
    also = f" with {step.label}" if step.label else ""
    name = f"TP {step.before} to {step.after}{also}"
    if step.reason or step.link is None:
        return [f"{name}: not compared. {step.reason}"]
    kind = "PCIe" if step.link.pcie else "its fabric"
    head = (
        f"{name}, on servers of {step.server_gpus} x {step.gpu}, over {kind} at "
        f"{_bandwidth(step.link.bytes_per_s)} a direction"
    )
    return [head, *(f"  {_figure(turn, step)}" for turn in step.turns)]


def _figure(turn: Turn, step: TensorStep) -> str:
    title = _TITLES[turn.name].format(in_flight=step.in_flight)
    say = _SAY[turn.name]
    word = "rises" if turn.rises else "falls"
    change = f"{say(turn.before)} to {say(turn.after)} (x{turn.ratio:.3g})"
    return f"{title} {word}, {change}{_each(turn)}; {_turns(turn)}"


def _each(turn: Turn) -> str:
    """The saturation of one engine, as ``vram simulate`` says it of a launch alone."""
    if turn.name != SATURATION:
        return ""
    before, after = turn.of_an_engine
    many = [f"{count} engines" if count > 1 else "1 engine" for count in turn.engines]
    return f", {many[0]} of {rate(before)} to {many[1]} of {rate(after)}"


def _turns(turn: Turn) -> str:
    """At which bandwidths the sign changes, from slow to fast."""
    if not turn.at:
        word = "rises" if turn.rises_above else "falls"
        return f"it {word} at every bandwidth from {_bandwidth(SLOWEST)} to {_bandwidth(FASTEST)}"
    above, below = ("rises", "falls") if turn.rises_above else ("falls", "rises")
    if len(turn.at) == 1:
        return f"it {below} below {_bandwidth(turn.at[0])} and {above} above"
    places = ", ".join(_bandwidth(place) for place in turn.at)
    return f"its sign changes at {places}, and it {above} above"


def _bandwidth(bytes_per_s: float) -> str:
    return (
        f"{bytes_per_s / _GIGA:,.3g} GB/s"
        if bytes_per_s < 1e12
        else f"{bytes_per_s / 1e12:.3g} TB/s"
    )


_TITLES: Final = {
    SATURATION: "saturation throughput of the server",
    ALONE: "TTFT of a request alone",
    LOADED: "TTFT with {in_flight:,.0f} requests in flight on the server",
}
_SAY: Final[dict[str, Callable[[float], str]]] = {
    SATURATION: rate,
    ALONE: format_seconds,
    LOADED: format_seconds,
}
