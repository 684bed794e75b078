"""What a lint rule is: a check of a deployment that needs no memory figures."""

from collections.abc import Callable

from vramledger.engine.finding import Finding, Severity
from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.values import Values
from vramledger.frozen import frozen


@frozen
class Rule:
    """One rule: `check` gives the message, or None where the rule has nothing to say.

    `since` and `until` bound the families 0.`since` to 0.`until` that behave so.
    """

    id: str
    severity: Severity
    check: Callable[[Deployment], str | None]
    source: str
    since: int = 0
    until: int = 1 << 30

    def apply(self, deployment: Deployment) -> Finding | None:
        """The rule's finding for a deployment."""
        if not self.since <= minor_of(deployment) <= self.until:
            return None
        message = self.check(deployment)
        if message is None:
            return None
        return Finding(self.id, self.severity, message, source=self.source)


def minor_of(deployment: Deployment) -> int:
    """19 for the family 0.19."""
    return int(deployment.rules.family.partition(".")[2])


def values_of(deployment: Deployment) -> Values:
    """The deployment's flags as given."""
    return Values(deployment.launch)
