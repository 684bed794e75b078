"""Our own tables as CSV, and the summary as JSON."""

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

from vramledger.methods.measured.contract import promised
from vramledger.record.requests import REQUESTS
from vramledger.record.run import Run
from vramledger.report.trial_contract import contract_json
from vramledger.report.trial_export.export_file import ExportFile, json_file
from vramledger.report.trial_json import trial_json
from vramledger.trial.conduct.sent import rows
from vramledger.trial.conduct.summary import Summary


def csv_files(found: Summary) -> Iterator[ExportFile]:
    """``requests.csv``: a line a measured request, the columns of requests.parquet, lists as JSON, nothing for null."""
    yield ExportFile("requests.csv", _lines(found.run))


def json_files(found: Summary) -> Iterator[ExportFile]:
    """``trial.json``, what ``vram trial show --json`` prints, and ``requests.jsonl``, a request a line."""
    contract = contract_json(promised(found))
    yield json_file("trial.json", trial_json(found) | {"contract": contract})
    yield ExportFile("requests.jsonl", (json.dumps(row) + "\n" for row in rows(found.run)))


def _lines(run: Run) -> Iterator[str]:
    names = list(REQUESTS.columns)
    yield _line(names)
    for row in rows(run):
        yield _line([_cell(row[name]) for name in names])


def _cell(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, list) else value


def _line(cells: list[Any]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue()
