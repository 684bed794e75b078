"""The runs in a folder, as far as their descriptions tell."""

from collections.abc import Iterator
from pathlib import Path

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.record.description import FILE, read_description
from vramledger.record.requests import REQUESTS


@frozen
class Listed:
    """One run; `problem` says why it cannot be read, and then nothing else is known.

    `requests` leaves out the warm-up.
    """

    folder: Path
    origin: str | None = None
    name: str | None = None
    started_at: str | None = None
    ended: str | None = None
    requests: int | None = None
    problem: str | None = None


def runs_in(folder: Path) -> tuple[Listed, ...]:
    """The runs that lie in a folder, by name, which is by time for those named by default.

    Raises:
        BadInput: it is no folder.
    """
    if not folder.is_dir():
        raise BadInput(f"{folder} is no folder; name the one that holds your runs.")
    return tuple(_listed(folder))


def _listed(folder: Path) -> Iterator[Listed]:
    for place in sorted(folder.iterdir()):
        if not (place / FILE).is_file():
            continue
        try:
            about = read_description(place)
        except BadInput as error:
            yield Listed(place, problem=str(error))
            continue
        yield Listed(
            place,
            about.origin.value,
            about.name,
            about.started_at,
            about.ended.value if about.ended else None,
            _requests(place) if REQUESTS.name in about.tables else None,
        )


def _requests(place: Path) -> int | None:
    """Rows that are of the workload, by the heads of the file: those of a warm-up are none. None where it is damaged."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(place / REQUESTS.file) as file:
            metadata = file.metadata
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        return None
    column = metadata.schema.names.index("row")  # of a flat column as of a leaf
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    return int(sum(each.num_rows - each.column(column).statistics.null_count for each in groups))
