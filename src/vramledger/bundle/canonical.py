"""Canonical JSON (RFC 8785): equal values are equal bytes, so that bytes can be signed.

The whole RFC by the library rfc8785: keys by UTF-16 code units, numbers as ECMAScript writes them, UTF-8, no spaces.
"""

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, NoReturn

from vramledger.errors import BadInput

HASH = "sha256"


def canonical_bytes(value: Any) -> bytes:
    """The one way to write a value.

    Raises:
        BadInput: a whole number beyond 2^53, which JSON elsewhere would round, or no JSON value at all.
    """
    import rfc8785

    try:
        return rfc8785.dumps(value)
    except (rfc8785.CanonicalizationError, RecursionError, UnicodeError) as error:
        raise BadInput(
            f"A record has a value that canonical JSON does not hold ({error}); leave it out."
        ) from None


def with_hash(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document with the SHA-256 of everything else in it, under `sha256`."""
    rest = {key: value for key, value in document.items() if key != HASH}
    return rest | {HASH: sha256(canonical_bytes(rest)).hexdigest()}


def canonical_object(content: bytes) -> dict[str, Any] | None:
    """The JSON object whose canonical bytes these are; None where they are anything else."""
    try:
        found = json.loads(content, parse_constant=_refuse)
        same = isinstance(found, dict) and canonical_bytes(found) == content
    except (ValueError, RecursionError, BadInput):
        return None
    return found if same else None


def _refuse(name: str) -> NoReturn:
    raise ValueError(name)
