"""What a simulation decides: each line of the contract, and all of it, over the band of the step times."""

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

from vramledger.frozen import frozen
from vramledger.simulate.answers import Answers
from vramledger.simulate.judged import Line

if TYPE_CHECKING:
    from vramledger.simulate.ends import Ends
    from vramledger.simulate.run import Simulation


class Verdict(StrEnum):
    """Of a line, or of a contract.

    `NOT_AT_SLOW_END` is no decision: it turns within the band. `TOO_FEW` is none either.
    """

    HOLDS = "holds"
    NOT_AT_SLOW_END = "holds, not at the slow end"
    ONLY_AT_FAST_END = "fails, holds at the fast end"
    FAILS = "fails"
    TOO_FEW = "too few requests"
    NOT_CHECKED = "not checked"


@frozen
class LineVerdict:
    """A line at the expected step times and at the ends, None where an end was not played."""

    expected: Line
    slow: Line | None
    fast: Line | None

    @property
    def verdict(self) -> Verdict:
        """Of the line."""
        if self.expected.few is not None or (self.slow is not None and self.slow.few is not None):
            return Verdict.TOO_FEW
        return _verdict(
            expected=self.expected.holds, slow=_holds(self.slow), fast=_holds(self.fast)
        )


def line_verdicts(found: Answers, ends: "Ends | None") -> tuple[LineVerdict, ...]:
    """Every line of the contract."""
    slow = () if ends is None else ends.slow.lines
    fast = () if ends is None or ends.fast is None else ends.fast.lines
    return tuple(LineVerdict(line, _same(line, slow), _same(line, fast)) for line in found.lines)


def verdict_of(simulation: "Simulation") -> Verdict:
    """Of the whole: it holds only where it does at the slow end too, and every line can be judged."""
    ends, answers = simulation.ends, simulation.main.answers
    if answers.few and not answers.fails:
        return Verdict.TOO_FEW
    return _verdict(
        expected=answers.holds,
        slow=None if ends is None else ends.slow.holds,
        fast=None if ends is None or ends.fast is None else ends.fast.holds,
    )


def _verdict(*, expected: bool | None, slow: bool | None, fast: bool | None) -> Verdict:
    """None for an end that was not played, or a line that was not checked."""
    if expected is None:
        return Verdict.NOT_CHECKED
    if expected:
        return Verdict.NOT_AT_SLOW_END if slow is False else Verdict.HOLDS
    return Verdict.ONLY_AT_FAST_END if fast else Verdict.FAILS


def _same(line: Line, lines: Sequence[Line]) -> Line | None:
    return next((one for one in lines if one.asked == line.asked), None)


def _holds(line: Line | None) -> bool | None:
    return None if line is None else line.holds
