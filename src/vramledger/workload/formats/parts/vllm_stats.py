"""Means from vLLM's periodic statistics, where its log names no requests.

Source: vllm/v1/metrics/loggers.py of https://github.com/vllm-project/vllm. Every 10 s (VLLM_LOG_STATS_INTERVAL) a
line tells the mean throughputs since the one before; uvicorn writes a line at the end of each access.
The accesses between two statistics, with the tokens of that time divided among them, are requests of
mean length: rates are the log's, lengths are means.
"""

import re
from collections.abc import Iterable
from typing import Final

from vramledger.record.outcome import Outcome, of_status
from vramledger.workload.fields import number, whole_number
from vramledger.workload.formats.format import Context
from vramledger.workload.formats.parts.completion_path import require_completion
from vramledger.workload.formats.parts.vllm_time import YearlessClock
from vramledger.workload.raw import RawRequest, RowProblem

_STATISTICS: Final = re.compile(
    r"Avg prompt throughput: (?P<prompt>[\d.]+) tokens/s, "
    r"Avg generation throughput: (?P<generation>[\d.]+) tokens/s"
)
_ACCESS: Final = re.compile(r'"(?P<method>[A-Z]+) (?P<path>\S+) HTTP/[\d.]+" (?P<status>\d{3})')
_NS: Final = 10**9
_USUAL_NS: Final = 10 * _NS
_LONGEST_NS: Final = 60 * _NS  # between two statistics of one busy stretch
_SAID: Final = (
    "The log names no requests: those that ended between two lines of statistics are spread evenly "
    "over that time and share its tokens evenly, so that rates and means are the log's and every "
    "percentile is not (inferred)."
)


class Statistics:
    """Counts accesses from one line of statistics to the next."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._last_ns: int | None = None
        self._ended = 0

    def read(self, line: str, number: int, clock: YearlessClock) -> Iterable[RawRequest] | None:
        """The requests that a line completes; None where it is neither statistics nor an access.

        Raises:
            RowProblem: an access that asks for no completion, or that was refused.
        """
        access = _ACCESS.search(line)
        if access is not None:
            require_completion(access["method"], access["path"])
            if of_status(int(access["status"])) is not Outcome.OK:
                raise RowProblem("access was refused, at a time that is not logged")
            self._ended += 1
            return ()
        found = _STATISTICS.search(line)
        now = None if found is None else clock.moment_ns(line)
        if found is None or now is None:
            return None
        start, self._last_ns = self._since(now), now
        requests, self._ended = self._ended, 0
        if not requests:
            return ()
        self._context.infer(_SAID)
        return (_spread(found, start, now - start, requests, number),)

    def finish(self) -> Iterable[RawRequest]:
        """Those that ended after the last statistics: their tokens are unknown."""
        requests, self._ended = self._ended, 0
        if not requests:
            return ()
        return (
            RawRequest(
                line=0,
                arrival_ns=self._last_ns,
                outcome=Outcome.OK,
                repeat=requests,
                spread_ns=_USUAL_NS,
            ),
        )

    def _since(self, now: int) -> int:
        """The statistics before; idle servers leave them out."""
        if self._last_ns is not None and 0 < now - self._last_ns <= _LONGEST_NS:
            return self._last_ns
        self._context.assume("Statistics after a pause are taken to cover 10 s (assumed).")
        return now - _USUAL_NS


def _spread(
    found: "re.Match[str]", start_ns: int, length_ns: int, requests: int, line: int
) -> RawRequest:
    inputs, outputs = (
        round(number(found[name], f"{name} throughput") * length_ns / _NS)
        for name in ("prompt", "generation")
    )
    return RawRequest(
        line=line,
        arrival_ns=start_ns,
        input_tokens=whole_number(inputs // requests, "mean input tokens"),
        output_tokens=whole_number(outputs // requests, "mean output tokens"),
        outcome=Outcome.OK,
        repeat=requests,
        spread_ns=length_ns,
        input_remainder=inputs % requests,
        output_remainder=outputs % requests,
    )
