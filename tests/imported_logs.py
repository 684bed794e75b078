"""Logs written by a test, imported, and the rows that came of them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from vramledger.workload.importer import Imported, Options, import_logs

AZURE = "TIMESTAMP,ContextTokens,GeneratedTokens\n"


def azure(*rows: str) -> str:
    """A log of the simplest format: times, input and output tokens."""
    return AZURE + "".join(f"{row}\n" for row in rows)


def second(number: int, tokens: str = "100,10") -> str:
    """A row of that log, so many seconds after ten o'clock."""
    minutes, seconds = divmod(number, 60)
    return f"2024-05-10 10:{minutes:02}:{seconds:02}.000000+00:00,{tokens}"


@dataclass
class Result:
    """What an import said and what it stored."""

    imported: Imported
    path: Path

    @property
    def report(self) -> Any:
        return self.imported.report

    @property
    def rows(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = pq.read_table(self.path).to_pylist()
        return found

    def column(self, name: str) -> list[Any]:
        return [row[name] for row in self.rows]


def imported(folder: Path, *contents: str | bytes, name: str = "log.csv", **options: Any) -> Result:
    """Import contents as files of a folder, `name` with their numbers before it."""
    names = []
    for number, content in enumerate(contents):
        path = folder / f"{number}-{name}"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        names.append(str(path))
    output = folder / "workload.parquet"
    return Result(import_logs(names, output, Options(**options)), output)
