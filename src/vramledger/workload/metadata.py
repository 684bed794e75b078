"""What a stored workload says of itself, beside its rows."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, field, fields
from typing import Any, Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen

SCHEMA: Final = "vramledger.workload/1"


@frozen
class Metadata:
    """The metadata of a workload; it names no file, no host and no date.

    `week_offset_s` are the seconds from Monday 00:00 to `arrival_s` 0 in `time_zone`, in whole minutes;
    None where the log has no clock. `basis` says of "input_tokens" and "output_tokens" whether they
    are measured (the log counts them), exact (a tokenizer did) or assumed (from characters), or
    "mean" where the log holds nothing but means. `history` lists what was done, oldest first.
    """

    block_tokens: int | None = None  # tokens a prefix block stands for; None: no prefix blocks
    week_offset_s: int | None = None
    time_zone: str | None = None  # "+00:00", and whether it was stated or assumed
    formats: Mapping[str, int] = field(default_factory=dict)  # format -> files
    loss: Mapping[str, Any] = field(default_factory=dict)  # the loss report of the import
    inferred: tuple[str, ...] = ()
    basis: Mapping[str, str] = field(default_factory=dict)
    history: tuple[str, ...] = ()
    synthetic: bool = False  # made by us; never to be shown as a log
    # What was kept on demand: "session" and "tenant" -> names by number, "dates" -> the first arrival
    kept: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> str:
        """Sorted and without spaces, so that equal metadata are equal bytes."""
        return json.dumps({"schema": SCHEMA} | asdict(self), sort_keys=True, separators=(",", ":"))


def from_json(text: str | bytes, where: str) -> Metadata:
    """The metadata in a file's own words.

    Raises:
        BadInput: it is not ours, or of a later schema.
    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or found.get("schema") != SCHEMA:
        stated = found.get("schema") if isinstance(found, dict) else None
        raise BadInput(
            f"{where}: its metadata follow {stated!r}, and this version reads {SCHEMA!r}; import the "
            "logs again."
        )
    known = {part.name for part in fields(Metadata)}
    stated = {key: value for key, value in found.items() if key in known}
    for key, value in stated.items():
        if not _KINDS[key](value):
            raise BadInput(
                f"{where}: its metadata hold a {key} that no workload has; import the logs again."
            )
    for name in ("inferred", "history"):
        stated[name] = tuple(stated.get(name, ()))
    return Metadata(**stated)


def _whole(value: Any, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


_MOST_BLOCK: Final = 1 << 20  # tokens of a block
_WEEK_S: Final = 7 * 86_400
_KINDS: Final[Mapping[str, Callable[[Any], bool]]] = {  # field -> whether a value can be its own
    "block_tokens": lambda value: value is None or _whole(value, 1, _MOST_BLOCK),
    "week_offset_s": lambda value: value is None or _whole(value, 0, _WEEK_S - 1),
    "time_zone": lambda value: value is None or isinstance(value, str),
    "formats": lambda value: (
        isinstance(value, dict) and all(_whole(files, 0, 1 << 31) for files in value.values())
    ),
    "loss": lambda value: isinstance(value, dict),
    "inferred": _texts,
    "basis": lambda value: (
        isinstance(value, dict) and all(isinstance(each, str) for each in value.values())
    ),
    "history": _texts,
    "synthetic": lambda value: isinstance(value, bool),
    "kept": lambda value: isinstance(value, dict),
}
