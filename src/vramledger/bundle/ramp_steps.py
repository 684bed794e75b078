"""The steps of a ramp, read anew from their runs: where its goals end by them."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vramledger.bundle.contents import Placed
from vramledger.errors import BadInput

if TYPE_CHECKING:
    from vramledger.methods.knee.search import Limit
    from vramledger.methods.measured.observed import Judging
    from vramledger.methods.subject import Axis, Observation, Range


class _NotPlayedError(Exception):
    """There is no such step."""


class _Steps:
    """A subject that has been played."""

    def __init__(self, range_: "Range", plays: "Mapping[tuple[float, int], Observation]") -> None:
        self.range, self.plays = range_, plays

    def repeats(self, level: float) -> bool:
        """Whether a play of that level was near a threshold."""
        return any(seen.unsure for (at, _), seen in self.plays.items() if at == level)

    def play(self, level: float, attempt: int) -> "Observation":
        """What was seen.

        Raises:
            _NotPlayedError: nothing was.
        """
        if (level, attempt) not in self.plays:
            raise _NotPlayedError
        return self.plays[level, attempt]


def limits_of_steps(
    place: Path, record: Mapping[str, Any], runs: Mapping[str, Placed]
) -> "tuple[Limit, Limit]":
    """Where contract and safe load end, by every step of the record that is a run here.

    Raises:
        BadInput: the record names a step that is no run of it, or one of another level.
    """
    from vramledger.methods.knee.probes import Probes
    from vramledger.methods.knee.search import limit_of
    from vramledger.methods.measured.observed import read_observation
    from vramledger.methods.subject import Axis, Goal, Range

    told = record["result"]
    closed = record["asked"].get("closed") if told is None else told["axis"] == Axis.CONCURRENCY
    axis = Axis.CONCURRENCY if closed else Axis.RATE
    judging = _judging(record, runs, axis)
    plays = {}
    for step in record["steps"]:
        level = float(step["level"])
        _refuse_strange(step, runs, axis)
        read = read_observation(place / step["folder"], level, judging)
        if not read.open:
            plays[level, int(step["attempt"])] = read.seen
    levels = [level for level, _ in plays] or [1.0]
    subject = _Steps(Range(min(levels), min(levels), max(levels), axis), plays)
    probes = Probes(subject, lambda _done, _of_all: None)
    for level in sorted(set(levels) if plays else ()):
        for goal in Goal:
            with suppress(_NotPlayedError):
                probes.verdict(level, goal)
    contract, safe = (limit_of(probes, goal) for goal in Goal)
    return contract, safe


def _judging(record: Mapping[str, Any], runs: Mapping[str, Placed], axis: "Axis") -> "Judging":
    """By the option, else by the plan that the steps carry."""
    from vramledger.methods.measured.observed import Judging
    from vramledger.plan.promises import terms

    given = record["asked"].get("headroom")
    about = next((each.run.description for each in runs.values()), None)
    if about is None or about.plan is None:
        return Judging(axis, given)
    found = terms(about.plan.text, about.scenario)
    return Judging(axis, found.headroom if given is None else given, found.kind)


def _refuse_strange(step: Mapping[str, Any], runs: Mapping[str, Placed], axis: "Axis") -> None:
    from vramledger.methods.subject import Axis

    found = runs.get(str(step["folder"]))
    if found is None:
        raise BadInput(f"ramp.json names {step['folder']}, which is no run of the ramp.")
    trial = (found.run.description.model_extra or {}).get("trial") or {}
    sent = (
        trial.get("load", {}).get("closed") if axis is Axis.CONCURRENCY else trial.get("rate_scale")
    )
    if sent is None or float(sent) != float(step["level"]):
        raise BadInput(
            f"ramp.json says that {step['folder']} had the load {step['level']:g}, and it sent {sent}."
        )
