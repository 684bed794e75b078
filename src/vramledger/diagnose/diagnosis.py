"""A run diagnosed: its causes ranked, and what more memory would do."""

from typing import TYPE_CHECKING

from vramledger.calibrate.run_deployment import Stated
from vramledger.diagnose.causes.registry import CAUSES
from vramledger.diagnose.evidence import Evidence, evidence_of
from vramledger.diagnose.finding import Finding, Severity, findings_of
from vramledger.diagnose.hypothesis import Hypothesis, weighed
from vramledger.diagnose.picture import Picture, picture_of
from vramledger.diagnose.ranking import ranked
from vramledger.errors import ExitCode
from vramledger.frozen import frozen

if TYPE_CHECKING:
    from vramledger.record.run import Run


@frozen
class Judged:
    """Hypotheses of some evidence, the strongest first, and the findings among them."""

    picture: Picture
    hypotheses: tuple[Hypothesis, ...]
    findings: tuple[Finding, ...]

    @property
    def first(self) -> Hypothesis | None:
        """The strongest that was found, None where nothing was."""
        found = [each for each in self.hypotheses if each.cause.name == self.findings[0].cause]
        return found[0] if found else None

    @property
    def exit_code(self) -> ExitCode:
        """0 nothing of severity error, 1 there is, 3 nothing could be seen."""
        if any(each.severity is Severity.ERROR for each in self.findings):
            return ExitCode.DOES_NOT_HOLD
        return ExitCode.CANNOT_KNOW if self.findings[0].id == "D99" else ExitCode.HOLDS


def judged(evidence: Evidence) -> Judged:
    """Every cause held against the evidence; of a run, or of a server that was looked at for a while."""
    picture = picture_of(evidence)
    hypotheses = ranked([weighed(cause, tuple(cause.signs(picture))) for cause in CAUSES])
    nothing = not len(evidence.requests) and evidence.moments is None
    return Judged(picture, hypotheses, findings_of(hypotheses, picture, nothing_seen=nothing))


def judged_run(run: "Run", stated: Stated) -> Judged:
    """A closed run.

    Raises:
        BadInput: a table is damaged.
        UnknownName: the user named a card, model or version that is none.
    """
    return judged(evidence_of(run, stated))
