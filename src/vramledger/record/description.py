"""run.json on disk: read with checks, written whole, sealed by a hash that covers the origin."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

from vramledger.errors import BadInput
from vramledger.named_file import read_text
from vramledger.record.durable import replace_file

if TYPE_CHECKING:
    from pydantic import ValidationError

    from vramledger.record.document import Description

FILE: Final = "run.json"
_LARGEST: Final = 1 << 26  # bytes; a plan and some hundred arguments are far less
_HASH: Final = "sha256"


def canonical(value: Mapping[str, Any]) -> bytes:
    """JSON with sorted keys and without spaces, so that equal values are equal bytes."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    ).encode()


def sealed(description: "Description") -> "Description":
    """The description with its own hash."""
    return description.model_copy(update={_HASH: hash_of(description.model_dump(mode="json"))})


def hash_of(document: Mapping[str, Any]) -> str:
    """SHA-256 of a document without its own hash, in hexadecimal."""
    rest = {key: value for key, value in document.items() if key != _HASH}
    return hashlib.sha256(canonical(rest)).hexdigest()


def write_description(folder: Path, description: "Description") -> None:
    """Replace run.json as a whole.

    Raises:
        OSError: it cannot be written.
    """
    document = description.model_dump(mode="json")
    text = json.dumps(document, indent=1, sort_keys=True, allow_nan=False) + "\n"
    replace_file(folder / FILE, text.encode())


def read_description(folder: Path) -> "Description":
    """What a run says of itself; if it is closed, its hash holds.

    Raises:
        BadInput: no run, not JSON, of another schema, a key has no sense, or changed since closing.
    """
    from pydantic import ValidationError

    from vramledger.record.document import SCHEMA, Description

    path = folder / FILE
    document = _parsed(path)
    if document.get("schema") != SCHEMA:
        raise BadInput(
            f"{path} follows the schema {document.get('schema')!r}, and this version reads {SCHEMA!r}; "
            "read it with the version that wrote it."
        )
    try:
        description = Description.model_validate(document)
    except ValidationError as error:
        _refuse(path, error)
    if description.ended is not None and hash_of(document) != description.sha256:
        raise BadInput(
            f"{path} was changed after the run was closed: it does not have the hash it states; use "
            "an unchanged copy."
        )
    return description


def _parsed(path: Path) -> dict[str, Any]:
    text = read_text(path, _LARGEST, "a run's description")
    try:
        document = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise BadInput(
            f"{path} is not a JSON object; it was damaged or is no run's description, so name "
            "another run."
        )
    return document


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _refuse(path: Path, error: "ValidationError") -> NoReturn:
    first = error.errors(include_url=False, include_input=False)[0]
    key = ".".join(map(str, first["loc"])) or "the document"
    raise BadInput(
        f"{path}: {key} has no sense there ({first['msg']}); use an unchanged copy."
    ) from None
