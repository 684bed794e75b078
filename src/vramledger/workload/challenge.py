"""A challenge: a stretch of a workload that a buyer draws by a nonce, so that a run cannot have been made before.

Where the stretch begins follows from the nonce and the workload's hash, and so do the seed of the trial and the
texts of its prompts: none can be chosen once the workload is fixed, and whoever has the workload can draw them again.
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.named_file import read_text
from vramledger.record.computed_run import refuse_folder
from vramledger.record.description import hash_of
from vramledger.record.durable import file_sha256, replace_file

SCHEMA: Final = "vramledger.challenge/1"
FILE: Final = "challenge.json"
WORKLOAD: Final = "workload.parquet"
_LARGEST: Final = 1 << 16  # bytes
_MS: Final = 1000
_SHARE: Final = 0.25  # of the workload's time, where no window is asked for
_TEXTS: Final = ("nonce", "drawn_at", "source_sha256", "workload_sha256", "sha256")
_NUMBERS: Final = ("from_ms", "to_ms", "rows", "seed")  # whole, so that they are written in one way
_KEYS: Final = frozenset((*_TEXTS, *_NUMBERS, "schema", "drawn_by"))


@frozen
class Challenge:
    """One that was drawn: its document, and the workload to be sent."""

    document: Mapping[str, Any]
    workload: Path

    @property
    def seed(self) -> int:
        """Of every draw of the trial."""
        return int(self.document["seed"])


def draw(
    source: Path, folder: Path, nonce: str, *, window_s: float | None, drawn_by: str | None
) -> Challenge:
    """Cut the stretch out of a workload, and write it into a new folder with what it is.

    `nonce` is text that nobody could know before; `window_s` how long the stretch is, a quarter of the workload by default.

    Raises:
        BadInput: no workload, one without times, a window out of range, or the folder is taken.
    """
    from vramledger.workload.operators.columns import read
    from vramledger.workload.operators.slice_ import Selection, slice_workload
    from vramledger.workload.store import read_metadata

    refuse_folder(folder)
    rows = read_metadata(source).rows
    arrivals = read(source, "arrival_s")
    if not rows or arrivals.absent.any():
        raise BadInput(
            f"{source} has requests without times, so no stretch of it can be drawn; vram workload synth makes arrivals."
        )
    span_s = float(arrivals.values.max())
    wanted = span_s * _SHARE if window_s is None else window_s
    if not 0 < wanted <= span_s:
        raise BadInput(
            f"A stretch of {wanted:g} s cannot be drawn of a workload of {span_s:g} s; take a --window above 0 and up to that."
        )
    from_ms, seed = drawn(nonce, file_sha256(source), span_s, wanted)
    to_ms = from_ms + round(wanted * _MS)
    folder.mkdir(parents=True, exist_ok=True)
    out = folder / WORKLOAD
    slice_workload(source, Selection(from_s=from_ms / _MS, to_s=to_ms / _MS), out)
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "nonce": nonce,
        "drawn_at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "drawn_by": drawn_by,
        "source_sha256": file_sha256(source),
        "from_ms": from_ms,
        "to_ms": to_ms,
        "workload_sha256": file_sha256(out),
        "rows": read_metadata(out).rows,
        "seed": seed,
    }
    document["sha256"] = hash_of(document)
    replace_file(folder / FILE, json.dumps(document, indent=1, sort_keys=True).encode() + b"\n")
    return Challenge(document, out)


def drawn(nonce: str, source_sha256: str, span_s: float, window_s: float) -> tuple[int, int]:
    """Where the stretch begins, in milliseconds, and the seed: from SHA-256 of nonce and workload."""
    digest = sha256(f"{SCHEMA}\0{nonce}\0{source_sha256}".encode()).digest()
    share = int.from_bytes(digest[:8], "big") / 2**64
    return round(share * (span_s - window_s) * _MS), int.from_bytes(digest[8:12], "big")


def salt_of(document: Mapping[str, Any]) -> int:
    """The salt of the prompts' texts: 64 bits of SHA-256 of nonce and workload, so that no server can have seen them before."""
    of = f"{SCHEMA} salt\0{document['nonce']}\0{document['workload_sha256']}"
    return int.from_bytes(sha256(of.encode()).digest()[:8], "big")


def read_challenge(path: Path) -> Challenge:
    """A challenge, by its folder or its file; its workload lies beside it.

    Raises:
        BadInput: it is none, was changed, or its workload is another.
    """
    file = path / FILE if path.is_dir() else path
    try:
        document = json.loads(read_text(file, _LARGEST, "a challenge"))
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict) or not is_whole(document):
        raise BadInput(
            f"{file} is no challenge, or was changed after it was drawn; ask for an unchanged copy, or draw one with vram "
            "verify --challenge."
        )
    workload = file.with_name(WORKLOAD)
    if not workload.is_file() or file_sha256(workload) != document["workload_sha256"]:
        raise BadInput(
            f"{workload} is not the workload of this challenge; put the file that was drawn with it beside {FILE}."
        )
    return Challenge(document, workload)


def is_whole(document: Mapping[str, Any]) -> bool:
    """Whether it has the keys of a challenge, and the hash it states."""
    return (
        frozenset(document) == _KEYS
        and document["schema"] == SCHEMA
        and all(isinstance(document[key], str) for key in _TEXTS)
        and all(type(document[key]) is int for key in _NUMBERS)
        and hash_of(document) == document["sha256"]
    )
