"""The figures of a scenario's requests."""

from vramledger.frozen import frozen
from vramledger.workload.profile.aggregates import (
    Expression,
    by_clock,
    joint,
    milliseconds,
    whole,
    within,
)
from vramledger.workload.profile.answers import Answers
from vramledger.workload.profile.joint import joint_of
from vramledger.workload.profile.profile import Joint, Lengths, Slice
from vramledger.workload.scenarios import DAY_ENDS_S, DAY_STARTS_S, Window

_MOST_SPANS = 4  # beyond them the hour of the day is asked for, instead of each day's hours


@frozen
class Basics:
    """What a slice says of lengths."""

    requests: int
    inputs: Lengths | None
    outputs: Lengths | None
    joint: Joint | None
    mean_duration_s: float | None


def of_window(table: Expression, window: Window, week_offset_s: int | None) -> Expression:
    """The requests of a window; a window without spans is the whole log."""
    if not window.spans:
        return table
    if len(window.spans) <= _MOST_SPANS or week_offset_s is None:
        return within(table, [(span.start_s, span.end_s) for span in window.spans])
    half = DAY_ENDS_S - DAY_STARTS_S
    start = DAY_STARTS_S if window.name == "day" else DAY_ENDS_S
    return by_clock(table, week_offset_s - start, half)


def basics(answers: Answers, table: Expression, held: frozenset[str]) -> Basics:
    """The lengths of the requests of a table."""
    lengths = {
        name: answers.frequency(table, table[name]) if name in held else None
        for name in ("input_tokens", "output_tokens")
    }
    both = {"input_tokens", "output_tokens"} <= held
    asked = {"requests": table.count()}
    if "duration_s" in held:
        asked["timed"] = table.duration_s.count()
        asked["duration_ms"] = whole(milliseconds(table.duration_s).sum())
    counted = answers.one(table.aggregate(**asked))
    inputs, outputs = lengths["input_tokens"], lengths["output_tokens"]
    return Basics(
        requests=counted["requests"],
        inputs=inputs.lengths(quantiles=False) if inputs else None,
        outputs=outputs.lengths(quantiles=False) if outputs else None,
        joint=joint_of(answers.columns(joint(table))) if both else None,
        mean_duration_s=(
            counted["duration_ms"] / counted["timed"] / 1000 if counted.get("timed") else None
        ),
    )


def slice_of(window: Window, found: Basics) -> Slice:
    """A scenario of a profile."""
    seconds = window.seconds
    return Slice(
        name=window.name,
        definition=window.definition + (f" ({window.note})" if window.note else ""),
        start_s=float(window.spans[0].start_s) if window.spans else None,
        seconds=float(seconds) if seconds is not None else None,
        requests=found.requests,
        mean_per_s=found.requests / seconds if seconds else None,
        input_tokens=found.inputs,
        output_tokens=found.outputs,
        joint=found.joint,
        mean_duration_s=found.mean_duration_s,
    )
