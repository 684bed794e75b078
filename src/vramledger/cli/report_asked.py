"""What ``vram report`` is asked for, gathered and written."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from vramledger.bundle.archive import MANIFEST
from vramledger.bundle.verifying import Verified, opened_bundle, verify
from vramledger.cli.page import write_page
from vramledger.errors import BadInput, CannotKnow, ExitCode
from vramledger.methods.measured.contract import promised
from vramledger.record.run import read_run
from vramledger.report.run_html.page import to_html, to_markdown
from vramledger.report.run_html.report_json import report_json
from vramledger.report.run_html.shown import Shown, ShownRun
from vramledger.trial.conduct.summary import summarise
from vramledger.trial.conduct.timeline import timeline_of
from vramledger.written_file import refuse_place

_FORMS: Final[dict[str, Callable[[Shown], str]]] = {
    ".html": to_html,
    ".md": to_markdown,
    ".json": lambda shown: json.dumps(report_json(shown), indent=2) + "\n",
}


def written(paths: Sequence[Path], out: Path | None, *, acceptance: bool) -> ExitCode:
    """Write the report.

    Raises:
        BadInput: nothing is named, the form is none of ours, a run is none, or the place cannot be written.
    """
    if not paths:
        raise BadInput("Name a run, or a bundle that vram verify --seal wrote.")
    if out is None or out.suffix not in _FORMS:
        raise BadInput("State the report with -o FILE, which ends in .html, .md or .json.")
    refuse_place(out)
    if len(paths) == 1 and _is_bundle(paths[0]):
        verified = verify(paths[0])
        with opened_bundle(paths[0]) as opened:
            folders = [] if verified.verdict is None else _runs_of(opened.folder, verified)
            shown = _shown(paths[0].name, folders, verified, acceptance=acceptance)
            text = _FORMS[out.suffix](shown)
    else:
        text = _FORMS[out.suffix](_shown(paths[0].name, paths, None, acceptance=acceptance))
    write_page(out, text)
    return ExitCode.HOLDS


def _is_bundle(path: Path) -> bool:
    return path.is_file() or (path / MANIFEST).is_file()


def _runs_of(folder: Path, verified: Verified) -> list[Path]:
    return [folder / each["folder"] for each in (verified.manifest or {})["runs"]]


def _shown(
    title: str, folders: Sequence[Path], verified: Verified | None, *, acceptance: bool
) -> Shown:
    runs = tuple(_run(folder) for folder in folders)
    names = [each.name for each in runs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise BadInput(f"Two of the runs are called {twice}; rename one folder.")
    return Shown(title, runs, verified, acceptance)


def _run(folder: Path) -> ShownRun:
    run = read_run(folder)
    if run.description.origin.value == "simulated":
        raise BadInput(f"{folder} is simulated; vram simulate --html draws it as it is made.")
    summary = summarise(run)
    try:
        timeline = timeline_of(run)
    except CannotKnow:
        timeline = None
    return ShownRun(folder.resolve().name, summary, promised(summary), timeline)
