"""A soak, whole: short ramps at start, middle and end, and the same load in segments between them."""

import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from math import inf, isfinite
from pathlib import Path
from typing import Any, Final

from vramledger.errors import CannotKnow, VramError
from vramledger.frozen import frozen
from vramledger.methods.measured.idle import LIMIT_S, Idle, await_idle
from vramledger.methods.ramp.found import Ramp
from vramledger.methods.ramp.kept import Kept
from vramledger.methods.ramp.prediction import STEP, started_at
from vramledger.methods.ramp.ramp import RampAsked, ramp
from vramledger.methods.soak.growth import Growth, Standing, growths
from vramledger.methods.soak.segment import Segment, read_segment, resident_bytes
from vramledger.record.description import FILE, read_description
from vramledger.trial.conduct.approach import key_for
from vramledger.trial.conduct.asked import TrialAsked
from vramledger.trial.conduct.conduct import conduct
from vramledger.trial.conduct.resume import close_only
from vramledger.trial.conduct.watch import Watch
from vramledger.trial.sampling.processes import local_processes
from vramledger.trial.sampling.target import authorization
from vramledger.trial.server import ask_server
from vramledger.units import format_seconds

RAMPS: Final = ("ramp-start", "ramp-middle", "ramp-end")
_ROUNDING: Final = 1e-9
_SAME_START_S: Final = 1.0  # a process that tells its beginning by clock ticks wavers by less


@frozen
class SoakAsked:
    """A soak: the trial that each of `segments` is, for `total_s` together; `ramp` is None where none is to be made.

    Nothing is begun that would end more than `within_s` after its beginning.
    """

    trial: TrialAsked
    total_s: float
    segments: int
    ramp: RampAsked | None
    within_s: float = inf


@frozen
class Soak:
    """What a soak found. `halted` is why it ended early, a sentence."""

    folder: Path
    segments: tuple[Segment, ...]
    growths: tuple[Growth, ...]
    ramps: tuple[Ramp, ...]
    asked_s: float
    halted: str = ""
    interrupted: bool = False

    @property
    def safe_loads(self) -> tuple[float | None, ...]:
        """The safe load of each ramp."""
        return tuple(None if r.safe.held is None else r.safe.held.level for r in self.ramps)

    @property
    def safe_falls(self) -> bool | None:
        """Whether the last ramp found less than the first, beyond what the ends are told to; None where they cannot be compared."""
        if len(self.ramps) < len(RAMPS):
            return None
        first, last = self.ramps[0], self.ramps[-1]
        if first.safe.held is None or last.safe.failed is None:
            return None
        now = last.safe.held.level if last.safe.held is not None else 0.0
        least = first.safe.held.level / (1 + first.tolerance)
        return now < least * (1 - _ROUNDING) and now < first.safe.held.level - 1

    @property
    def restarts(self) -> int:
        """Segments in which the server restarted or went away, or before which it did."""
        before = (None, *(each.began_at for each in self.segments))
        return sum(
            each.restarted or _other(each.began_at, began)
            for each, began in zip(self.segments, before, strict=False)
        )

    @property
    def standing(self) -> Standing:
        """Of the whole: it grows with one figure, and holds where every one that is told does."""
        found = {each.standing for each in self.growths}
        if Standing.GROWS in found or self.safe_falls or self.restarts:
            return Standing.GROWS
        unknown = not found or self.halted or self.interrupted or not self._memory_told
        if unknown or Standing.OPEN in found:
            return Standing.OPEN
        return Standing.HOLDS

    @property
    def _memory_told(self) -> bool:
        return any(each.measure.unit == "bytes" for each in self.growths)


def _other(one: float | None, before: float | None) -> bool:
    """Whether these are two processes."""
    return one is not None and before is not None and abs(one - before) > _SAME_START_S


def soak(asked: SoakAsked, kept: Kept, watch: Watch) -> Soak:
    """Send the same load again and again; an interrupt, or a server that goes, ends it with what was found.

    Raises:
        BadInput: the server or the load cannot be used at all.
        CannotKnow: nothing is answered at the first step.
    """
    segments = [Segment.from_json(each) for each in kept.content["segments"]]
    ramps: list[Ramp] = []
    ended: dict[str, Any] = {}
    try:
        for what in _course(asked, kept.folder, watch, segments, ramps):
            if isinstance(what, Segment):
                segments.append(what)
                kept.add(what.to_json())
                continue
            ramps.append(what)
            if what.interrupted:
                ended = {"interrupted": True}
                break
    except KeyboardInterrupt:
        ended = {"interrupted": True}
    except VramError as error:
        if not segments and not ramps:
            raise
        ended = {"halted": str(error)}
    return Soak(
        kept.folder, tuple(segments), growths(segments), tuple(ramps), asked.total_s, **ended
    )


def _course(
    asked: SoakAsked, folder: Path, watch: Watch, done: list[Segment], ramps: list[Ramp]
) -> Iterator[Segment | Ramp]:
    """Ramps and segments in their order, those that are missing."""
    places = {0: RAMPS[0], asked.segments // 2: RAMPS[1], asked.segments: RAMPS[2]}
    began_s = time.monotonic()
    for number in range(asked.segments + 1):
        _refuse_late(asked, time.monotonic() - began_s, number)
        if number in places and asked.ramp is not None:
            watch.phase(f"{places[number]}: how far it can be pushed now")
            near = _near(asked.ramp, ramps)
            yield ramp(near, folder / places[number], watch, lambda _step: None)
        if len(done) <= number < asked.segments:
            watch.phase(f"segment {number + 1} of {asked.segments}")
            yield _segment(asked, folder / f"segment-{number + 1:03}", watch)


def _refuse_late(asked: SoakAsked, passed_s: float, number: int) -> None:
    """Stop where the next segment, or the last ramp, might not end in the time that is allowed.

    Raises:
        CannotKnow: it might not.
    """
    ramp_s = 0.0 if asked.ramp is None else asked.ramp.stepping.total_s
    next_s = asked.total_s / asked.segments if number < asked.segments else ramp_s
    if passed_s + (next_s if isfinite(next_s) else 0.0) > asked.within_s:
        raise CannotKnow(
            f"The {format_seconds(asked.within_s)} that were allowed (--within) hold {number} of {asked.segments} segments."
        )


def _near(asked: RampAsked, before: list[Ramp]) -> RampAsked:
    """Begun a little below what the first ramp found, which takes fewer steps."""
    held = before[0].safe.held if before else None
    if held is None:
        return asked
    start = started_at(held.level, asked.levels.axis)
    return replace(asked, levels=replace(asked.levels, start=start, step=STEP))


def _segment(asked: SoakAsked, folder: Path, watch: Watch) -> Segment:
    trial = replace(asked.trial, duration_s=asked.total_s / asked.segments)
    if (folder / FILE).is_file():  # it was cut off
        close_only(folder)
        names = (folder.with_name(f"{folder.name}-cut-{number}") for number in count(1))
        folder.rename(next(place for place in names if not place.exists()))
    key = key_for(trial)
    conduct(trial, folder, watch)
    if read_description(folder).ended == "interrupted":
        raise KeyboardInterrupt
    idle = _at_rest(trial, key)
    memory = resident_bytes(local_processes(trial.url))
    return read_segment(folder, time.time(), idle.levels if idle.idle else {}, memory)


def _at_rest(trial: TrialAsked, key: str | None) -> Idle:
    """The server when it has nothing to do; a server that has gone tells nothing, and its segment is kept."""
    try:
        facts = ask_server(trial.url, key, metrics_url=trial.metrics_url, closely=False)
    except VramError as error:
        return Idle(None, 0.0, {}, str(error))
    return await_idle(facts.metrics_url, authorization(key), LIMIT_S)
