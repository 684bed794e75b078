"""A scenario's load as requests to play: recorded ones where they are stored, else drawn ones."""

from math import ceil
from pathlib import Path
from typing import Final

from vramledger.frozen import frozen
from vramledger.plan.recorded import part_for
from vramledger.plan.requirement import Kind, Load, LoadUnit, Scenario
from vramledger.sizing.people import traffic
from vramledger.sizing.simulated.drawn import Drawn, write_drawn
from vramledger.sizing.simulated.like import Like, write_like
from vramledger.units import plain
from vramledger.workload.operators.prepared import Part

_STORED: Final = ".parquet"


@frozen
class Playable:
    """What is played: a part of a workload by its own clock, or always `in_flight` requests of it."""

    part: Part
    in_flight: int | None
    said: str  # in words, without the scenario's name


@frozen
class NotPlayable:
    """Why a scenario is not played, one sentence."""

    reason: str


def playable(scenario: Scenario, folder: Path, scratch: Path, seed: int) -> Playable | NotPlayable:
    """The load of a scenario; `folder` is where its recorded file is named from.

    Drawn requests are written to `scratch`, a name without an ending.

    Raises:
        BadInput: the recorded file, or `scratch`, cannot be read or written.
    """
    load = scenario.load
    if scenario.kind is Kind.THROUGHPUT and load.unit is LoadUnit.USERS:
        return NotPlayable(
            f"{scenario.name} is work that waits, and how much of it is handed in is not stated; state its "
            "requests_per_s or concurrent to have it simulated."
        )
    rate = _rate(load, scenario.lengths.mean_output)
    in_flight = None if rate is not None else ceil(load.amount)
    recorded = scenario.recorded
    if recorded is not None and Path(recorded.file).suffix == _STORED:
        return _stored(scenario, folder / recorded.file, rate, in_flight)
    out = scratch.with_suffix(_STORED)
    if recorded is not None and part_for(recorded, scenario.name).is_whole:
        like = Like(folder / recorded.file, recorded.profile, rate)
        said = f"{like.requests:,} synthetic requests like {recorded.file} (seed {seed})"
        return Playable(
            Part(write_like(like, out, seed)), in_flight, _at(said, load, rate, in_flight)
        )
    drawn = Drawn(scenario.lengths, rate, in_flight)
    said = f"{drawn.requests:,} synthetic requests ({drawn.lengths.source}, seed {seed})"
    path = write_drawn(drawn, out, seed)
    return Playable(Part(path), in_flight, _at(f"{said}, Poisson arrivals", load, rate, in_flight))


def _rate(load: Load, mean_output: float) -> float | None:
    """Requests a second; None where requests in flight were stated instead."""
    if load.unit is LoadUnit.REQUESTS_PER_S:
        return load.amount
    if load.unit is LoadUnit.USERS:
        return traffic(ceil(load.amount), mean_output, load.factors).requests_per_s.value
    return load.per_s


def _stored(
    scenario: Scenario, path: Path, rate: float | None, in_flight: int | None
) -> Playable | NotPlayable:
    """The recorded requests, faster or slower as the load asks."""
    recorded = scenario.recorded
    if recorded is None:
        return NotPlayable(f"{scenario.name} has no recorded requests.")
    part = part_for(recorded, scenario.name)
    slice_name = None if part.slice is None else part.slice.name
    if rate is None:
        return Playable(
            Part(path, slice_name),
            in_flight,
            f"always {in_flight:,} requests of {part.name} in flight",
        )
    if part.mean_per_s is None:
        return NotPlayable(f"{part.name} has no times of arrival; vram workload synth makes some.")
    scale = rate / part.mean_per_s
    return Playable(
        Part(path, slice_name, scale), None, f"{part.name}, arrivals x{plain(scale, 4)}"
    )


def _at(said: str, load: Load, rate: float | None, in_flight: int | None) -> str:
    """The words for drawn requests with what they are played at."""
    if rate is None:
        return f"{said.removesuffix(', Poisson arrivals')}, always {in_flight:,} in flight"
    people = f" of {plain(load.amount)} people" if load.unit is LoadUnit.USERS else ""
    return f"{said} at {plain(rate, 4)} a second{people}"
