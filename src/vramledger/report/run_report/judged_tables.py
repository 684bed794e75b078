"""What stands beside the lines of a contract that was judged: the load, the work of an hour, and groups of requests."""

from collections.abc import Iterator, Sequence
from typing import Final

from vramledger.accept.verdict import Group, Reached, ScenarioVerdict, Work
from vramledger.report.html.titled_table import Table
from vramledger.report.number import share
from vramledger.report.run_report.model import Report
from vramledger.report.run_report.over_time import latency_words
from vramledger.report.verdict import shown

_NOT_STATED: Final = "not stated"
_NOT_KNOWN: Final = "not known"
_ENOUGH: Final = {True: "reached", False: "NOT REACHED", None: ""}
_GROUPS: Final = {
    "tenant": "tenant",
    "input": "length of the prompt",
    "output": "length of the answer",
}
_TITLES: Final = {
    "ttft_s": "TTFT",
    "tpot_s": "TPOT",
    "e2e_s": "E2E",
    "itl_s": "ITL",
    "queue_s": "queue",
}


def judged_tables(found: ScenarioVerdict) -> Iterator[Table]:
    """Those that have a row."""
    if found.reached:
        yield _load(found.name, found.reached)
    yield from _work(found.name, found.work)
    for of, title in _GROUPS.items():
        groups = [each for each in found.groups if each.of == of]
        if len(groups) > 1:  # one group is all of the run
            yield _by_group(f"{found.name} by {title}", of, groups)


def settles_table(report: Report) -> Table | None:
    """What would decide each open line; None where nothing is open, or nobody knows."""
    rows = tuple(
        (each.scenario or "", line.name, line.settles)
        for each in report.rulings
        for line in each.lines
        if line.settles
    )
    if not rows:
        return None
    return Table("What would settle what is open", ("scenario", "line", "is settled by"), rows)


def _load(name: str, found: Sequence[Reached]) -> Table:
    rows = tuple(
        (each.name, _figure(each.asked, each.unit, _NOT_STATED), _figure(each.reached, each.unit, _NOT_KNOWN), _ENOUGH[each.enough])
        for each in found
    )  # fmt: skip
    head = ("", "asked for", "reached", "")
    return Table(f"Load of {name}", head, rows, frozenset({1, 2}), unbroken=frozenset({3}))


def _figure(value: float | None, unit: str, absent: str) -> str:
    return absent if value is None else shown(value, unit)


def _work(name: str, found: Work) -> Iterator[Table]:
    rows = [(title, said) for title, said in _work_rows(found) if said]
    if rows:
        yield Table(f"Work of {name}", ("", ""), tuple(rows), frozenset({1}), _quality(found))


def _work_rows(found: Work) -> Iterator[tuple[str, str]]:
    yield "requests offered an hour", _count(found.offered_per_hour)
    yield "requests an hour that met every limit", _with_ends(found)
    yield "output tokens of these, an hour", _count(found.good_tokens_per_hour)
    lost = found.lost_share
    yield "share of all tokens that went to requests that did not count", "" if lost is None else share(lost)  # fmt: skip


def _with_ends(found: Work) -> str:
    if found.good_low is None or found.good_high is None:
        return _count(found.good_per_hour)
    return f"{_count(found.good_per_hour)} ({_count(found.good_low)} to {_count(found.good_high)})"


def _count(value: float | None) -> str:
    return "" if value is None else f"{value:,.0f}"


def _quality(found: Work) -> tuple[str, ...]:
    if found.quality_proven is None:
        return ()
    if found.quality_proven:
        return (
            "The quality lines passed too, so requests that met every limit are valid requests.",
        )
    return ("Quality is not proven, so these are requests in time, not yet valid requests.",)


def _by_group(title: str, of: str, groups: Sequence[Group]) -> Table:
    names = [name for name, _ in groups[0].figures]
    head = (
        of if of == "tenant" else f"{of} tokens",
        "offered",
        "ok",
        "met every limit",
        *map(_title, names),
    )
    rows = tuple(
        (
            each.name, f"{each.offered:,}", f"{each.ok:,}", f"{each.good:,}",
            *("-" if value is None else latency_words(value) for _, value in each.figures),
        )
        for each in groups
    )  # fmt: skip
    note = "Percentiles are of everything that was offered to the group; one that falls among failures is called failed."
    return Table(title, head, rows, frozenset(range(1, len(head))), (note,))


def _title(name: str) -> str:
    latency, _, percentile = name.partition(" ")
    return f"{_TITLES.get(latency, latency)} {percentile}"
