"""Speed and queue of a simulated candidate in a few words each, for a column of a table."""

from collections.abc import Iterable

from vramledger.sizing.simulated.result import ScenarioRun, Seen, Simulated
from vramledger.units import format_seconds


def speed_words(found: Simulated) -> str:
    """``PASS, TTFT 820 ms, TPOT 31 ms, 12,300/h``: p95 of the slowest scenario, goodput of the deciding."""
    seen = _waited_for(found)
    parts = [
        _verdict(found),
        f"TTFT {_seconds(_worst(each.ttft_p95_s for each in seen))}",
        f"TPOT {_seconds(_worst(each.tpot_p95_s for each in seen))}",
        *_goodput(found),
    ]
    return ", ".join(part for part in parts if part)


def queue_words(found: Simulated) -> str:
    """``0.01 s, drains``: p95 of the scenario with the longest, and whether all of them drain."""
    seen = _waited_for(found)
    drains = "drains" if all(each.queue_drains for each in seen) else "grows"
    return f"{_seconds(_worst(each.queue_p95_s for each in seen))}, {drains}"


def why_not(found: Simulated) -> str:
    """One sentence on why a candidate is not recommended."""
    return f"In the simulation it does not serve {'; '.join(found.fails)}."


def _waited_for(found: Simulated) -> list[Seen]:
    """Scenarios in which people wait; all of them where there is none."""
    waiting = [run.main for run in found.runs if run.people_wait]
    return waiting or [run.main for run in found.runs]


def _verdict(found: Simulated) -> str:
    if found.fails:
        return "FAIL" if found.fails_surely else "FAIL at the slow end"
    return "PASS" if any(_checked(run) for run in found.runs) else ""


def _checked(run: ScenarioRun) -> bool:
    return any(line.holds is not None for line in run.main.lines)


def _goodput(found: Simulated) -> list[str]:
    """Of one scenario: they are played one by one, and what each reaches does not add up."""
    run = found.deciding
    if run is None or run.main.goodput_per_hour is None:
        return []
    whose = f" in {run.scenario}" if len(found.runs) > 1 else ""
    return [f"{run.main.goodput_per_hour:,.0f}/h{whose}"]


def _worst(values: Iterable[float | None]) -> float | None:
    return max((value for value in values if value is not None), default=None)


def _seconds(value: float | None) -> str:
    return "-" if value is None else format_seconds(value)
