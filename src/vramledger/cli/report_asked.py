"""What ``vram report`` is asked for, gathered and written."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from vramledger.bundle.archive import MANIFEST
from vramledger.bundle.verifying import opened_bundle, verify
from vramledger.calibrate.run_deployment import Stated
from vramledger.cli.output import show_json
from vramledger.cli.page import write_page
from vramledger.errors import BadInput, ExitCode
from vramledger.frozen import frozen
from vramledger.plan.read import read_plan
from vramledger.plan.requirement import Requirement
from vramledger.report.run_report.gathered import gathered
from vramledger.report.run_report.markdown import to_markdown
from vramledger.report.run_report.model import Report, Terms
from vramledger.report.run_report.page import to_html
from vramledger.report.run_report.report_json import report_json
from vramledger.report.run_report.sealed import seal_of, sealed_parts
from vramledger.report.series_report.model import SeriesReport
from vramledger.report.series_report.read import is_series_folder, series_report
from vramledger.written_file import refuse_place

_DESCRIPTION: Final = "run.json"
_WRITERS: Final[Mapping[str, Callable[[Report], str]]] = {
    ".html": to_html,
    ".md": to_markdown,
    ".json": lambda report: json.dumps(report_json(report), indent=1) + "\n",
}
_TERMS: Final = ("buyer", "supplier", "order", "on_pass", "on_fail", "on_inconclusive")


def written(
    paths: Sequence[Path], out: Path | None, asked: Mapping[str, Any], *, as_json: bool
) -> ExitCode:
    """Write the report, or print it.

    Raises:
        BadInput: nothing is named, the form is none of ours, a run is none, or the place cannot be written.
    """
    if not paths:
        raise BadInput("Name a run, or a bundle that vram verify --seal wrote.")
    _check_place(paths, out, as_json=as_json)
    terms = _terms(asked)
    stated = Stated(asked["launch"], asked["gpu"], asked["model"])
    plan = None if asked["plan"] is None else read_plan(asked["plan"])
    report = _report(paths, asked["title"], stated, terms, plan)
    if out is not None:
        write_page(out, _WRITERS[out.suffix](report), "-o")
    if as_json:
        show_json(report_json(report))
    changed = report.seal is not None and report.seal.unchanged is False
    return ExitCode.DOES_NOT_HOLD if changed else ExitCode.HOLDS


def _check_place(paths: Sequence[Path], out: Path | None, *, as_json: bool) -> None:
    if out is None and as_json:
        return
    if out is None or out.suffix not in _WRITERS:
        raise BadInput(
            "State where the report goes with -o FILE, which ends in .html, .md or .json."
        )
    refuse_place(out, paths)
    if not out.parent.is_dir():
        raise BadInput(f"{out} cannot be written: {out.parent} is no folder; make it first.")
    for each in paths:
        if each.is_dir() and out.resolve().is_relative_to(each.resolve()):
            raise BadInput(
                f"{out} would lie within {each}, whose files are evidence; choose another -o."
            )


def _terms(asked: Mapping[str, Any]) -> Terms | None:
    stated = {name: asked[name] for name in _TERMS if asked[name]}
    if asked["form"] == "acceptance":
        return Terms(**stated)
    if stated:
        option = next(iter(stated)).replace("_", "-")
        raise BadInput(f"--{option} belongs to an acceptance; add --as acceptance.")
    return None


def _report(
    paths: Sequence[Path],
    title: str | None,
    stated: Stated,
    terms: Terms | None,
    plan: Requirement | None,
) -> Report:
    named = title or ", ".join(each.resolve().name for each in paths)
    if len(paths) == 1 and _is_bundle(paths[0]):
        found = verify(paths[0])
        with opened_bundle(paths[0]) as opened:
            parts = sealed_parts(opened.folder, found)
            series = [_found(number, each) for number, each in enumerate(parts.series, 1)]
            return gathered(
                named,
                [*parts.runs, *(run for each in series for run in each.runs)],
                stated,
                seal_of(found),
                terms,
                plan,
                [each.series for each in series if each.series is not None],
                [each.note for each in series if each.note],
                parts.by_plan,
            )
    given = [_found(number, each) for number, each in enumerate(paths, 1)]
    return gathered(
        named,
        [run for each in given for run in each.runs],
        stated,
        None,
        terms,
        plan,
        [each.series for each in given if each.series is not None],
        [each.note for each in given if each.note],
    )


def _is_bundle(path: Path) -> bool:
    return path.is_file() or (path / MANIFEST).is_file()


@frozen
class _Found:
    """What a folder holds: one series, or runs."""

    runs: tuple[Path, ...] = ()
    series: SeriesReport | None = None
    note: str = ""


def _found(number: int, path: Path) -> _Found:
    if _is_bundle(path):
        raise BadInput(
            f"{path} is a bundle or a file; report a bundle by itself, and runs by their folders."
        )
    if (path / _DESCRIPTION).is_file() or not path.is_dir():
        return _Found((path,))
    if not is_series_folder(path):
        return _Found(_runs_in(path))
    series = series_report(path, f"series-{number}")
    if series is not None:
        return _Found(series=series)
    return _Found(_runs_in(path), note=f"The ramp in {path} is not over, so its steps stand each by itself; vram trial resume {path} goes on with it.")  # fmt: skip


def _runs_in(path: Path) -> tuple[Path, ...]:
    """The runs of a folder of them; the folder itself where there is none, which is then refused."""
    return tuple(sorted(each.parent for each in path.glob(f"*/{_DESCRIPTION}"))) or (path,)
