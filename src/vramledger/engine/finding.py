"""Something a configuration does that its owner may not expect."""

from enum import StrEnum

from vramledger.frozen import frozen


class Severity(StrEnum):
    """How the engine itself reacts."""

    ERROR = "error"  # it refuses to start
    WARNING = "warning"  # it warns or overrides
    SILENT = "silent"  # it says nothing


@frozen
class Finding:
    """One finding, with what it costs where that can be said."""

    id: str  # stable: "L01" ...
    severity: Severity
    message: str  # one finished sentence or two
    effect_gib: float | None = None
    effect_tokens: int | None = None
    source: str = ""

    def to_json(self) -> dict[str, object]:
        return {
            "id": self.id,
            "severity": str(self.severity),
            "message": self.message,
            "effect_gib": self.effect_gib,
            "effect_tokens": self.effect_tokens,
            "source": self.source,
        }
