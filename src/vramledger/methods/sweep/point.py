"""A point of a sweep: what it changes of the base, as data that has a hash."""

import hashlib
import json

from vramledger.frozen import frozen

BASE_LABEL = "base"


@frozen
class Change:
    """One setting and the value it takes; the name is the one under which `settable` knows it."""

    name: str
    value: str

    @property
    def label(self) -> str:
        return f"{self.name}={self.value}"


@frozen
class Point:
    """The changes, in the order of their names; none is the base itself."""

    changes: tuple[Change, ...] = ()

    @property
    def label(self) -> str:
        """In words: ``gpu=L40S, max-num-seqs=64``."""
        return ", ".join(change.label for change in self.changes) or BASE_LABEL

    @property
    def text(self) -> str:
        """One JSON object, keys sorted: what is stored, and hashed beside the base."""
        return json.dumps({change.name: change.value for change in self.changes}, sort_keys=True)

    def value(self, name: str) -> str | None:
        """The value that a setting takes, None where the base's stays."""
        return next((change.value for change in self.changes if change.name == name), None)

    def hash(self, base_digest: str) -> str:
        """SHA-256 of the base and the changes, 32 hexadecimal digits."""
        return hashlib.sha256(f"{base_digest}\n{self.text}".encode()).hexdigest()[:32]


def point_of(changes: dict[str, str]) -> Point:
    """The point with these values by name."""
    return Point(tuple(Change(name, changes[name]) for name in sorted(changes)))
