"""Rows without the key, whatever a server repeats of what it was sent."""

from dataclasses import replace
from typing import Protocol

from vramledger.record.requests import RequestRecord


class Rows(Protocol):
    """Where records go."""

    def begin(self, record: RequestRecord) -> None:
        """A request is on its way."""

    def append(self, record: RequestRecord) -> None:
        """A request has ended."""


class WithoutKey:
    """Hands rows on to `rows`; the server's own identity of a request is the one text in them that may hold the key."""

    def __init__(self, rows: Rows, key: str) -> None:
        self._rows, self._key = rows, key

    def begin(self, record: RequestRecord) -> None:
        """A request is on its way."""
        self._rows.begin(self._clean(record))

    def append(self, record: RequestRecord) -> None:
        """A request has ended."""
        self._rows.append(self._clean(record))

    def _clean(self, record: RequestRecord) -> RequestRecord:
        told = record.server_request_id
        if told is None or self._key not in told:
            return record
        return replace(record, server_request_id=None)
