"""The shortest sequence of trials that decides a contract, and whether the time there is suffices."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain, count
from math import inf
from typing import Final

from vramledger.frozen import frozen
from vramledger.methods.trialplan.budget import Budget
from vramledger.methods.trialplan.item import BY_NAME, READY, RESTART_S, SHADOW, SHADOW_S, Item
from vramledger.methods.trialplan.line_need import LineNeed
from vramledger.methods.trialplan.scenario_need import RUN, ScenarioNeed, rounded_up

_HOUR_S: Final = 3600.0
READY_S: Final = 300.0
_EXTRA_S: Final = 900.0  # of a trial beside the contract, where nothing else is said


@frozen
class Extra:
    """A trial that is wanted beside those which decide the contract.

    `settings` are of a variation, `times` of a repetition, `against` of a comparison of answers.
    """

    kind: str
    send_s: float | None = None
    settings: Mapping[str, str] | None = None
    times: int | None = None
    against: str | None = None


@frozen
class LineChance:
    """A line of the contract and what the proposed time does for it.

    `decided` is None where no time decides it. `at_ends_too` is whether the time suffices at the ends of the band of the step times as well.
    """

    scenario: str
    need: LineNeed
    given_hours: float
    decided: bool | None
    at_ends_too: bool

    @property
    def expected(self) -> float | None:
        """Requests (of ITL: gaps) that the time brings."""
        return None if self.need.per_hour is None else self.need.per_hour * self.given_hours


@frozen
class Proposal:
    """Trials in order. `left_out` is what the time does not hold."""

    budget: Budget
    confidence: float
    needs: tuple[ScenarioNeed, ...]
    items: tuple[Item, ...]
    left_out: tuple[Item, ...]
    lines: tuple[LineChance, ...]
    restart_s: float = RESTART_S
    no_evidence: tuple[str, ...] = ()  # why the step times of the simulations are none here

    @property
    def seconds(self) -> float:
        """The longest that all of it takes, restarts included."""
        return total_seconds(self.items, self.restart_s)

    @property
    def seconds_to_decide(self) -> float:
        """The longest that deciding every line takes which time decides."""
        return READY_S + sum(need.takes_s for need in self.needs if need.send_s)

    @property
    def decides(self) -> bool:
        """Whether every line of the contract is decided in the time."""
        return bool(self.lines) and all(line.decided for line in self.lines)


def propose(
    needs: Sequence[ScenarioNeed],
    budget: Budget,
    confidence: float,
    extras: Sequence[Extra] = (),
    restart_s: float = RESTART_S,
) -> Proposal:
    """Readiness first, then the scenarios, then what else was asked for, as far as the time goes."""
    left = budget.seconds
    items, left_out = [], []
    ready = Item(READY, READY, READY_S)
    ordered = in_order(needs)
    if ordered and ready.takes_s <= left:
        items.append(ready)
        left -= ready.takes_s
    for need in ordered:
        item = _that_fits(need, left)
        if item is None:
            left_out.append(need.item(RUN, need.send_s))
        else:
            items.append(item)
            left -= item.takes_s
    settings: Mapping[str, str] = {}
    for extra in grouped(_extra_items(extras, ordered)):
        restart = restart_s if wants_restart(extra, settings) else 0.0
        if extra.takes_s + restart <= left:
            items.append(extra)
            left -= extra.takes_s + restart
            settings = extra.settings
        else:
            left_out.append(extra)
    chosen = tuple(items)
    every = (*ordered, *(need for need in needs if not need.send_s))
    return Proposal(
        budget, confidence, every, chosen, tuple(left_out), _chances(every, chosen), restart_s
    )


def in_order(needs: Sequence[ScenarioNeed]) -> list[ScenarioNeed]:
    """The scenario first that is likeliest to fail in an hour of the machine.

    A failure ends the sequence, so the expected time until then is least by falling chance over time (W. Smith, Various
    Optimizers for Single-Stage Production, Naval Research Logistics Quarterly 3, 1956). What has no line with a time is left out.
    """
    able = [need for need in needs if need.send_s]
    return sorted(able, key=lambda need: (-need.chance_of_failing / need.takes_s, need.name))


def grouped(items: Sequence[Item]) -> list[Item]:
    """Those with the server as it is first, then those of one setting together: each group needs one restart."""
    groups: dict[tuple[tuple[str, str], ...], list[Item]] = {(): []}
    for item in items:
        groups.setdefault(tuple(sorted(item.settings.items())), []).append(item)
    return [
        item for group in groups.values() for item in sorted(group, key=lambda each: each.fresh)
    ]


def wants_restart(item: Item, running: Mapping[str, str]) -> bool:
    """Whether a server with those settings has to be started anew for it."""
    return item.fresh or dict(item.settings) != dict(running)


def total_seconds(items: Sequence[Item], restart_s: float) -> float:
    """The longest that they take one after another."""
    total = 0.0
    running: Mapping[str, str] = {}
    for item in items:
        total += item.takes_s
        if item.kind != READY and wants_restart(item, running):
            total += restart_s
            running = item.settings
    return total


def _that_fits(need: ScenarioNeed, left: float) -> Item | None:
    """The scenario's trial, or a shorter one that still decides a line; None where there is no time for that."""
    whole = need.item(RUN, need.send_s)
    if whole.takes_s <= left:
        return whole
    hours = sorted({line.hours for line in need.lines if line.hours is not None}, reverse=True)
    for each in hours:
        item = need.item(RUN, rounded_up(max(each * _HOUR_S, need.fewest_s)))
        if item.takes_s <= left:
            return item
    return None


def _extra_items(extras: Sequence[Extra], ordered: Sequence[ScenarioNeed]) -> list[Item]:
    """Of the scenario that is likeliest to fail; as long as asked, else as long as its trial takes, at most a quarter of an hour."""
    found = []
    for extra in extras if ordered else ():
        need, kind = ordered[0], BY_NAME[extra.kind]
        if kind.name == SHADOW:
            takes = extra.send_s or SHADOW_S
            found.append(Item(SHADOW, SHADOW, takes, against=extra.against))
            continue
        send = extra.send_s or kind.usual_s or min(need.send_s, _EXTRA_S)
        item = need.item(kind, send, extra.times)
        if extra.settings:
            changed = "-".join(f"{name}-{value}" for name, value in extra.settings.items())
            item = replace(item, name=f"{need.name}-{changed}", settings=dict(extra.settings))
        found.append(item)
    return _named_apart(found)


def _named_apart(items: Sequence[Item]) -> list[Item]:
    """The second of a name has a number."""
    found: list[Item] = []
    for item in items:
        taken = {each.name for each in found}
        names = chain((item.name,), (f"{item.name}-{number}" for number in count(2)))
        found.append(replace(item, name=next(name for name in names if name not in taken)))
    return found


def _chances(needs: Sequence[ScenarioNeed], items: Sequence[Item]) -> tuple[LineChance, ...]:
    """Every line of every scenario."""
    sends = {item.scenario: item.send_s or 0.0 for item in items if item.kind == RUN.name}
    return tuple(
        _chance(need, line, sends.get(need.name, 0.0)) for need in needs for line in need.lines
    )


def _chance(need: ScenarioNeed, line: LineNeed, send_s: float) -> LineChance:
    decided = line.asked in need.decided_in(send_s) if line.hours is not None else None
    at_ends = inf if line.hours_at_ends is None else line.hours_at_ends
    enough = bool(decided) and at_ends * _HOUR_S <= send_s + 1e-6
    return LineChance(need.name, line, send_s / _HOUR_S, decided, enough)
