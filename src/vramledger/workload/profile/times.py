"""When requests arrive, asked for in steps, and in single seconds where a scenario may begin or end."""

from collections.abc import Collection, Mapping, Sequence
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
    steps = asking.seconds([table], arrival_counts.STEP_S)
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

    def seconds(self, tables: Sequence[Expression], step_s: int) -> scenarios.Seconds:
        """What arrives in each step of `step_s` seconds, ascending, of tables without a step in common."""
        import ibis
        import numpy as np

        each = (arrival_counts.by_step(t, self.held, self.long_input, step_s) for t in tables)
        found = self.answers.columns(ibis.union(*each))
        order = np.argsort(found["second"])
        return scenarios.Seconds(**{name: values[order] for name, values in found.items()})

    def closely(self, steps: scenarios.Seconds) -> scenarios.Seconds:
        """Single seconds wherever a scenario may begin or end."""
        seconds, looked_at = steps, arrival_counts.Steps()
        while look := arrival_counts.undecided(steps, seconds, looked_at):
            spans = arrival_counts.spans_of(look)
            groups = arrival_counts.grouped(spans)
            within = [arrival_counts.in_spans(self.table, group) for group in groups]
            seconds = arrival_counts.spliced(seconds, self.seconds(within, 1), spans)
            looked_at |= look
        return seconds
