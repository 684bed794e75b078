"""A proposal of trials for a terminal."""

from collections.abc import Iterator
from math import inf, isfinite
from pathlib import Path
from typing import Final

from vramledger.methods.trialplan.item import BY_NAME, Item
from vramledger.methods.trialplan.proposal import LineChance, Proposal
from vramledger.report.number import duration

_HOUR_S: Final = 3600.0


def plan_text(found: Proposal, file: Path | None) -> str:
    """Whether the time decides the contract, line by line; then the trials in order."""
    lines = [_headline(found), *found.no_evidence, *_money(found), ""]
    lines += [f"The contract, at {found.confidence:.0%} confidence in each decision:"]
    for scenario in dict.fromkeys(each.scenario for each in found.lines):
        lines += [f"  {scenario}: {_load(found, scenario)}"]
        lines += [
            f"    {text}"
            for each in found.lines
            if each.scenario == scenario
            for text in _line(each)
        ]
    lines += ["", "In this order, what is likeliest to fail in an hour first:"]
    lines += [f"  {number}. {_item(item)}" for number, item in enumerate(found.items, 1)]
    lines += [f"  left out: {_item(item)}" for item in found.left_out]
    if not found.items:
        lines += ["  nothing: no trial ends in the time"]
    lines += [*_remedies(found), "", _BASIS]
    if file is not None:
        lines += [
            f"Wrote {file}; carry it out with: vram trial plan --run {file} --url http://SERVER:8000"
        ]
    return "\n".join(lines)


_BASIS: Final = (
    "Simulated beforehand: shares, rates and correlations are the simulator's; a trial decides. docs/explanation/trial-size.md has "
    "the formulas."
)


def _headline(found: Proposal) -> str:
    if found.decides:
        surely = all(each.at_ends_too for each in found.lines)
        also = "" if surely else " at the expected step times, not at every end of their band"
        return f"CAN DECIDE: {duration(found.seconds)} of trials decide every line of the contract{also}."
    open_lines = sum(not each.decided for each in found.lines)
    there = found.budget.seconds
    time = f"The {duration(there)} there are" if isfinite(there) else "No length of time"
    return (
        f"CANNOT DECIDE: {time} {'leave' if isfinite(there) else 'decides'} {open_lines} of {len(found.lines)} lines "
        f"of the contract {'open' if isfinite(there) else 'by these trials'}."
    )


def _money(found: Proposal) -> Iterator[str]:
    budget = found.budget
    there = f" of {duration(budget.seconds)}" if isfinite(budget.seconds) else ""
    ends = "" if budget.ends is None else f", over by {budget.ends:%Y-%m-%d %H:%M}"
    yield f"Time: at most {duration(found.seconds)}{there}{ends}."
    if budget.per_hour:
        most = (
            "" if budget.most_cost is None else f" of {_amount(budget.most_cost, budget.currency)}"
        )
        cost = _amount(budget.cost_of(found.seconds), budget.currency)
        yield f"Cost: {cost}{most}, at {_amount(budget.per_hour, budget.currency)} an hour."


def _amount(money: float, currency: str) -> str:
    return f"{currency} {money:,.2f}".strip()


def _load(found: Proposal, scenario: str) -> str:
    need = next(each for each in found.needs if each.name == scenario)
    return f"{need.per_hour:,.0f} requests an hour at its own rate, chance of failing about {need.chance_of_failing:.0%}"


def _line(each: LineChance) -> Iterator[str]:
    need = each.need
    word = {True: "decided", False: "open", None: "never"}[each.decided]
    if need.needed is not None and each.expected is not None:
        share = (
            ""
            if need.expected_share is None
            else f", {need.expected_share:.2%} expected to keep it"
        )
        counts = f"{need.needed:,} needed, {each.expected:,.0f} expected{share}"
        correlated = (
            "" if (need.effect or 1) < 1.05 else f", each worth 1/{need.effect:.2g} for correlation"
        )
        said = counts + correlated
    elif need.hours is not None:
        said = (
            f"{duration(need.hours * _HOUR_S)} needed, {duration(each.given_hours * _HOUR_S)} given"
        )
    else:
        said = ""
    reason = "; ".join(part for part in (said, need.why) if part)
    yield f"{word:<8} {need.asked}: {reason}"
    if each.decided and not each.at_ends_too:
        yield f"         {_at_ends(need.hours_at_ends)}"


def _at_ends(hours: float | None) -> str:
    if hours is None or hours == inf:
        return (
            "within the band of the step times the verdict turns: near its limit no time decides it"
        )
    return f"at an end of the band of the step times it takes {duration(hours * _HOUR_S)}"


def _item(item: Item) -> str:
    kind = BY_NAME[item.kind]
    sends = "" if item.send_s is None else f", sends {duration(item.send_s)}"
    lines = (
        ""
        if not item.decides
        else f", decides {len(item.decides)} line{'s' * (len(item.decides) > 1)}"
    )
    settings = " ".join(f"--{name} {value}" for name, value in item.settings.items())
    changed = f" ({settings}: the server is started anew)" if settings else ""
    if item.times is not None:
        changed = f", {item.times} times"
    if item.against is not None:
        changed = f" ({item.against})"
    return f"{item.name}: {kind.does}{changed}{sends}, at most {duration(item.takes_s)}{lines}"


def _remedies(found: Proposal) -> Iterator[str]:
    """What would decide what stays open."""
    late = [each for each in found.lines if each.decided is False]
    never = [each for each in found.lines if each.decided is None]
    if late:
        budget, more = found.budget, found.seconds_to_decide
        cost = "" if not budget.per_hour else f", {_amount(budget.cost_of(more), budget.currency)}"
        yield ""
        yield (
            f"To decide the rest: {duration(more)} in all{cost}. Another rate would bring requests sooner, and is another question "
            "than the contract's."
        )
    if never:
        yield ""
        yield (
            "No length of time decides: "
            + "; ".join(f"{each.scenario}: {each.need.asked} ({each.need.why})" for each in never)
            + "."
        )
