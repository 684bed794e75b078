"""What the account itself shows that the owner may not expect, with its effect in GiB or tokens.

One module a topic, each with ``RULES``; adding a rule is one row there.
"""

from typing import Final

from vramledger.engine.finding import Finding
from vramledger.engine.vllm.lint import lint
from vramledger.ledger.findings import budget, cache, length, sampler, weights
from vramledger.ledger.findings.failure import failure
from vramledger.ledger.findings.rule import AccountRule
from vramledger.ledger.startup import Startup, Verdict

RULES: Final[tuple[AccountRule, ...]] = (
    *budget.RULES,
    *sampler.RULES,
    *length.RULES,
    *cache.RULES,
    *weights.RULES,
)


def findings(start: Startup, said: Verdict) -> tuple[Finding, ...]:
    """What fails first, then every rule's finding, then those the arguments alone show."""
    found = [failure(said), *(rule.apply(start) for rule in RULES)]
    known = [finding for finding in found if finding is not None]
    ids = {finding.id for finding in known}
    return (*known, *(f for f in lint(start.deployment) if f.id not in ids))
