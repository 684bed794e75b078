"""The formats of ``vram trial export``. A format is one function and one row."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from vramledger.errors import BadInput
from vramledger.report.trial_export.aiperf import aiperf_files
from vramledger.report.trial_export.export_file import ExportFile
from vramledger.report.trial_export.guidellm import guidellm_files
from vramledger.report.trial_export.llm_d import llm_d_files
from vramledger.report.trial_export.own import csv_files, json_files
from vramledger.trial.conduct.summary import Summary

FORMATS: Final[dict[str, Callable[[Summary], Iterator[ExportFile]]]] = {
    "csv": csv_files,
    "json": json_files,
    "aiperf": aiperf_files,
    "guidellm": guidellm_files,
    "llm-d": llm_d_files,
}


def write_export(found: Summary, name: str, folder: Path) -> tuple[Path, ...]:
    """Write the files of a format into a folder; each appears whole or not at all.

    Raises:
        BadInput: a file is there already, or the folder cannot be written.
    """
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for each in FORMATS[name](found):
            path = folder / each.name
            if path.exists():
                raise BadInput(f"{path} is there already; name another folder with -o.")
            _write(each, path)
            written.append(path)
    except OSError as error:
        raise BadInput(
            f"{folder} cannot be written: {error.strerror or error}; name another folder with -o."
        ) from None
    return tuple(written)


def _write(file: ExportFile, path: Path) -> None:
    part = path.with_name(f".{path.name}.part")
    try:
        with part.open("w", encoding="utf-8", newline="") as text:
            text.writelines(file.pieces)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
