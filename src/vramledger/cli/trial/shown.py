"""A closed trial on the terminal, and the exit code it comes to."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from vramledger.cli.output import show, show_json
from vramledger.errors import ExitCode
from vramledger.printable import flat
from vramledger.record.run import read_run
from vramledger.trial.conduct.readiness_told import Readiness, readiness_of
from vramledger.trial.conduct.summary import Summary, summarise

if TYPE_CHECKING:
    from vramledger.methods.measured.contract import Promised


def show_run(folder: Path, *, as_json: bool, examples: Mapping[str, str] | None = None) -> int:
    """Print the summary of a run; `examples` are the server's own words, which no record has.

    Raises:
        BadInput: it is no closed trial, or damaged.
    """
    from vramledger.methods.measured.contract import promised
    from vramledger.report.trial_contract import contract_json, contract_lines

    run = read_run(folder)
    gate = readiness_of(run.description)
    if gate is not None:
        return _show_gate(gate, folder, as_json=as_json)
    summary = summarise(run)
    contract = promised(summary)
    if as_json:
        from vramledger.report.trial_json import trial_json

        show_json(trial_json(summary) | {"contract": contract_json(contract)})
    else:
        from vramledger.report.trial import trial_text

        show(trial_text(summary, contract_lines(contract)))
    for name, words in (examples or {}).items():
        show(flat(f"The server on {name}: {words}"), err=True)
    return exit_code_of(summary, contract)


def _show_gate(found: Readiness, folder: Path, *, as_json: bool) -> int:
    from vramledger.report.trial_warm import warm_json, warm_text

    if as_json:
        show_json(warm_json(found, folder))
    else:
        show(warm_text(found, folder))
    return ExitCode.HOLDS if found.ready else ExitCode.DOES_NOT_HOLD


def exit_code_of(summary: Summary, contract: "Promised") -> int:
    """130 where it was interrupted, 3 where its figures decide nothing, else what the contract comes to; 0 without one."""
    from vramledger.methods.measured.contract import Standing
    from vramledger.record.document import Ended

    codes = {
        None: ExitCode.HOLDS,
        Standing.HOLDS: ExitCode.HOLDS,
        Standing.FAILS: ExitCode.DOES_NOT_HOLD,
        Standing.OPEN: ExitCode.CANNOT_KNOW,
    }
    if summary.description.ended is Ended.INTERRUPTED:
        return ExitCode.INTERRUPTED
    return ExitCode.CANNOT_KNOW if summary.inconclusive else codes[contract.standing]
