"""How far a replayed run is from the measured one."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from vramledger.calibrate.observed import ABSENT, Observed
from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.simulate.engines import Engine
from vramledger.simulate.settings import Settings

if TYPE_CHECKING:
    Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
    Integers: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
    Truths: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]

TTFT, TPOT, E2E = "TTFT", "TPOT", "E2E"
_QUANTILES: Final = (0.5, 0.9, 0.99)


@frozen
class Difference:
    """Replayed over measured minus 1, of the mean and of three percentiles; `mean_s` was measured."""

    requests: int
    mean_s: float
    mean: float
    p50: float
    p90: float
    p99: float


def differences(
    observed: Observed,
    engines: Sequence[Engine],
    chosen: "Truths",
    replayed: Observed | None = None,
) -> Mapping[str, Difference | None]:
    """TTFT and E2E from when the engine took a request in, and TPOT, of the chosen requests.

    Requests that did not finish count in neither; TPOT leaves out answers of one token. None where no
    chosen request has that latency: nothing was compared. `replayed` are the stamps of the engines, where they are
    known already or count from elsewhere.

    Raises:
        BadInput: no chosen request finished.
    """
    stamps = replayed or replayed_stamps(observed, engines)
    done = chosen & (observed.last_token_ns != ABSENT) & (stamps.last_token_ns != ABSENT)
    if not done.any():
        raise BadInput(
            "None of these requests finished, so there is nothing to compare; choose others."
        )
    measured, found = _times(observed, done), _times(stamps, done)
    return {name: _difference(found[name], measured[name]) for name in measured}


def replayed_stamps(observed: Observed, engines: Sequence[Engine]) -> Observed:
    """The requests with the stamps of the replay."""
    columns = {}
    for name in ("queued_ns", "first_token_ns", "last_token_ns"):
        column = np.full(len(observed), ABSENT, np.int64)
        for engine in engines:
            column[engine.places] = engine.found.requests[name]
        columns[name] = column
    return Observed(
        arrival_ns=observed.arrival_ns,
        input_tokens=observed.input_tokens,
        output_tokens=observed.output_tokens,
        **columns,
    )


def _times(run: Observed, chosen: "Truths") -> "dict[str, Floats]":
    first, last = run.first_token_ns[chosen], run.last_token_ns[chosen]
    queued, more = run.queued_ns[chosen], run.output_tokens[chosen] - 1
    several = more > 0
    return {
        TTFT: (first - queued) / 1e9,
        TPOT: (last - first)[several] / more[several] / 1e9,
        E2E: (last - queued) / 1e9,
    }


def _difference(replayed: "Floats", measured: "Floats") -> Difference | None:
    if not len(measured):
        return None
    ends = (np.quantile(replayed, _QUANTILES) / np.quantile(measured, _QUANTILES) - 1).tolist()
    mean = float(measured.mean())
    return Difference(len(measured), mean, float(replayed.mean()) / mean - 1, *ends)


def kv_usage_at(engines: Sequence[Engine], settings: Settings, moments_ns: "Integers") -> "Floats":
    """The share of the pool in use at these moments, 0 to 1, as the engine's own series has it.

    Counted over usable blocks (all but the null block), mean of the engines. An engine tells what it
    holds when a step ends, before it schedules another: with two steps in flight the next has its blocks
    by then, with one it has not.
    """
    usable = max(settings.num_blocks - 1, 1)
    levels = [_held(engine, settings, moments_ns) / usable for engine in engines]
    found: Floats = np.mean(levels, axis=0)
    return found


def _held(engine: Engine, settings: Settings, moments_ns: "Integers") -> "Floats":
    steps = engine.found.steps
    ended = np.searchsorted(steps["end_ns"], moments_ns, side="right") - 1
    told = ended + settings.steps_in_flight - 1
    none = (told < 0) | (told >= len(steps))
    held: Floats = np.where(none, 0, steps["used_blocks"][np.clip(told, 0, len(steps) - 1)])
    return held.astype(np.float64)
