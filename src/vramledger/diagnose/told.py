"""A finding that a server's own words lead to: from a start-up log or a metrics page, where no load was sent."""

from vramledger.evidence import Basis
from vramledger.frozen import frozen


@frozen
class Change:
    """The one change to try next; `flag` and `value` say it as an engine argument where it is one."""

    text: str
    flag: str | None = None
    value: str | None = None

    def to_json(self) -> dict[str, str | None]:
        """The three as an object."""
        return {"text": self.text, "flag": self.flag, "value": self.value}


@frozen
class Amount:
    """One figure behind a finding, with where it stands."""

    name: str
    value: float
    unit: str
    basis: Basis
    source: str


@frozen
class Told:
    """One finding. `severity` is error, warning or silent; `score` and `confidence` are 0..1.

    `rests_on` says what score and confidence rest on: they are degrees of judgement, and no measured frequencies. `supports` has the arithmetic, each a sentence; `unseen` what would have to be known to say more.
    """

    id: str
    severity: str
    cause: str
    message: str
    score: float
    confidence: float
    supports: tuple[str, ...] = ()
    contradicts: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()
    change: Change | None = None
    amounts: tuple[Amount, ...] = ()
    rests_on: str = ""
