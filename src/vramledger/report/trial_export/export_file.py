"""A file of an export."""

import json
from collections.abc import Iterable
from typing import Any

from vramledger.frozen import frozen


@frozen
class ExportFile:
    """Its name, and its text piece by piece."""

    name: str
    pieces: Iterable[str]


def json_file(name: str, content: Any) -> ExportFile:
    """A file with one JSON value."""
    return ExportFile(name, (json.dumps(content, indent=1, allow_nan=False), "\n"))
