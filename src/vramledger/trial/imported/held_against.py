"""What an imported run is held against."""

from typing import TYPE_CHECKING

from vramledger.frozen import frozen
from vramledger.plan.requirement import Contract

if TYPE_CHECKING:
    from vramledger.record.document import Plan


@frozen
class HeldAgainst:
    """A plan, the scenario of it, and that scenario's contract."""

    plan: "Plan"
    scenario: str | None
    contract: Contract
