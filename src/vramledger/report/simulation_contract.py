"""The contract of a simulation: each line with its verdict over the band of the step times, and the whole."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from vramledger.simulate.pace import Pace, Paces
from vramledger.simulate.verdict import LineVerdict, Verdict, line_verdicts, verdict_of

if TYPE_CHECKING:
    from vramledger.simulate.answers import Answers
    from vramledger.simulate.ends import Ends
    from vramledger.simulate.judged import Line
    from vramledger.simulate.run import Simulation

LABELS: Final = {
    Verdict.HOLDS: "PASS",
    Verdict.NOT_AT_SLOW_END: "INCONCLUSIVE",
    Verdict.ONLY_AT_FAST_END: "FAIL",
    Verdict.FAILS: "FAIL",
    Verdict.TOO_FEW: "INCONCLUSIVE",
    Verdict.NOT_CHECKED: "not checked",
}
_DECISIONS: Final = {
    Verdict.HOLDS: "PASS: {what} at the slow end of the step times too ({slow})",
    Verdict.NOT_AT_SLOW_END: "INCONCLUSIVE: {what} as expected, not at the slow end of the step times ({slow})",
    Verdict.ONLY_AT_FAST_END: "FAIL: {what} only at the fast end of the step times ({fast})",
    Verdict.TOO_FEW: "INCONCLUSIVE: too few requests for {few}",
    Verdict.FAILS: "FAIL",
}
_NOT_PLAYED: Final = "-"
_LIMIT_WORDS: Final = 4  # "ttft_s p95 <= 2"
_WITH_TTFT: Final = ("ttft_s", "e2e_s")
_BOUNDS: Final = {Pace.SLOW: "at least", Pace.FAST: "at most"}
_NOBODY: Final = ("somebody is served in time", "nobody is")


def contract_lines(found: "Answers", ends: "Ends | None") -> Iterator[str]:
    """A line of text each, and one where nobody was served."""
    for each in line_verdicts(found, ends):
        yield f"{LABELS[each.verdict]:<12} {asked_text(each.expected)}: {_found(each)}"
    if _only_nobody(found):
        yield f"{LABELS[Verdict.FAILS]:<12} {': '.join(_NOBODY)}"


def decision(simulation: "Simulation") -> list[str]:
    """The verdict of the whole as one line, where a contract was stated and the ends were played."""
    ends, answers = simulation.ends, simulation.main.answers
    if ends is None or not answers.lines:
        return []
    unchecked = any(line.holds is None for line in answers.lines)
    what = "what was checked of the contract holds" if unchecked else "the contract holds"
    slow, fast = (_factors(answers, ends.paces, pace) for pace in (Pace.SLOW, Pace.FAST))
    said = _DECISIONS[verdict_of(simulation)].format(
        what=what, slow=slow, fast=fast, few=few_text(answers)
    )
    return [f"verdict      {said}"]


def _factors(found: "Answers", paces: Paces, pace: Pace) -> str:
    """On every step; and on TTFT as expected, where a line is of it or has it in it."""
    steps, bound = f"x{paces.of(pace):.2f}", _BOUNDS[pace]
    amounts = (line.amount for line in found.lines)
    if not any(amount is not None and amount.name in _WITH_TTFT for amount in amounts):
        return steps
    return f"{steps}, TTFT {bound} x{paces.of_ttft(pace):.2f}"


def contract_rows(found: "Answers", ends: "Ends | None") -> list[tuple[str, ...]]:
    """A row a line: verdict, what was asked, what was found, and at the ends where they were played."""
    rows = []
    for each in line_verdicts(found, ends):
        cells = [LABELS[each.verdict], asked_text(each.expected), found_text(each.expected)]
        if ends is not None:
            cells += [
                _NOT_PLAYED if one is None else _with_unit(one) for one in (each.slow, each.fast)
            ]
        rows.append(tuple(cells))
    if rows and _only_nobody(found):
        blank = ("",) * (len(rows[0]) - 3)
        rows.append((LABELS[Verdict.FAILS], *_NOBODY, *blank))
    return rows


def asked_text(line: "Line") -> str:
    """The line as it was asked, with its unit."""
    if not _is_seconds(line):
        return line.asked
    words = line.asked.split(" ")
    limit, reach = words[:_LIMIT_WORDS], words[_LIMIT_WORDS:]
    return " ".join([*limit, "s", *reach])


def found_text(line: "Line") -> str:
    """What was found, with its unit; with the number of requests where it is too small."""
    said = _with_unit(line)
    if line.few is None:
        return said
    return f"{said}, of {line.few.counted:,} where {line.few.needed:,} are needed"


def few_text(found: "Answers") -> str:
    """The lines that too few requests have figures of, with how many they need."""
    return ", ".join(
        f"{asked_text(line)} (it needs {line.few.needed:,} or more, and {line.few.counted:,} have such a figure)"
        for line in found.lines
        if line.few is not None
    )


def _only_nobody(found: "Answers") -> bool:
    """Whether nobody was served, and no line of the contract says so."""
    return not found.served_anybody and all(line.holds is not False for line in found.lines)


def _found(each: LineVerdict) -> str:
    parts = [found_text(each.expected)]
    if each.verdict is Verdict.NOT_CHECKED:
        return parts[0]
    if each.slow is not None:
        fails = ", which fails" if each.verdict is Verdict.NOT_AT_SLOW_END else ""
        parts.append(f"{_with_unit(each.slow)} at the slow end{fails}")
    if each.fast is not None:
        holds = ", which holds" if each.verdict is Verdict.ONLY_AT_FAST_END else ""
        parts.append(f"{_with_unit(each.fast)} at the fast end{holds}")
    return "; ".join(parts)


def _with_unit(line: "Line") -> str:
    return f"{line.found} s" if _is_seconds(line) and line.found != "inf" else line.found


def _is_seconds(line: "Line") -> bool:
    return line.amount is not None and line.amount.name.endswith("_s")
