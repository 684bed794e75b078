"""What a log comes to."""

from typing import Final

from vramledger.diagnose.startup.scan import Scan
from vramledger.diagnose.told import Told
from vramledger.errors import ExitCode
from vramledger.frozen import frozen
from vramledger.ledger.measured import Comparison

STARTED: Final = "started"
UNKNOWN: Final = "unknown"


@frozen
class Diagnosed:
    """What a log comes to. `exit_code` 0: it started and nothing broke; 1: it failed; 3: nobody can know from this log."""

    where: str
    scan: Scan
    version: str | None
    findings: tuple[Told, ...]
    exit_code: ExitCode
    more_memory: str  # yes, no or unknown: whether more of it would have made it start
    why: str
    compared: tuple[Comparison, ...] = ()
    after: str = "unknown"  # the same once the next change is made
    why_after: str = "Nothing is to be changed, or nothing is known of it."


def earlier_starts(scan: Scan, *, first: bool) -> tuple[str, ...]:
    """A sentence on the starts before the one that is judged."""
    if not first or not scan.earlier:
        return ()
    failed = sum(not start.healthy for start in scan.earlier)
    count = len(scan.earlier)
    ended = (
        "all of them failed"
        if failed == count
        else f"{failed} of them failed"
        if failed
        else "all of them came up"
    )
    return (
        f"The log holds {count} earlier start{'s' if count > 1 else ''} ({ended}); the last one is judged.",
    )
