"""The options of ``vram calibrate`` as runs to calibrate on, and its file."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from vramledger import __version__
from vramledger.calibrate.calibration import Calibration, calibrate, calibrate_quick
from vramledger.calibrate.hand_measured import measure
from vramledger.calibrate.recorded import read_recorded
from vramledger.calibrate.run_deployment import Stated
from vramledger.calibrate.start_up import StartUp, read_start_up
from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.record.durable import replace_file
from vramledger.report.calibration import start_up_text, to_text
from vramledger.report.calibration_json import (
    memory_terms_json,
    start_up_json,
    start_up_part,
    to_json,
)
from vramledger.written_file import refuse_place


@frozen
class Answer:
    """A calibration as its file and as text."""

    document: Mapping[str, Any]
    text: str


def document_of(runs: Sequence[Path], stated: Mapping[str, Any]) -> Answer:
    """The calibration that was asked for.

    Raises:
        BadInput: no run, runs of different deployments, or a deployment of which too little is known.
        CannotKnow: nothing to calibrate on.
    """
    given = dict(stated)
    log, quick, url = given.pop("server_log"), given.pop("quick"), given.pop("url")
    asked = Stated(**given)
    _refuse_mixture(runs, log, url, quick=quick)
    start = None if log is None else read_start_up(log, asked)
    if quick:
        found = calibrate_quick(measure(url, asked))
    elif runs:
        found = calibrate([read_recorded(run, asked) for run in runs])
    elif start is not None:
        return Answer(start_up_json(start, _today(), __version__), start_up_text(start))
    return _with_memory(Answer(to_json(found, _today(), __version__), to_text(found)), found, start)


def _with_memory(answer: Answer, found: Calibration, start: StartUp | None) -> Answer:
    """The answer with the memory of the engine's start beside the step times.

    Raises:
        BadInput: the log is of another deployment than the runs.
    """
    if start is None:
        return answer
    for name in ("model", "gpu", "version", "weights", "kv_cache", "tp", "dp"):
        here, there = getattr(start.setting, name), getattr(found.host.setting, name)
        if here != there:
            raise BadInput(
                f"{start.log} is of another deployment than the run: {name} is {here} in the log and {there} in the run. "
                "Calibrate them apart, or name the log of the server that the run was made on."
            )
    terms = {**answer.document["terms"], **memory_terms_json(start)}
    document = {**answer.document, "terms": terms, **start_up_part(start)}
    return Answer(document, f"{answer.text}\n\n{start_up_text(start, beside_run=True)}")


def _refuse_mixture(
    runs: Sequence[Path], log: Path | None, url: str | None, *, quick: bool
) -> None:
    """One kind of evidence at a time."""
    if quick != (url is not None):
        raise BadInput("--quick times the server of --url; give both, or neither and a run.")
    if runs and quick:
        raise BadInput("Runs and --quick calibrate by themselves; give one of them.")
    if not (runs or quick or log is not None):
        raise BadInput(
            "Name the folder of a run to calibrate on (vram trial run records one), or --server-log LOG, or --quick "
            "with --url."
        )


def written(document: Mapping[str, Any], out: Path, runs: Sequence[Path]) -> None:
    """The file, whole or not at all.

    Raises:
        BadInput: it cannot be written, or would replace what it was made of.
    """
    refuse_place(out, runs)
    try:
        replace_file(out, (json.dumps(document, indent=1) + "\n").encode())
    except OSError as error:
        raise BadInput(
            f"{out} cannot be written: {error.strerror or error}; name another place."
        ) from None


def _today() -> str:
    return datetime.now(UTC).date().isoformat()
