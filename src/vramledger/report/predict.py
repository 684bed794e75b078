"""A prediction for a terminal."""

from typing import Final

from vramledger.evidence import Figure
from vramledger.report.number import share
from vramledger.simulate.timing.cases.answer import Answer
from vramledger.simulate.timing.prediction import Prediction

_LEAST_SHARE: Final = 0.005  # of a token's time; smaller parts are not listed
_LONG: Final = 10.0  # seconds from which on milliseconds say nothing


def to_text(prediction: Prediction) -> str:
    """The prediction as lines of text."""
    lines = [
        prediction.deployment,
        _load(prediction),
        "",
        f"TTFT        {_figure(prediction.ttft)}",
        f"TPOT        {_figure(prediction.tpot)}",
        f"output      {_output(prediction)}",
        f"room        {_room(prediction)}",
        f"a token     {_shares(prediction)}",
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
    return f"{named}: TTFT {_figure(found.ttft)}, TPOT {_figure(found.tpot)}, {found.ttft.basis}"


def _figure(figure: Figure) -> str:
    return f"{_time(figure.value)} ({_time(figure.low)} .. {_time(figure.high)})"


def _time(seconds: float) -> str:
    return f"{seconds:,.1f} s" if seconds >= _LONG else f"{seconds * 1e3:,.4g} ms"


def _room(prediction: Prediction) -> str:
    held = prediction.room
    cache = "" if held == float("inf") else f"{held:,.0f} whole requests in the KV cache, "
    return f"{cache}{prediction.sequences} sequences at once"


def _shares(prediction: Prediction) -> str:
    whole = sum(prediction.shares.values())
    ordered = sorted(prediction.shares.items(), key=lambda part: -part[1])
    return ", ".join(
        f"{name.replace('_', ' ')} {share(seconds / whole)}"
        for name, seconds in ordered
        if seconds > _LEAST_SHARE * whole
    )
