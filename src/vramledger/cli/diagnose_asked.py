"""The options of ``vram diagnose`` as a run to diagnose."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vramledger.calibrate.run_deployment import Stated
from vramledger.diagnose.diagnosis import judged_run
from vramledger.errors import BadInput, ExitCode
from vramledger.frozen import frozen
from vramledger.record.run import read_run
from vramledger.report.diagnosis import findings_text
from vramledger.report.diagnosis_json import findings_json


@frozen
class Answer:
    """A diagnosis as its document and as text."""

    document: Mapping[str, Any]
    text: str
    exit_code: ExitCode


def answer_of(run: Path | None, stated: Mapping[str, Any]) -> Answer:
    """The diagnosis that was asked for.

    Raises:
        BadInput: no run, or a damaged one.
        UnknownName: a card, model or version that is none.
    """
    if run is None:
        raise BadInput("Name the folder of a run to diagnose; vram trial run records one.")
    found = judged_run(read_run(run), Stated(**stated))
    return Answer(findings_json(found), findings_text(found), found.exit_code)
