"""A closed trial on the terminal, and the exit code it comes to."""

from collections.abc import Mapping
from pathlib import Path

from vramledger.cli.output import show, show_json
from vramledger.errors import ExitCode
from vramledger.record.run import read_run
from vramledger.trial.conduct.summary import Summary, summarise


def show_run(folder: Path, *, as_json: bool, examples: Mapping[str, str] | None = None) -> int:
    """Print the summary of a run; `examples` are the server's own words, which no record has.

    Raises:
        BadInput: it is no closed trial, or damaged.
    """
    summary = summarise(read_run(folder))
    if as_json:
        from vramledger.report.trial_json import trial_json

        show_json(trial_json(summary))
    else:
        from vramledger.report.trial import trial_text

        show(trial_text(summary))
    for name, words in (examples or {}).items():
        show(f"The server on {name}: {words}", err=True)
    return exit_code_of(summary)


def exit_code_of(summary: Summary) -> int:
    """130 where it was interrupted, 3 where its figures decide nothing, else 0."""
    from vramledger.record.document import Ended

    if summary.description.ended is Ended.INTERRUPTED:
        return ExitCode.INTERRUPTED
    return ExitCode.CANNOT_KNOW if summary.inconclusive else ExitCode.HOLDS
