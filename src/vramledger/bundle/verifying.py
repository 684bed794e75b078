"""Verifying: everything that a bundle claims is looked at, and the verdict made again from its raw records.

That it holds says "unchanged since sealed by KEY", never "genuine": who seals could have recorded anything before.
"""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from vramledger.bundle.archive import MANIFEST, SIGNATURE, other_byte, unpack
from vramledger.bundle.canonical import HASH
from vramledger.bundle.check import Check, Standing, fails, holds
from vramledger.bundle.evidence import runs_sound, verdict_again
from vramledger.bundle.fitting import fitting
from vramledger.bundle.integrity import archive_order, files_unchanged, signed_by
from vramledger.bundle.keys import PublicKey
from vramledger.bundle.manifest import MOMENT, parsed_manifest, strange_file
from vramledger.bundle.repeating import Repeat, repeating
from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.named_file import read_bytes

_LARGEST = 1 << 28  # bytes of a manifest
_CLOCKS: Final = timedelta(days=1)  # by which clocks may differ


@frozen
class Verified:
    """What came of it. `manifest` is None where it cannot be read, `verdict` where it was not made again."""

    path: Path
    checks: tuple[Check, ...]
    manifest: dict[str, Any] | None = None
    signed_by: PublicKey | None = None
    verdict: dict[str, Any] | None = None
    repeat: tuple[Repeat, ...] = ()

    @property
    def unchanged(self) -> bool:
        """Whether nothing that was looked at fails."""
        return all(each.standing is not Standing.FAILS for each in self.checks)


@frozen
class Opened:
    """A bundle as a folder, with the names in the order of the archive; None where it is a folder."""

    folder: Path
    names: list[str] | None


@contextmanager
def opened_bundle(path: Path) -> Iterator[Opened]:
    """A bundle's folder, while the block lasts; an archive is unpacked beside nothing of yours.

    Raises:
        BadInput: it is no bundle, or an archive with something in it that no bundle has.
    """
    if path.is_dir():
        if not (path / MANIFEST).is_file():
            raise BadInput(
                f"{path} is no bundle: it has no {MANIFEST}; name a folder or an archive that vram verify --seal wrote."
            )
        yield Opened(path, None)
        return
    with tempfile.TemporaryDirectory(prefix="vram-bundle-") as place:
        folder = Path(place) / "bundle"
        folder.mkdir()
        names = unpack(path, folder)
        if MANIFEST not in names:
            raise BadInput(
                f"{path} is no bundle: it has no {MANIFEST}; name an archive that vram verify --seal wrote."
            )
        yield Opened(folder, names)


@frozen
class Wanted:
    """What a bundle should have: the key that signed it, its hash, and the challenge that its runs answer."""

    key: PublicKey | None = None
    sha256: str | None = None
    challenge: Mapping[str, Any] | None = None


_NOTHING: Final = Wanted()


def verify(path: Path, wanted: Wanted = _NOTHING, now: datetime | None = None) -> Verified:
    """Look at everything, and at what is wanted of it; `now` is the moment, that of this machine where None.

    Raises:
        BadInput: it is no bundle, or an archive that was refused.
    """
    with opened_bundle(path) as opened:
        return _verified(path, opened, wanted, now or datetime.now(UTC))


def _verified(path: Path, opened: Opened, wanted: Wanted, now: datetime) -> Verified:
    folder = opened.folder
    strange = strange_file(folder)
    if strange is not None:
        said = f"{strange} is no regular file any more, so nothing in the folder was read."
        return Verified(path, (fails("files", said),))
    manifest = parsed_manifest(read_bytes(folder / MANIFEST, _LARGEST, "a bundle's manifest"))
    if manifest is None:
        said = f"{MANIFEST} was changed: it does not have the hash it states, or is none."
        return Verified(path, (fails("manifest", said),))
    signer, signature = signed_by(folder, manifest["key"], wanted.key)
    known = (_known(manifest, wanted.sha256), *_too_late(manifest, now))
    found = [*known, signature, *files_unchanged(folder, manifest)]
    if opened.names is not None:
        found += archive_order(opened.names, manifest)
        if all(each.standing is not Standing.FAILS for each in found):
            found += _nothing_else(path, opened, manifest)
    placed, runs = runs_sound(folder, manifest)
    found += runs
    if any(each.standing is Standing.FAILS for each in runs):
        return Verified(path, tuple(found), manifest, signer)
    verdict, again = verdict_again(folder, placed)
    found += [*fitting(folder, placed, wanted.challenge), again]
    repeat = tuple(repeating(each, folder) for each in placed)
    return Verified(path, tuple(found), manifest, signer, verdict, repeat)


def _known(manifest: dict[str, Any], sha256: str | None) -> Check:
    found = manifest[HASH]
    if sha256 is not None and sha256 != found:
        return fails("manifest", f"Its hash is {found}, and should be {sha256}.")
    return holds("manifest", f"The manifest has the hash it states, {found}.")


def _too_late(manifest: dict[str, Any], now: datetime) -> Iterator[Check]:
    stated = str(manifest["sealed_at"])
    if stated > (now.astimezone(UTC) + _CLOCKS).strftime(MOMENT):
        yield fails(
            "manifest",
            f"It says that it was sealed at {stated}, which is still to come by this machine's clock.",
        )


def _nothing_else(path: Path, opened: Opened, manifest: dict[str, Any]) -> list[Check]:
    names = [MANIFEST, *(each["path"] for each in manifest["files"])]
    if (opened.folder / SIGNATURE).is_file():
        names.append(SIGNATURE)
    at = other_byte(path, opened.folder, names)
    if at is None:
        return []
    return [
        fails("archive", f"Byte {at:,} of the archive, outside its files, is not as it was sealed.")
    ]
