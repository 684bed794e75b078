"""When requests arrive, asked for in steps, and in single seconds where a scenario may begin or end."""

from collections.abc import Collection, Mapping
from typing import Any

from vramledger.frozen import frozen
from vramledger.workload import scenarios
from vramledger.workload.profile import arrival_counts
from vramledger.workload.profile.aggregates import Expression
from vramledger.workload.profile.answers import Answers
from vramledger.workload.profile.frequency import Frequency


@frozen
class Times:
    """When requests arrive.

    `steps` are of `arrival_counts.STEP_S`; `seconds` are single ones wherever a scenario may begin
    or end, and steps elsewhere.
    """

    steps: scenarios.Seconds
    seconds: scenarios.Seconds
    squares: int
    most: int
    busy: int
    first_s: float
    last_s: float


def times_of(
    table: Expression,
    held: Collection[str],
    inputs: Frequency | None,
    facts: Mapping[str, Any],
    answers: Answers,
) -> Times | None:
    """The arrivals of a table; None where it has none.

    Args:
        table: the requests.
        held: the columns that hold anything.
        inputs: how often each input length occurs.
        facts: the answer to `aggregates.facts`.
        answers: of the engine that has the table.

    Raises:
        BadInput: they are of too many years.
    """
    if facts.get("last_s") is None:
        return None
    arrival_counts.refuse_long(facts["last_s"])
    above = scenarios.long_input(inputs.values, inputs.counts) if inputs else None
    asking = _Asking(table, held, above, answers)
    steps = asking.seconds(table, arrival_counts.STEP_S)
    found = answers.one(arrival_counts.second_statistics(table))
    return Times(
        steps=steps,
        seconds=asking.closely(steps),
        squares=found["squares"],
        most=found["most"],
        busy=found["busy"],
        first_s=facts["first_s"],
        last_s=facts["last_s"],
    )


@frozen
class _Asking:
    """Questions about the seconds of a table; inputs above `long_input` count as long."""

    table: Expression
    held: Collection[str]
    long_input: int | None
    answers: Answers

    def seconds(self, table: Expression, step_s: int) -> scenarios.Seconds:
        """What arrives in each step of `step_s` seconds, ascending."""
        import numpy as np

        question = arrival_counts.by_step(table, self.held, self.long_input, step_s)
        found = self.answers.columns(question)
        order = np.argsort(found["second"])
        return scenarios.Seconds(**{name: values[order] for name, values in found.items()})

    def closely(self, steps: scenarios.Seconds) -> scenarios.Seconds:
        """Single seconds wherever a scenario may begin or end."""
        seconds, looked_at = steps, arrival_counts.Steps()
        while look := arrival_counts.undecided(steps, seconds, looked_at):
            spans = arrival_counts.spans_of(look)
            close = [
                self.seconds(arrival_counts.in_spans(self.table, some), 1)
                for some in arrival_counts.grouped(spans)
            ]
            seconds = arrival_counts.spliced(seconds, close, spans)
            looked_at |= look
        return seconds
