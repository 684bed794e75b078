"""Whether a bundle is what was sealed: its manifest, its files one by one, its signature."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from vramledger.bundle.archive import MANIFEST, SIGNATURE
from vramledger.bundle.canonical import HASH
from vramledger.bundle.check import Check, fails, holds
from vramledger.bundle.keys import PublicKey
from vramledger.bundle.manifest import files_in, in_order, signer
from vramledger.bundle.pieces import PIECE, ROWS, first_difference, first_row, hashed, row_pieces


def files_unchanged(folder: Path, manifest: Mapping[str, Any]) -> Iterator[Check]:
    """Every file that is not as it was sealed, by name and place; one check that holds where none is."""
    listed = {each["path"]: each for each in manifest["files"]}
    present = set(files_in(folder)) - {MANIFEST, SIGNATURE}
    found = [*_order(manifest), *_extra(present - set(listed))]
    for name, entry in listed.items():
        found += (
            _changed(folder, name, entry)
            if name in present
            else [fails("files", f"{name} is gone.")]
        )
    yield from found or [holds("files", f"All {len(listed)} files are as they were sealed.")]


def _order(manifest: Mapping[str, Any]) -> list[Check]:
    turned = in_order(each["path"] for each in manifest["files"])
    if turned is None:
        return []
    return [fails("order", f"{turned[0]} is listed before {turned[1]}, out of order.")]


def _extra(names: set[str]) -> list[Check]:
    return [fails("files", f"{name} was added: the manifest lists none.") for name in sorted(names)]


def _changed(folder: Path, name: str, entry: Mapping[str, Any]) -> list[Check]:
    path = folder / name
    if path.is_symlink() or not path.is_file():
        return [fails("files", f"{name} is no regular file any more.")]
    found = hashed(path)
    if found.sha256 == entry[HASH] and found.size == entry["bytes"]:
        return []
    return [fails("files", f"{name} was changed: {_where(path, entry)}.")]


def _where(path: Path, entry: Mapping[str, Any]) -> str:
    """The rows that are others, where a table tells; else the bytes."""
    found = hashed(path)
    row = first_row(str(entry.get("rows", "")), row_pieces(path)) if "rows" in entry else None
    if row is not None:
        return f"the first other row is one of {row:,} to {row + ROWS - 1:,}"
    if found.size != entry["bytes"]:
        return f"it has {found.size:,} bytes and had {entry['bytes']:,}"
    at = first_difference(entry["pieces"], found.pieces)
    if at is None:
        return "its hash is another"
    return f"the first other byte is one of {at:,} to {min(at + PIECE, found.size) - 1:,}"


def archive_order(names: Sequence[str], manifest: Mapping[str, Any]) -> list[Check]:
    """Whether the files of an archive stand in the order in which they are sealed."""
    first = [MANIFEST, SIGNATURE] if SIGNATURE in names else [MANIFEST]
    wanted = [*first, *(each["path"] for each in manifest["files"] if each["path"] in names)]
    pairs = zip(wanted, names, strict=False)
    turned = next(((one, other) for one, other in pairs if one != other), None)
    if turned is None:
        return []
    return [fails("order", f"The archive has {turned[1]} where {turned[0]} was.")]


def signed_by(
    folder: Path, stated: str | None, wanted: PublicKey | None
) -> tuple[PublicKey | None, Check]:
    """The key that signed the manifest, and how that stands with the one it states and the one that should have."""
    path = folder / SIGNATURE
    if not path.is_file():
        if stated is not None:
            return None, fails("signature", "signature.json is gone, and the manifest was signed.")
        return None, _unsigned(wanted)
    key = signer(path.read_bytes(), (folder / MANIFEST).read_bytes())
    if key is None:
        return None, fails("signature", "signature.json is no signature of this manifest.")
    return key, _signed(key, stated, wanted)


def _signed(key: PublicKey, stated: str | None, wanted: PublicKey | None) -> Check:
    said = f"It is signed by {key.fingerprint}"
    if key.line != stated:
        return fails("signature", f"{said}, which is not the key that sealed it.")
    if wanted is None:
        whose = "whose key that is, only its owner can tell you: give it with --key"
        return holds("signature", f"{said}; {whose}.")
    if key != wanted:
        return fails("signature", f"{said}, not by {wanted.fingerprint}.")
    return holds("signature", f"It is signed by the key given, {key.fingerprint}.")


def _unsigned(wanted: PublicKey | None) -> Check:
    if wanted is not None:
        said = f"It is not signed, and should be by {wanted.fingerprint}."
        return fails("signature", said)
    return holds(
        "signature",
        "It is not signed: whoever changed a file could have sealed it anew; compare the bundle's hash with one that you "
        "got from elsewhere (--hash).",
    )
