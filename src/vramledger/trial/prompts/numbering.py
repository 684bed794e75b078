"""Numbers that begin every stretch of text, so that two stretches are alike only where they are meant to be."""

import secrets
from hashlib import blake2b
from typing import Final

from vramledger.frozen import frozen

_MASK: Final = (1 << 64) - 1
_BYTES: Final = 8
PRIVATE: Final = 0  # what a request has for itself; its number is that of the request
BLOCK: Final = 1  # a prefix block; its number is its identity
WARM_UP: Final = 2  # as PRIVATE, of warm-up requests
PROBE: Final = 3  # as PRIVATE, of requests that ask how a server counts


def fresh_salt() -> int:
    """A salt that no run had: what is sent under it is in no cache. It belongs into the run's record."""
    return secrets.randbits(8 * _BYTES)


def kept_salt(seed: int) -> int:
    """The salt of a seed: runs with it send the same text, so a later one may find the cache warm."""
    return int.from_bytes(
        blake2b(b"%d" % seed, digest_size=_BYTES, person=b"vram-kept").digest(), "little"
    )


@frozen
class Numbering:
    """number -> number x factor + start, modulo 2^64; the factor is odd.

    So it is one to one, in its lowest bits alone too: of numbers below 2^k the lowest k bits differ.
    """

    factor: int
    start: int

    def __call__(self, number: int) -> int:
        return (number * self.factor + self.start) & _MASK


def numbering(salt: int, kind: int) -> Numbering:
    """The numbering of a kind of text in a run; those of two kinds or two runs have nothing in common but by chance.

    By chance means: of a million numbers each, one pair in about 2e7 tries.
    """
    seed = salt.to_bytes(_BYTES, "little")
    drawn = blake2b(seed, digest_size=2 * _BYTES, person=b"vram-%d" % kind).digest()
    factor = int.from_bytes(drawn[:_BYTES], "little") | 1
    return Numbering(factor, int.from_bytes(drawn[_BYTES:], "little"))
