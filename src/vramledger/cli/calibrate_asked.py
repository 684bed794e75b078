"""The options of ``vram calibrate`` as runs to calibrate on, and its file."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from vramledger import __version__
from vramledger.calibrate.calibration import calibrate, calibrate_quick
from vramledger.calibrate.hand_measured import measure
from vramledger.calibrate.recorded import read_recorded
from vramledger.calibrate.run_deployment import Stated
from vramledger.calibrate.start_up import read_start_up
from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.record.durable import replace_file
from vramledger.report.calibration import start_up_text, to_text
from vramledger.report.calibration_json import start_up_json, to_json
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
    if log is not None:
        start = read_start_up(log, asked)
        return Answer(start_up_json(start, _today(), __version__), start_up_text(start))
    if quick:
        found = calibrate_quick(measure(url, asked))
    else:
        found = calibrate([read_recorded(run, asked) for run in runs])
    return Answer(to_json(found, _today(), __version__), to_text(found))


def _refuse_mixture(
    runs: Sequence[Path], log: Path | None, url: str | None, *, quick: bool
) -> None:
    """One kind of evidence at a time."""
    if quick != (url is not None):
        raise BadInput("--quick times the server of --url; give both, or neither and a run.")
    kinds = (bool(runs), log is not None, quick)
    if sum(kinds) > 1:
        raise BadInput("Runs, --server-log and --quick calibrate by themselves; give one of them.")
    if not any(kinds):
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
