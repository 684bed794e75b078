"""Requests ahead of the measured part, round after round, until the server is as quick as it gets."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from vramledger.errors import CannotKnow
from vramledger.frozen import frozen
from vramledger.record.outcome import Outcome
from vramledger.record.requests import RequestRecord
from vramledger.trial.client.recorded import CountText
from vramledger.trial.client.single import fetch_all
from vramledger.trial.load.job import LoadJob
from vramledger.trial.load.warm_up import warm_up
from vramledger.trial.prompts.verification import LengthReport, verify
from vramledger.trial.wire.failures import named
from vramledger.trial.wire.target import Target

_A_ROUND: Final = 8  # requests
_AT_ONCE: Final = 4
_MOST_ROUNDS: Final = 8
_LONGEST_S: Final = 180.0  # after that no round begins
_QUICKER: Final = 0.9  # a round that takes less than this share of the one before has got quicker


@frozen
class WarmUp:
    """Rounds of the same lengths with other texts. `stable` is whether the last was no more than a tenth quicker than the one before.

    `round_s` is the mean time of a request in each round.
    """

    stable: bool
    round_s: tuple[float, ...]
    requests: int
    lengths: LengthReport


def warm(
    target: Target,
    job: LoadJob,
    append: Callable[[RequestRecord], None],
    zero_ns: int,
    first: int = 0,
    count: CountText | None = None,
) -> WarmUp:
    """Warm the server up. Records go to `append` without a row, under numbers below 0; `first` were used before.

    `count` counts the tokens of answers of which nobody else tells them.

    Raises:
        CannotKnow: of a whole round, no request was answered.
        BadInput: the target cannot be used.
    """
    records: list[RequestRecord] = []
    round_s: list[float] = []
    stable = False
    end = time.monotonic() + _LONGEST_S

    def keep(record: RequestRecord) -> None:
        append(_numbered(record))

    while not stable and len(round_s) < _MOST_ROUNDS and time.monotonic() < end:
        planned = warm_up(job, _A_ROUND, first + len(round_s) * _A_ROUND)
        found = [
            _numbered(each) for each in fetch_all(target, planned, _AT_ONCE, zero_ns, count=count)
        ]
        for each in found:
            append(each)
        round_s.append(_mean_s(found))
        records += found
        stable = len(round_s) > 1 and round_s[-1] >= _QUICKER * round_s[-2]
    return WarmUp(stable, tuple(round_s), len(records), verify(records))


def _numbered(record: RequestRecord) -> RequestRecord:
    """Numbers below 0, which no request of the load has."""
    return replace(record, request_id=-1 - record.request_id)


def _mean_s(found: list[RequestRecord]) -> float:
    times = [
        each.done_s - each.due_s
        for each in found
        if each.outcome is Outcome.OK and each.done_s is not None
    ]
    if not times:
        raise CannotKnow(_unanswered(found))
    return sum(times) / len(times)


def _unanswered(found: list[RequestRecord]) -> str:
    classes = [each.error_class for each in found if each.error_class]
    if not classes:
        return "None of the requests of the warm-up was answered; look into the server's log."
    worst = max(classes, key=classes.count)
    return f"None of the {len(found)} requests of the warm-up was answered, most of them {worst}: {named(worst).sentence}"
