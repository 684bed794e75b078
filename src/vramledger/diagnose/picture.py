"""What a run's evidence comes to: the views that causes share, each made once."""

from math import isnan, nan
from typing import Final

import numpy as np

from vramledger.diagnose.evidence import Evidence
from vramledger.diagnose.seen.outside import Outside, outside_of
from vramledger.diagnose.seen.pace import Pace, pace_of
from vramledger.diagnose.seen.rush import Rush, rush_of
from vramledger.diagnose.seen.stages import Stages, stages_of
from vramledger.diagnose.seen.waiting import Waiting, waiting_of
from vramledger.diagnose.sign import both, ramp, strongest
from vramledger.errors import VramError
from vramledger.frozen import frozen

SLOW_FIRST_S: Final = 2.0  # to the first token, at the 95th percentile
_SLOW_TOKEN_S: Final = 0.065  # halfway between a token that is not slow and one that is
_SLOW_TOKEN_CPU_S: Final = 0.35


@frozen
class Picture:
    """The evidence and its views."""

    evidence: Evidence
    stages: Stages
    waiting: Waiting
    outside: Outside
    rush: Rush
    pace: Pace
    expected_pace: float = nan  # time per token over the simulator's, where the engine was not seen and tokens are slow

    @property
    def queue_hurts(self) -> float | None:
        """How much the engine's queue costs, 0..1: part of the time to the first token, or seconds, or work done twice; None where it was not seen."""
        seen = self.waiting
        share = seen.queue_s / self.stages.ttft_s if self.stages.ttft_s > 0 else float("nan")
        # where no TTFT is known the seconds alone decide
        part = both(ramp(share, 0.15, 0.5), ramp(seen.queue_s, 0.03, 0.2))
        queued = strongest(ramp(seen.queue_s, 0.2, 1.5), part)
        queued = self._by_contract(queued, part)
        if not isnan(seen.waits):
            queued = both(queued, ramp(seen.waits, 0.02, 0.12))
        return strongest(queued, ramp(seen.preemptions_per_request, 0.02, 0.15))

    def _by_contract(self, queued: float | None, part: float | None) -> float | None:
        """The same where a contract says how long a request may wait: a queue that it allows does not hurt."""
        slow = self.evidence.slow
        if not isnan(slow.queue):
            return ramp(slow.queue, 0.9, 1.05)
        if isnan(slow.ttft):
            return queued
        broken = ramp(slow.ttft, 0.9, 1.05)
        return both(broken, strongest(part, queued))


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
        expected_pace=_expected_pace(evidence) if slow_tokens(evidence) else nan,
    )


def slow_tokens(evidence: Evidence) -> bool:
    """Whether the tokens of clients are slow while the engine was not seen: by the contract, else by a fixed figure."""
    if evidence.moments is not None or not len(evidence.requests):
        return False
    if not isnan(evidence.slow.tpot):
        return evidence.slow.tpot > 1
    told = evidence.requests.tpot_s[np.isfinite(evidence.requests.tpot_s)]
    return bool(len(told) and told.mean() > (_SLOW_TOKEN_CPU_S if evidence.setting.gpu == "cpu" else _SLOW_TOKEN_S))  # fmt: skip


def slow_first_tokens(picture: Picture) -> bool:
    """Whether first tokens are late: by the contract, else by a fixed figure."""
    slow = picture.evidence.slow
    if not isnan(slow.ttft):
        return slow.ttft > 1
    ttft = picture.evidence.requests.ttft_s
    told = ttft[np.isfinite(ttft)]
    return bool(len(told)) and float(np.quantile(told, 0.95)) > SLOW_FIRST_S


def _expected_pace(evidence: Evidence) -> float:
    """The factor by which the run's tokens take longer than in the simulator; NaN where it cannot be played."""
    from vramledger.diagnose.counterfactual.bench import bench_of

    try:
        return bench_of(evidence).pace
    except VramError:
        return nan
