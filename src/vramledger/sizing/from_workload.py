"""A recorded workload named on the command line, as scenarios: `daily` and `long-burst` both count."""

from pathlib import Path
from typing import Final

from vramledger.frozen import frozen
from vramledger.plan.recorded import part_for, read_recorded, recorded_load
from vramledger.plan.recorded_lengths import recorded_lengths
from vramledger.plan.requirement import Contract, Kind, Load, Scenario

COUNTED: Final = ("daily", "long-burst")
_ENDINGS: Final = (".parquet", ".json")


@frozen
class OfWorkload:
    """The scenarios of a workload, at least one, and what had to be assumed."""

    scenarios: tuple[Scenario, ...]
    notes: tuple[str, ...]


def names_a_workload(text: str) -> bool:
    """Whether an option that takes the name of a shipped profile names a file instead."""
    return text.casefold().endswith(_ENDINGS) or "/" in text


def scenarios_of(
    file: str, load: Load | None, scale: float, headroom: float | None, contract: Contract
) -> OfWorkload:
    """`daily` and `long-burst`, or the whole in place of one that the workload has not.

    A stated `load` wins over the recorded one; `scale` multiplies recorded arrivals.

    Raises:
        BadInput: the file cannot be read, or it has no lengths, or neither it nor `load` has a load.
        CannotKnow: it holds nothing but means.
    """
    recorded = read_recorded(file, Path())
    scenarios: dict[str, Scenario] = {}
    notes: list[str] = []
    for name in COUNTED:
        part = part_for(recorded, name)
        lengths = recorded_lengths(part)
        notes += lengths.notes
        title = name if part.slice is not None else "whole"
        scenarios[title] = Scenario(
            name=title,
            kind=Kind.LATENCY,
            lengths=lengths.distribution,
            load=recorded_load(part, scale) if load is None else load,
            headroom=headroom,
            contract=contract,
            recorded=recorded,
        )
    return OfWorkload(tuple(scenarios.values()), tuple(dict.fromkeys(notes)))
