"""One result of a sweep: a flat row, and what people ask of it."""

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from vramledger.frozen import frozen
from vramledger.methods.sweep.columns import NO_HITS, OWN, SEPARATOR
from vramledger.methods.sweep.point import Point


class Status(StrEnum):
    """What became of a point."""

    SIMULATED = "simulated"
    SAME = "same as base"
    RULED_OUT = "ruled out"
    NO_START = "does not start"
    REFUSED = "refused"
    UNKNOWN = "cannot know"


class Verdict(StrEnum):
    """Of the contract, as acceptance uses the words."""

    PASS = "PASS"  # noqa: S105 - no password
    FAIL = "FAIL"
    INCONCLUSIVE = "INCONCLUSIVE"


@frozen
class Row:
    """A point and the columns of its result by name; a column that is absent is null."""

    point: Point
    columns: Mapping[str, Any]

    @property
    def status(self) -> Status:
        return Status(self.columns["status"])

    @property
    def simulated(self) -> bool:
        return self.status is Status.SIMULATED

    @property
    def verdict(self) -> Verdict | None:
        found = self.columns.get("verdict")
        return None if found is None else Verdict(found)

    @property
    def keeps(self) -> bool:
        """Whether it keeps the contract at the slow end of the step times too."""
        return self.verdict is Verdict.PASS and bool(self.columns.get("slow_end"))

    @property
    def at_expected_only(self) -> bool:
        """Whether it keeps the contract at the expected step times, and the slow end was not simulated."""
        held = self.verdict in (Verdict.PASS, Verdict.INCONCLUSIVE)
        return held and self.columns.get("slow_end") is None

    @property
    def has_own(self) -> bool:
        """Whether the workload's own prefix hits were simulated too."""
        return self.columns.get(f"{OWN}offered") is not None

    @property
    def broken(self) -> frozenset[str]:
        """The contract's lines that do not hold."""
        return frozenset(
            part for part in (self.columns.get("broken") or "").split(SEPARATOR) if part
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know of the figures, one sentence each."""
        return tuple(json.loads(self.columns.get("notes") or "[]"))

    def figure(self, name: str, prefix: str | None = None) -> Any:
        """A figure: of the simulation with that prefix, else of the one that is judged."""
        chosen = prefix if prefix is not None else (OWN if self.has_own else NO_HITS)
        return self.columns.get(f"{chosen}{name}")
