"""What a rule about an account is: a check that has memory figures to look at."""

from collections.abc import Callable

from vramledger.engine.finding import Finding, Severity
from vramledger.frozen import frozen
from vramledger.ledger.startup import Startup


@frozen
class Effect:
    """What a rule found: one or two finished sentences, and what it costs on one rank."""

    message: str
    gib: float | None = None  # of the pool or the card; negative where memory is lost
    tokens: int | None = None  # of the figure that the engine prints


@frozen
class AccountRule:
    """One rule: `check` gives the effect, or None where the rule has nothing to say."""

    id: str
    severity: Severity
    check: Callable[[Startup], Effect | None]
    source: str

    def apply(self, start: Startup) -> Finding | None:
        """The rule's finding for an account."""
        effect = self.check(start)
        if effect is None:
            return None
        return Finding(
            self.id, self.severity, effect.message, effect.gib, effect.tokens, self.source
        )
