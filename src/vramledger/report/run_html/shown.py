"""What a report shows: runs with their figures and contracts, and the bundle they were in."""

from vramledger.bundle.manifest import EXERCISE
from vramledger.bundle.verdict import FAIL, OPEN, PASS
from vramledger.bundle.verifying import Verified
from vramledger.frozen import frozen
from vramledger.methods.measured.contract import Promised, Standing
from vramledger.trial.conduct.summary import Summary
from vramledger.trial.conduct.timeline import Timeline

_SAID = {Standing.HOLDS: PASS, Standing.FAILS: FAIL, Standing.OPEN: OPEN, None: OPEN}


@frozen
class ShownRun:
    """One run: its name in the report, its figures, its contract, and what can be drawn (None: nothing was measured)."""

    name: str
    summary: Summary
    contract: Promised
    timeline: Timeline | None

    @property
    def verdict(self) -> str:
        """PASS, FAIL or INCONCLUSIVE; without a contract the last."""
        return _SAID[self.contract.standing]


@frozen
class Shown:
    """A report of one run or more; `verified` is None where they were not in a bundle."""

    title: str
    runs: tuple[ShownRun, ...]
    verified: Verified | None = None
    acceptance: bool = False

    @property
    def verdict(self) -> str:
        """Of all: one that fails decides, then one that is open. A bundle that was changed decides nothing."""
        if self.verified is not None and not self.verified.unchanged:
            return OPEN
        found = {each.verdict for each in self.runs}
        return next((each for each in (FAIL, OPEN, PASS) if each in found), OPEN)

    @property
    def mark(self) -> str:
        """What every title carries where the figures are no measurement of a server."""
        origins = sorted({run.summary.description.origin.value for run in self.runs} - {"measured"})
        if origins:
            return f" ({', '.join(origins)}, not measured)"
        kind = None if self.verified is None else (self.verified.manifest or {}).get("kind")
        return " (exercise, no trial)" if kind == EXERCISE else ""
