"""A soak begun, resumed or shown: its record, its course, its answer."""

from collections.abc import Mapping
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any, Final

from vramledger.cli.limit_option import with_limits
from vramledger.cli.output import show, show_json
from vramledger.cli.trial.asked import new_folder, trial_asked
from vramledger.cli.trial.live_view import live_view
from vramledger.cli.trial.ramp_asked import (
    from_kept,
    kept_options,
    ramp_asked,
    time_asked,
    workload_hash,
)
from vramledger.cli.workload.operator import seconds
from vramledger.errors import BadInput, ExitCode
from vramledger.methods.ramp.kept import SOAK, Kept, read_kept
from vramledger.methods.ramp.ramp import RampAsked
from vramledger.methods.soak.growth import Standing, growths
from vramledger.methods.soak.segment import Segment
from vramledger.methods.soak.soak import Soak, SoakAsked, soak

_LENGTH: Final = "4h"
_RAMP: Final = {
    "closed": True, "start": None, "at_least": None, "steps": 12, "tolerance": None, "idle_limit": "2m",
    "headroom": None,
}  # fmt: skip
_CODES: Final = {
    Standing.HOLDS: ExitCode.HOLDS,
    Standing.GROWS: ExitCode.DOES_NOT_HOLD,
    Standing.OPEN: ExitCode.CANNOT_KNOW,
}


def begin_soak(options: Mapping[str, Any], out: Path | None, *, as_json: bool) -> int:
    """A new soak.

    Raises:
        BadInput, UnknownName, CannotKnow: what was asked cannot be done.
    """
    told = {**options, "duration": options["duration"] or _LENGTH}
    asked = soak_asked(told)
    folder = out or new_folder(f"soak {asked.trial.part.workload.stem}")
    about = {"asked": kept_options(told), "workload_sha256": _hash(told)}
    return _answer(asked, Kept.begun(folder, SOAK, **about), as_json=as_json)


def resume_soak(folder: Path, *, close: bool, as_json: bool) -> int:
    """Go on with a soak; with `close` nothing more is sent.

    Raises:
        BadInput: its record is damaged, or its workload was changed.
    """
    if close:
        return show_soak(folder, as_json=as_json)
    content = read_kept(folder, SOAK)
    options = from_kept(content["asked"])
    asked = soak_asked(options)
    if _hash(options) != content.get("workload_sha256"):
        raise BadInput(
            f"{asked.trial.part.workload}, which {folder} sends, was changed since; start another soak."
        )
    return _answer(asked, Kept.again(folder, SOAK), as_json=as_json)


def show_soak(folder: Path, *, as_json: bool) -> int:
    """What a soak came to, or, while it is not over, what its segments say so far.

    Raises:
        BadInput: its record is damaged.
    """
    content = read_kept(folder, SOAK)
    if content["result"] is not None:
        told = content["result"]
        show_json(told) if as_json else show(f"{told['verdict']}: {told['says']}")
        codes = {"HOLDS": 0, "GROWS": 1, "INCONCLUSIVE": 3, "STOPPED": 130}
        return codes[told["verdict"]]
    segments = tuple(Segment.from_json(each) for each in content["segments"])
    total_s = seconds(content["asked"]["duration"])
    why = "it is not over; vram trial resume goes on."
    found = Soak(folder, segments, growths(segments), (), total_s, why)
    return _shown(found, as_json=as_json)


def soak_asked(options: Mapping[str, Any]) -> SoakAsked:
    """What the options ask.

    Raises:
        BadInput, UnknownName, CannotKnow: as for a trial or a ramp.
    """
    trial = trial_asked(options)
    trial = replace(trial, contract=with_limits(trial.contract, tuple(options["limits"])))
    if trial.duration_s is None:
        raise BadInput("State how long the soak is with --for, such as --for 4h.")
    made = _ramp(options) if options["ramps"] else None
    within = options.get("within")
    within_s = inf if within is None else time_asked("--within", within)
    return SoakAsked(trial, trial.duration_s, options["segments"], made, within_s)


def _ramp(options: Mapping[str, Any]) -> RampAsked:
    made = ramp_asked({**options, **_RAMP, "total": options.get("ramp_for")}, None)
    return replace(made, least=None)


def _hash(options: Mapping[str, Any]) -> str:
    return workload_hash(_ramp(options))


def _answer(asked: SoakAsked, kept: Kept, *, as_json: bool) -> int:
    from vramledger.report.soak_json import soak_json

    with live_view() as watch:
        found = soak(asked, kept, watch)
    kept.ended("interrupt" if found.interrupted else "over", soak_json(found))
    return _shown(found, as_json=as_json)


def _shown(found: Soak, *, as_json: bool) -> int:
    if as_json:
        from vramledger.report.soak_json import soak_json

        show_json(soak_json(found))
    else:
        from vramledger.report.soak import soak_text

        show(soak_text(found))
    return ExitCode.INTERRUPTED if found.interrupted else _CODES[found.standing]
