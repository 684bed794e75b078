"""A ramp begun or resumed: its record, its search, its answer."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from vramledger.cli.output import show, show_json
from vramledger.cli.trial.asked import new_folder
from vramledger.cli.trial.live_view import live_view
from vramledger.cli.trial.ramp_asked import (
    from_kept,
    kept_options,
    question_asked,
    ramp_asked,
    workload_hash,
)
from vramledger.errors import BadInput
from vramledger.methods.ramp.found import CODES, Ramp
from vramledger.methods.ramp.kept import Kept, read_kept
from vramledger.methods.ramp.prediction import Prediction, predicted
from vramledger.methods.ramp.ramp import RampAsked, ramp


def begin_ramp(options: Mapping[str, Any], out: Path | None, *, as_json: bool) -> int:
    """A new ramp.

    Raises:
        BadInput, UnknownName, CannotKnow: what was asked cannot be done.
    """
    ramp_asked(options, None)  # what is wrong with it is said before anything is simulated
    question = question_asked(options)
    prediction = None
    if question is not None:
        show("simulating, for a place to start ...", err=True)
        prediction = predicted(question)
    asked = ramp_asked(options, prediction)
    folder = out or new_folder(f"ramp {asked.trial.part.workload.stem}")
    kept = Kept.begun(
        folder,
        asked=kept_options(options),
        prediction=None if prediction is None else prediction.to_json(),
        workload_sha256=workload_hash(asked),
    )
    return _answer(asked, kept, as_json=as_json)


def resume_ramp(folder: Path, *, close: bool, as_json: bool) -> int:
    """Go on with a ramp: the steps that are there are read, not sent again. With `close` nothing more is sent.

    Raises:
        BadInput: its record is damaged, or its workload was changed.
    """
    content = read_kept(folder)
    told = content.get("prediction")
    prediction = None if told is None else Prediction.from_json(told)
    asked = ramp_asked(from_kept(content["asked"]), prediction)
    if workload_hash(asked) != content.get("workload_sha256"):
        raise BadInput(
            f"{asked.trial.part.workload}, which {folder} sends, was changed since; start another ramp."
        )
    if close:
        asked = replace(asked, stepping=replace(asked.stepping, most_steps=0))
    return _answer(asked, Kept.again(folder), as_json=as_json)


def _answer(asked: RampAsked, kept: Kept, *, as_json: bool) -> int:
    from vramledger.report.ramp_json import ramp_json

    with live_view() as watch:
        found = ramp(asked, kept.folder, watch, kept.step)
    told = ramp_json(found)
    kept.ended(found.stopped_by, told)
    _show(found, told, as_json=as_json)
    return CODES[found.finding]


def _show(found: Ramp, told: Mapping[str, Any], *, as_json: bool) -> None:
    if as_json:
        show_json(dict(told))
        return
    from vramledger.report.ramp import ramp_text

    show(ramp_text(found))
