"""Which side keeps the contract of a plan, and by what margin: a choice asks for no cause, so that any number of things may differ.

Each side is judged by `accept.judge`. Of a side with several runs every repetition must keep the contract. The margin of a side is that of the
line that is nearest to being broken (`margin`), its mean over the repetitions.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from vramledger.accept.beside import Beside
from vramledger.accept.judge import judge
from vramledger.accept.verdict import Said, Verdict, whole
from vramledger.compare.evidence import mixed
from vramledger.compare.margin import Margin, left, margin_of
from vramledger.compare.side import Side
from vramledger.errors import ExitCode
from vramledger.frozen import frozen
from vramledger.plan.requirement import Requirement
from vramledger.record.document import Origin

if TYPE_CHECKING:
    from vramledger.record.run import Run


@frozen
class Kept:
    """What one side came to. `nearest` is its line with the least margin, None where no line has one; `broken` and `undecided` are names of lines."""

    side: str
    said: Said
    verdicts: tuple[Verdict, ...]
    nearest: Margin | None
    broken: tuple[str, ...]
    undecided: tuple[str, ...]


@frozen
class Choice:
    """`chosen` is the letter of the side that keeps the contract by more, None where none does; `sure` is whether its interval is clear of the others'.

    `why` is one sentence.
    """

    plan: str
    sides: tuple[Kept, ...]
    chosen: str | None
    sure: bool
    why: str
    exit_code: ExitCode


def choice_of(sides: Sequence[Side], plan: Requirement, beside: Beside | None = None) -> Choice:
    """The same runs, plan and files beside it always give the same one.

    Raises:
        BadInput: a run is no closed trial, or is of no scenario of the plan.
    """
    simulated = [each.name for each in sides if _is_simulated(each)]
    if simulated:
        why = f"{', '.join(simulated)} of {len(sides)} sides are simulated, and a contract is judged on trials; vram trial run makes one."
        return Choice(plan.name, (), None, False, why, ExitCode.CANNOT_KNOW)
    kept = tuple(_kept(each, plan, beside) for each in sides)
    if why := mixed(sides):
        return Choice(plan.name, kept, None, False, why, ExitCode.CANNOT_KNOW)
    keeping = [each for each in kept if each.said is Said.PASS]
    if not keeping:
        return Choice(plan.name, kept, None, False, _none(plan, kept), _code(kept))
    best = max(keeping, key=_size)
    sure = all(_clear(best, each) for each in keeping if each is not best)
    return Choice(plan.name, kept, best.side, sure, _why(best, keeping, kept, sure=sure), ExitCode.HOLDS)  # fmt: skip


def _is_simulated(side: Side) -> bool:
    return any(one.run.description.origin is Origin.SIMULATED for one in side.runs)


def _kept(side: Side, plan: Requirement, beside: Beside | None) -> Kept:
    verdicts = tuple(judge(runs, plan, beside) for runs in _repetitions(side, plan))
    margins = [_margins(each) for each in verdicts]
    means = [_mean([each[name] for each in margins if name in each]) for name in _names(margins)]
    nearest = min(means, key=lambda each: each.value, default=None)
    return Kept(
        side.name,
        whole(each.said for each in verdicts),
        verdicts,
        nearest,
        _lines(verdicts, Said.FAIL),
        _lines(verdicts, Said.INCONCLUSIVE),
    )


def _repetitions(side: Side, plan: Requirement) -> "Iterator[list[Run]]":
    """The first run of each scenario, then the second of each, and so on."""
    only = plan.scenarios[0].name if len(plan.scenarios) == 1 else None
    found: dict[str | None, list[Run]] = {}
    for one in side.runs:
        found.setdefault(one.run.description.scenario or only, []).append(one.run)
    for number in range(max(len(runs) for runs in found.values())):
        yield [runs[number] for runs in found.values() if number < len(runs)]


def _margins(verdict: Verdict) -> Mapping[str, Margin]:
    found = (margin_of(each.name, line) for each in verdict.scenarios for line in each.lines)
    return {each.line: each for each in found if each is not None}


def _names(margins: Sequence[Mapping[str, Margin]]) -> list[str]:
    return list(dict.fromkeys(name for each in margins for name in each))


def _mean(found: Sequence[Margin]) -> Margin:
    """Of one line in every repetition; the ends are the widest."""
    said = whole(each.said for each in found)
    value = sum(each.value for each in found) / len(found)
    return Margin(found[0].line, said, value, min(e.low for e in found), max(e.high for e in found))


def _lines(verdicts: Sequence[Verdict], said: Said) -> tuple[str, ...]:
    names = (
        f"{each.name}: {line.name}"
        for verdict in verdicts
        for each in verdict.scenarios
        for line in each.lines
        if line.said is said
    )
    return tuple(dict.fromkeys(names))


def _size(kept: Kept) -> float:
    return float("-inf") if kept.nearest is None else kept.nearest.value


def _clear(best: Kept, other: Kept) -> bool:
    if best.nearest is None or other.nearest is None:
        return False
    return best.nearest.low > other.nearest.high


def _code(kept: Sequence[Kept]) -> ExitCode:
    broken = all(each.said is Said.FAIL for each in kept)
    return ExitCode.DOES_NOT_HOLD if broken else ExitCode.CANNOT_KNOW


def _none(plan: Requirement, kept: Sequence[Kept]) -> str:
    if _code(kept) is ExitCode.DOES_NOT_HOLD:
        return f"No side keeps the contract of {plan.name}."
    undecided = ", ".join(each.side for each in kept if each.said is not Said.FAIL)
    return f"Whether a side keeps the contract of {plan.name} is not decided: lines of {undecided} are open."


def _why(best: Kept, keeping: Sequence[Kept], kept: Sequence[Kept], *, sure: bool) -> str:
    by = "" if best.nearest is None else f", with {left(best.nearest.value)} at its nearest line ({best.nearest.line})"  # fmt: skip
    if len(keeping) == 1:
        rest = "; ".join(f"{each.side} {_short(each)}" for each in kept if each is not best)
        return f"{best.side} keeps the contract{by}; {rest}."
    letters = " and ".join(each.side for each in keeping)
    most = "" if sure else "; their intervals overlap, so that either may be taken"
    return f"{letters} keep the contract, {best.side} by the larger margin{by}{most}."


def _short(kept: Kept) -> str:
    if kept.said is Said.FAIL:
        return f"breaks {', '.join(kept.broken[:3])}"
    return f"leaves open {', '.join(kept.undecided[:3])}"
