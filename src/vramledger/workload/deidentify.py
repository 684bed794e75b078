"""Identities become numbers: keyed digests in memory, of a key made for one run and never written.

Sessions, tenants, requests, models and prefix blocks each have numbers of their own. An identity means
something within its format only (within its file where the format says so), so that equal names in
logs of two kinds stay apart.
"""

import secrets
from collections.abc import Hashable, Mapping
from hashlib import blake2b
from typing import Final

from vramledger.errors import BadInput, UnknownName
from vramledger.frozen import frozen
from vramledger.printable import one_line

DIGEST_BYTES: Final = 15  # an object of 48 bytes; by chance equal among a billion: 1 in 1e18
KEEPS: Final = {  # what --keep takes -> what it gives away
    "model": "The workload names your models (--keep model).",
    "session": "The workload holds the session ids of your log (--keep session): whoever has the log "
    "can join them.",
    "tenant": "The workload holds who sent requests (--keep tenant): users, teams or keys as the log "
    "names them.",
    "dates": "The workload holds the date and time of the first request (--keep dates).",
}


class Numbering:
    """Numbers from 0 for the identities of one kind, within one scope."""

    def __init__(
        self, key: bytes, scope: str, numbers: dict[bytes, int], names: list[str] | None
    ) -> None:
        self._start = blake2b(scope.encode() + b"\0", key=key, digest_size=DIGEST_BYTES)
        self._numbers, self._names = numbers, names

    def digest(self, identity: Hashable) -> bytes:
        """A keyed digest; numbers and texts that read alike are one identity."""
        hasher = self._start.copy()
        hasher.update(str(identity).encode("utf-8", "surrogatepass"))
        return hasher.digest()

    def of(self, identity: Hashable) -> int:
        """The number of an identity, a new one at its first appearance."""
        digest = self.digest(identity)
        number = self._numbers.get(digest)
        if number is None:
            number = self._numbers[digest] = len(self._numbers)
            if self._names is not None:
                self._names.append(str(identity))
        return number


@frozen
class Scope:
    """The numberings of one file."""

    session: Numbering
    tenant: Numbering
    model: Numbering
    request: Numbering
    prefix: Numbering


class Identities:
    """All identities of one import. `keep` holds keys of `KEEPS`; names are held for those alone."""

    def __init__(
        self, keep: frozenset[str] = frozenset(), models: Mapping[str, str] | None = None
    ) -> None:
        self._key = secrets.token_bytes(32)
        kinds = ("session", "tenant", "model", "request", "prefix")
        self._numbers: dict[str, dict[bytes, int]] = {kind: {} for kind in kinds}
        needed = keep | ({"model"} if models else set())
        self.names: dict[str, list[str]] = {kind: [] for kind in kinds if kind in needed}
        self._keep_models, self._models = "model" in keep, dict(models or {})

    def scope(self, format_name: str, file: int | None) -> Scope:
        """The numberings for a file; `file` where its ids mean nothing outside of it."""
        name = format_name if file is None else f"{format_name}/{file}"
        return Scope(
            session=self._numbering("session", name),
            tenant=self._numbering("tenant", format_name),
            model=self._numbering("model", ""),  # a model of one name is one model
            request=self._numbering("request", name),
            prefix=self._numbering("prefix", name),
        )

    def model_labels(self) -> list[str]:
        """The label of every model by number: model-3, or its name, or what that was mapped to."""
        names = self.names.get("model", [])
        return [
            self._label(number, names[number] if names else None)
            for number in range(len(self._numbers["model"]))
        ]

    def _label(self, number: int, name: str | None) -> str:
        if name in self._models:
            return one_line(self._models[name])
        return one_line(name) if name is not None and self._keep_models else f"model-{number}"

    def _numbering(self, kind: str, scope: str) -> Numbering:
        return Numbering(self._key, f"{kind}:{scope}", self._numbers[kind], self.names.get(kind))


def checked_keeps(given: tuple[str, ...]) -> frozenset[str]:
    """The values of --keep.

    Raises:
        UnknownName: one of them is none.
    """
    for name in given:
        if name not in KEEPS:
            raise UnknownName("identity", name, KEEPS, "--keep", f"It takes {', '.join(KEEPS)}.")
    return frozenset(given)


def model_map(given: tuple[str, ...]) -> Mapping[str, str]:
    """NAME=LABEL of --model-map.

    Raises:
        BadInput: one is not of this form.
    """
    pairs = [each.rpartition("=") for each in given]
    for name, _, label in pairs:
        if not name or not label:
            raise BadInput(
                "--model-map takes NAME=LABEL, the model's name in the log and the label to store."
            )
    return {name: label for name, _, label in pairs}
