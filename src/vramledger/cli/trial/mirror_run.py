"""A mirror from its question to what is printed and written."""

from pathlib import Path
from typing import Final

from vramledger.cli.output import show, show_json
from vramledger.cli.trial.mirror_view import mirror_view
from vramledger.cli.trial.shadow_run import write_result
from vramledger.errors import ExitCode
from vramledger.methods.mirror.asked import MirrorAsked
from vramledger.methods.mirror.result import Mirrored
from vramledger.methods.mirror.serve import run_mirror
from vramledger.methods.shadow.verdict import FAIL, PASS
from vramledger.report.mirror import mirror_text
from vramledger.report.mirror_json import mirror_json
from vramledger.written_file import refuse_place

_CODES: Final = {PASS: ExitCode.HOLDS, FAIL: ExitCode.DOES_NOT_HOLD}


def run(asked: MirrorAsked, out: Path | None, *, as_json: bool) -> ExitCode:
    """Listen until it is over, then tell; exit code by the verdict, 130 where a stated time was cut short."""
    if out is not None:
        refuse_place(out, [])
    with mirror_view(asked) as watch:
        found = run_mirror(asked, watch)
    return _told(found, out, as_json=as_json)


def _told(found: Mirrored, out: Path | None, *, as_json: bool) -> ExitCode:
    document = mirror_json(found)
    if out is not None:
        write_result(out, document)
    if as_json:
        show_json(document)
    else:
        show(mirror_text(found))
    if found.shadow.interrupted:
        return ExitCode.INTERRUPTED
    return _CODES.get(found.shadow.verdict.verdict, ExitCode.CANNOT_KNOW)
