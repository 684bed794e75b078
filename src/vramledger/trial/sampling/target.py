"""Whom to ask for a page."""

from collections.abc import Mapping
from dataclasses import field

from vramledger.frozen import frozen


@frozen
class Target:
    """One page: its name in the record (`target-0`), its address, and what to send along.

    `headers` may hold a key; they are never printed or recorded.
    """

    name: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


def authorization(key: str | None) -> dict[str, str]:
    """The header that carries a key, none without one."""
    return {"Authorization": f"Bearer {key}"} if key else {}
