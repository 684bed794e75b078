"""What a trial showed the KV cache to hold, as a scenario to size for."""

from math import ceil
from pathlib import Path
from typing import Final

from vramledger.errors import CannotKnow
from vramledger.evidence import Basis
from vramledger.frozen import frozen
from vramledger.plan.lengths import Length, LengthDistribution
from vramledger.plan.requirement import Contract, Kind, Load, LoadUnit, Scenario
from vramledger.record.run import read_run
from vramledger.trial.conduct.spread import Spread
from vramledger.trial.conduct.summary import Summary, summarise
from vramledger.units import format_gib, gib

_LONGEST_SHARE: Final = (
    0.002  # of requests that are as long as the longest, so that the headroom sees it
)
_FULL: Final = 0.99  # of the pool: what wants in waits


@frozen
class OfRun:
    """The scenario of a run, and what is to be said of it."""

    scenario: Scenario
    notes: tuple[str, ...]


def scenario_of_run(folder: Path, headroom: float | None, contract: Contract) -> OfRun:
    """As many requests as ran at most, that together hold the most KV tokens that were held.

    Raises:
        BadInput: no closed trial.
        CannotKnow: the run does not tell KV tokens, running requests or lengths.
    """
    found = summarise(read_run(folder))
    tokens, running = found.server.kv_tokens.max, found.server.levels["running"].max
    if tokens is None or not running or tokens <= 0:
        raise CannotKnow(
            f"{folder} does not tell how many KV tokens and requests were held at once; give the server's metrics page with "
            "--metrics when the trial is run, and its start-up log with --server-log where the page lacks the pool."
        )
    origin = found.description.origin.value
    source = f"{origin} in {folder.name}"
    measured = origin == "measured"
    basis = Basis.MEASURED if measured else Basis.ASSUMED
    load = Load(LoadUnit.CONCURRENT, float(running), basis=basis, source=source)
    cells = _cells(tokens / running, _longest(found, folder))
    lengths = LengthDistribution(cells, basis, source)
    scenario = Scenario("run", Kind.LATENCY, lengths, load, headroom=headroom, contract=contract)
    return OfRun(scenario, (*_notes(found, source), _as_sized(tokens, running)))


def _longest(found: Summary, folder: Path) -> int:
    """Tokens of the longest request that ran, prompt and answer."""
    numbers = found.run.requests.numbers("input_tokens_got", "output_tokens_got")
    total = numbers["input_tokens_got"] + numbers["output_tokens_got"]
    told = total[total > 0]
    if not len(told):
        raise CannotKnow(
            f"{folder} has no request whose tokens the server counted; state lengths with --workload instead."
        )
    return int(told.max())


def _cells(held: float, longest: int) -> tuple[Length, ...]:
    """Requests that hold so many tokens on average, from their first moment to their last."""
    rest = max((held - _LONGEST_SHARE * longest) / (1 - _LONGEST_SHARE), 2.0)
    return (
        Length(max(ceil(rest) - 1, 1), 1, 1 - _LONGEST_SHARE),
        Length(max(longest - 1, 1), 1, _LONGEST_SHARE),
    )


def _notes(found: Summary, source: str) -> list[str]:
    side = found.server
    notes = [f"KV tokens held, {source}: {_told(side.kv_tokens)}; the most counts."]
    for name, used in side.memory_bytes.items():
        memory = ", ".join(
            f"{share} {format_gib(gib(value))}" for share, value in _figures(used) if value
        )
        notes.append(f"Device memory in use, {source}, {name}: {memory}.")
    usage = side.levels["kv_usage"]
    if usage.max is not None and usage.max >= _FULL:
        notes.append(
            f"The pool of that run was {usage.max:.0%} full, so more would have been held had there been room: the need is a "
            "lower bound."
        )
    if found.inconclusive:
        notes.append(f"The run decides nothing by itself: {found.inconclusive[0]}")
    return notes


def _as_sized(tokens: float, running: float) -> str:
    """What the requests of the scenario stand for: their lengths are none that were sent."""
    return (
        f"Lengths below are no lengths that were sent: {running:,.0f} requests, the most that ran at once, hold the "
        f"{tokens:,.0f} tokens together, {tokens / running:,.0f} each."
    )


def _told(found: Spread) -> str:
    return ", ".join(f"{name} {value:,.0f}" for name, value in _figures(found) if value is not None)


def _figures(found: Spread) -> list[tuple[str, float | None]]:
    return [(name, getattr(found, name)) for name in ("p50", "p95", "p99", "max")]
