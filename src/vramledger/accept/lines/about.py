"""What every kind of line is judged from."""

from typing import Final

from vramledger.accept.offered import Offered
from vramledger.frozen import frozen
from vramledger.plan.requirement import Scenario
from vramledger.statistics.estimate import LEVEL

REQUESTS: Final = "requests.parquet"
SERVER_ROWS: Final = "server.parquet"
GPU_ROWS: Final = "gpu.parquet"
RUN_JSON: Final = "run.json"
JOURNAL: Final = "journal.jsonl"


@frozen
class About:
    """A scenario and the run that was made for it; `level` is that of every interval."""

    scenario: Scenario
    offered: Offered
    level: float = LEVEL

    @property
    def one_sided(self) -> float:
        """The confidence with which either end of an interval holds."""
        return (1 + self.level) / 2

    @property
    def per_minute(self) -> float:
        """Requests that came in a minute."""
        seconds = self.offered.sent_s
        return len(self.offered.found) / seconds * 60 if seconds else 0.0
