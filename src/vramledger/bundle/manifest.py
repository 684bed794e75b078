"""manifest.json and signature.json: every file with its hash, what the bundle is, and who vouches for it."""

import re
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from vramledger.bundle.archive import MANIFEST, SIGNATURE, unfit_name
from vramledger.bundle.canonical import HASH, canonical_bytes, canonical_object, with_hash
from vramledger.bundle.keys import PublicKey, public_key, public_of
from vramledger.bundle.pieces import hashed, row_pieces
from vramledger.frozen import frozen

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

SCHEMA: Final = "vramledger.bundle/1"
SIGNATURE_SCHEMA: Final = "vramledger.signature/1"
TRIAL, EXERCISE = "trial", "exercise"
MOMENT: Final = "%Y-%m-%dT%H:%M:%SZ"  # of sealing, in UTC
_DOMAIN: Final = (
    b"vramledger.bundle/1\0"  # before the manifest, so that no signature serves elsewhere
)
_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_FOLDER: Final = re.compile(r"runs/\d{3,}|series/\d{3,}(/[^/]+){1,2}")


@frozen
class People:
    """Who ran, watched and sealed, as they call themselves; None where nobody was named."""

    ran_by: str | None = None
    watched_by: str | None = None
    sealed_by: str | None = None


def file_entries(folder: Path) -> list[dict[str, Any]]:
    """What the manifest says of every file but itself and its signature, by name."""
    names = sorted(name for name in files_in(folder) if name not in (MANIFEST, SIGNATURE))
    return [_entry(folder, name) for name in names]


def files_in(folder: Path) -> list[str]:
    """The files of a folder, with those of folders in it."""
    found = (each for each in folder.rglob("*") if each.is_symlink() or not each.is_dir())
    return [path.relative_to(folder).as_posix() for path in found]


def strange_file(folder: Path) -> str | None:
    """The first name that is a link, a pipe or a device, through which something outside a folder could be read."""
    names = (name for name in sorted(files_in(folder)))
    return next((n for n in names if (folder / n).is_symlink() or not (folder / n).is_file()), None)


def _entry(folder: Path, name: str) -> dict[str, Any]:
    found = hashed(folder / name)
    entry: dict[str, Any] = {
        "path": name,
        "bytes": found.size,
        HASH: found.sha256,
        "pieces": found.pieces,
    }
    return entry | ({"rows": row_pieces(folder / name)} if name.endswith(".parquet") else {})


def write_manifest(folder: Path, content: Mapping[str, Any]) -> str:
    """Write it; its own hash, which is what a bundle is known by."""
    document = with_hash({"schema": SCHEMA, **content})
    (folder / MANIFEST).write_bytes(canonical_bytes(document))
    return str(document[HASH])


def parsed_manifest(content: bytes) -> dict[str, Any] | None:
    """A manifest whose own hash holds and whose keys have sense; None where these bytes are none."""
    found = canonical_object(content)
    if found is None or found.get("schema") != SCHEMA or with_hash(found) != found:
        return None
    return found if _has_sense(found) else None


def _has_sense(found: Mapping[str, Any]) -> bool:
    files, runs, people = found.get("files"), found.get("runs"), found.get("people")
    return (
        found.get("kind") in (TRIAL, EXERCISE)
        and _MOMENT.fullmatch(str(found.get("sealed_at"))) is not None
        and isinstance(found.get("key", ""), str | None)
        and isinstance(people, dict)
        and set(people) == {"ran_by", "watched_by", "sealed_by"}
        and all(name is None or isinstance(name, str) for name in people.values())
        and isinstance(files, list)
        and all(isinstance(each, dict) and _is_file(each) for each in files)
        and isinstance(runs, list)
        and all(isinstance(each, dict) and _is_run(each) for each in runs)
    )


def _is_file(found: Mapping[str, Any]) -> bool:
    path = found.get("path")
    return (
        isinstance(path, str)
        and unfit_name(path) is None
        and type(found.get("bytes")) is int
        and _DIGEST.fullmatch(str(found.get(HASH))) is not None
        and isinstance(found.get("pieces"), str)
        and isinstance(found.get("rows", ""), str)
    )


def _is_run(found: Mapping[str, Any]) -> bool:
    texts = (found.get(key) for key in ("folder", "origin", "name", HASH))
    folder = str(found.get("folder"))
    return (
        all(isinstance(each, str) for each in texts)
        and _FOLDER.fullmatch(folder) is not None
        and unfit_name(folder) is None
    )


def sign(folder: Path, key: "Ed25519PrivateKey") -> PublicKey:
    """Write the signature of the manifest beside it."""
    public = public_of(key)
    content = (folder / MANIFEST).read_bytes()
    document = {
        "schema": SIGNATURE_SCHEMA,
        "key": public.line,
        "signature": key.sign(_DOMAIN + content).hex(),
    }
    (folder / SIGNATURE).write_bytes(canonical_bytes(document))
    return public


def signer(signature: bytes, manifest: bytes) -> PublicKey | None:
    """The key whose signature of this manifest it is; None where it is none."""
    found = canonical_object(signature) or {}
    if found.get("schema") != SIGNATURE_SCHEMA or set(found) != {"schema", "key", "signature"}:
        return None
    key = public_key(str(found["key"]))
    try:
        stated = bytes.fromhex(str(found["signature"]))
    except ValueError:
        return None
    if key is None or stated.hex() != found["signature"]:
        return None
    return key if key.verifies(stated, _DOMAIN + manifest) else None


def in_order(names: Iterable[str]) -> tuple[str, str] | None:
    """Two neighbours that stand the wrong way round; None where all is in order."""
    return next(((one, other) for one, other in pairwise(names) if one >= other), None)
