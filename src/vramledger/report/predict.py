"""A prediction for a terminal: means of a steady load, with their bands."""

from typing import Final

from vramledger.evidence import Figure
from vramledger.report.number import share
from vramledger.simulate.timing.cases.answer import Answer
from vramledger.simulate.timing.prediction import Prediction
from vramledger.units import format_seconds

_POOL_END: Final = "the pool at its expected end; vram simulate takes the pessimistic one"
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
        f"room            {_room(prediction)}",
        f"where TPOT goes {_shares(prediction)}",
        *(f"note: {note}" for note in prediction.notes),
    ]
    return "\n".join(lines)


def _load(prediction: Prediction) -> str:
    load = prediction.load
    return (
        f"{load.concurrency:.0f} requests in flight per replica, {load.input_tokens:.0f} tokens in, "
        f"{load.output_tokens:.0f} out"
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


def _room(prediction: Prediction) -> str:
    held = prediction.room
    cache = (
        ""
        if held == float("inf")
        else f"{held:,.0f} whole requests in the KV cache ({_POOL_END}), "
    )
    return f"{cache}{prediction.sequences} sequences at once"


def _shares(prediction: Prediction) -> str:
    whole = sum(prediction.shares.values())
    ordered = sorted(prediction.shares.items(), key=lambda part: -part[1])
    return ", ".join(
        f"{name.replace('_', ' ')} {share(seconds / whole)}"
        for name, seconds in ordered
        if seconds > _LEAST_SHARE * whole
    )
