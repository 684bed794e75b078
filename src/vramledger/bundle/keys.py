"""Ed25519 keys: the private one in a file that only its owner reads, the public one as a line of text.

The line is ``vram-ed25519 BASE64``, its fingerprint ``SHA256:BASE64`` of the 32 bytes of the public key, as OpenSSH writes them.
"""

import base64
import binascii
import os
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.named_file import read_bytes, read_text

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_WORD: Final = "vram-ed25519"
_SIZE: Final = 32  # bytes of a public key
_LARGEST: Final = 1 << 14  # bytes of a key's file
_OTHERS: Final = 0o077


@frozen
class PublicKey:
    """The 32 bytes of a public key."""

    raw: bytes

    @property
    def line(self) -> str:
        """As it is written down and passed on."""
        return f"{_WORD} {base64.b64encode(self.raw).decode()}"

    @property
    def fingerprint(self) -> str:
        """What two people compare by telephone."""
        return "SHA256:" + base64.b64encode(sha256(self.raw).digest()).decode().rstrip("=")

    def verifies(self, signature: bytes, message: bytes) -> bool:
        """Whether the signature is that of this key on that message."""
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        try:
            Ed25519PublicKey.from_public_bytes(self.raw).verify(signature, message)
        except (InvalidSignature, ValueError):
            return False
        return True


def new_key(path: Path) -> PublicKey:
    """Write a new private key to `path`, readable to its owner alone, and its public line to `path`.pub.

    Raises:
        BadInput: one of them is there already, or cannot be written.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    key = Ed25519PrivateKey.generate()
    public = public_of(key)
    content = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    beside = path.with_name(f"{path.name}.pub")
    if beside.exists():
        raise BadInput(
            f"{beside} is there already, and a key is never replaced; name another file."
        )
    _write_new(path, content, 0o600)
    _write_new(beside, f"{public.line}\n".encode(), 0o644)
    return public


def public_of(key: "Ed25519PrivateKey") -> PublicKey:
    """The public half."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return PublicKey(key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw))


def read_private(path: Path) -> "Ed25519PrivateKey":
    """A private key; no message tells anything of its content.

    Raises:
        BadInput: no such file, no Ed25519 key, protected by a password, or readable to others.
    """
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    content = read_bytes(path, _LARGEST, "a private key")
    if path.stat().st_mode & _OTHERS:
        raise BadInput(
            f"{path} is a private key that others can read; run chmod 600 {path}, or make a new one with vram "
            "verify --new-key if somebody may have."
        )
    try:
        key = load_pem_private_key(content, None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise BadInput(
            f"{path} is no Ed25519 key without a password; vram verify --new-key {path.name} makes one."
        )
    return key


def read_public(given: str) -> PublicKey:
    """A public key, as its line or as a file with it.

    Raises:
        BadInput: it is neither.
    """
    text = given if given.startswith(_WORD) else read_text(Path(given), _LARGEST, "a public key")
    found = public_key(text.strip())
    if found is None:
        raise BadInput(
            f"{given!r} holds no public key; it is one line, {_WORD} and 44 letters, which vram verify "
            "--new-key writes to a file that ends in .pub."
        )
    return found


def public_key(line: str) -> PublicKey | None:
    """The key of such a line, None where it is none."""
    word, _, rest = line.partition(" ")
    try:
        raw = base64.b64decode(rest, validate=True)
    except (binascii.Error, ValueError):
        return None
    found = PublicKey(raw)
    return found if word == _WORD and len(raw) == _SIZE and found.line == line else None


def _write_new(path: Path, content: bytes, mode: int) -> None:
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
        with os.fdopen(os.open(path, flags, mode), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except FileExistsError:
        raise BadInput(
            f"{path} is there already, and a key is never replaced; name another file."
        ) from None
    except OSError as error:
        raise BadInput(
            f"{path} cannot be written: {error.strerror or error}; choose another place for the key."
        ) from None
