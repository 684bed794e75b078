"""A prediction for a terminal: means of a steady load, with their bands."""

from typing import Final

from vramledger.evidence import Figure
from vramledger.report.number import share
from vramledger.simulate.timing.cases.answer import Answer
from vramledger.simulate.timing.closed_loop import Load
from vramledger.simulate.timing.prediction import Prediction
from vramledger.simulate.timing.room import Feasible
from vramledger.units import format_seconds

_LEAST_SHARE: Final = 0.005  # of a token's time; smaller parts are not listed


def to_text(prediction: Prediction) -> str:
    """The prediction as lines of text."""
    lines = [
        prediction.deployment,
        _load(prediction),
        "",
        f"TTFT, mean      {_figure(prediction.ttft)}",
        f"TPOT, mean      {_figure(prediction.tpot)}",
        f"output          {_output(prediction)}",
        *_room(prediction),
        f"where TPOT goes {_shares(prediction)}",
        *(f"note: {note}" for note in prediction.notes),
    ]
    return "\n".join(lines)


def _load(prediction: Prediction) -> str:
    load = prediction.load
    return (
        f"{load.concurrency:.0f} requests in flight per replica, {load.input_tokens:.0f} tokens in, "
        f"{load.output_tokens:.0f} out ({_lengths(load)}); {_stretch(load)}"
    )


def _lengths(load: Load) -> str:
    if load.recorded is not None:
        return "means of the lengths that were recorded"
    return "all alike" if load.in_step else f"each within {share(load.spread)} of that"


def _stretch(load: Load) -> str:
    if load.requests == float("inf"):
        return "steady state"
    return (
        f"a run of {load.requests:.0f} requests, the first {load.concurrency:.0f} started together"
    )


def _output(prediction: Prediction) -> str:
    return (
        f"{prediction.output_tokens_per_s:,.0f} tokens/s a replica, "
        f"{prediction.output_tokens_per_s_per_gpu:,.0f} a GPU"
    )


def answer_line(answer: Answer) -> str:
    """One case as one line."""
    named = "?" if answer.id is None else str(answer.id)
    found = answer.prediction
    if found is None:
        return f"{named}: {answer.error}"
    return f"{named}: mean TTFT {_figure(found.ttft)}, mean TPOT {_figure(found.tpot)}, {found.ttft.basis}"


def _figure(figure: Figure) -> str:
    return f"{format_seconds(figure.value)} ({format_seconds(figure.low)} .. {format_seconds(figure.high)})"


def _room(prediction: Prediction) -> list[str]:
    """Both ends of the pool beside each other, with the tokens that they were reckoned from."""
    room, most = prediction.room, f"{prediction.sequences:,} sequences at once at most"
    if room.whole == float("inf"):
        return [f"room            {most}; no KV cache grows with a request"]
    held = (
        f"{room.whole:,.0f} requests of {room.whole_tokens:,.0f} tokens, their end; {room.mean:,.0f} of "
        f"{room.mean_tokens:,.0f}, their mean"
    )
    return [f"room            {held}; {most}", *_pessimistic(room)]


def _pessimistic(room: Feasible) -> list[str]:
    """The end by which `vram simulate` decides; nothing where the deployment does not start."""
    if room.whole_low is None or room.mean_low is None:
        return []
    said = (
        f"{room.whole_low:,.0f} and {room.mean_low:,.0f}: the KV pool at the low end of the ledger's band, which "
        "vram simulate takes; this prediction takes the expected one"
    )
    return [f"  pessimistic   {said}"]


def _shares(prediction: Prediction) -> str:
    whole = sum(prediction.shares.values())
    ordered = sorted(prediction.shares.items(), key=lambda part: -part[1])
    return ", ".join(
        f"{name.replace('_', ' ')} {share(seconds / whole)}"
        for name, seconds in ordered
        if seconds > _LEAST_SHARE * whole
    )
