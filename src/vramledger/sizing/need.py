"""What must be held: one scenario's lengths and requests in flight."""

from vramledger.evidence import Figure
from vramledger.frozen import frozen
from vramledger.plan.lengths import LengthDistribution
from vramledger.plan.requirement import Kind


@frozen
class Need:
    """One scenario. Counts are over all replicas.

    `concurrent` are requests in flight at its peak, `mean` those of its busiest minutes on average
    where a peak above them was added. `traffic` tells loads apart: needs of equal traffic are views
    of the same requests. `hours` are of the day ("22:00-06:00"), None for any time.
    """

    name: str
    kind: Kind
    lengths: LengthDistribution
    concurrent: Figure
    mean: float | None = None
    headroom: float | None = None  # share of the pool kept free; None: by kind and number
    hours: str | None = None
    traffic: str = ""
