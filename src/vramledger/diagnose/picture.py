"""What a run's evidence comes to: the views that causes share, each made once."""

from math import isnan

from vramledger.diagnose.evidence import Evidence
from vramledger.diagnose.seen.outside import Outside, outside_of
from vramledger.diagnose.seen.pace import Pace, pace_of
from vramledger.diagnose.seen.rush import Rush, rush_of
from vramledger.diagnose.seen.stages import Stages, stages_of
from vramledger.diagnose.seen.waiting import Waiting, waiting_of
from vramledger.diagnose.sign import both, ramp, strongest
from vramledger.frozen import frozen


@frozen
class Picture:
    """The evidence and its views."""

    evidence: Evidence
    stages: Stages
    waiting: Waiting
    outside: Outside
    rush: Rush
    pace: Pace

    @property
    def queue_hurts(self) -> float | None:
        """How much the engine's queue costs, 0..1: part of the time to the first token, or seconds, or work done twice; None where it was not seen."""
        seen = self.waiting
        share = seen.queue_s / self.stages.ttft_s if self.stages.ttft_s > 0 else float("nan")
        # where no TTFT is known the seconds alone decide
        part = both(ramp(share, 0.15, 0.5), ramp(seen.queue_s, 0.03, 0.2))
        queued = strongest(ramp(seen.queue_s, 0.2, 1.5), part)
        if not isnan(seen.waits):
            queued = both(queued, ramp(seen.waits, 0.02, 0.12))
        return strongest(queued, ramp(seen.preemptions_per_request, 0.02, 0.15))


def picture_of(evidence: Evidence) -> Picture:
    """The views of a run's evidence."""
    stages = stages_of(evidence)
    return Picture(
        evidence=evidence,
        stages=stages,
        waiting=waiting_of(evidence),
        outside=outside_of(evidence, stages),
        rush=rush_of(evidence),
        pace=pace_of(evidence),
    )
