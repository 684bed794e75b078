"""What the arrivals of a log say of its clock; quantised times, and how they are spread."""

from typing import TYPE_CHECKING, Any, Final, TypeAlias

from vramledger.frozen import frozen

if TYPE_CHECKING:
    import numpy as np

    Nanoseconds: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]

_FEWEST: Final = 20  # instants from which a step can be told
_SHARED: Final = 2.0  # requests an instant from which times are called quantised
DAY_NS: Final = 86_400 * 10**9
_FINE_NS: Final = 100_000_000  # steps below a tenth of a second make no artificial bursts


@frozen
class Clock:
    """The distinct instants of the arrivals and, where times are quantised, their step."""

    instants: int
    largest_gap_ns: int
    long_gaps: int  # of more than a day
    quantum_ns: int | None


def examine(arrivals: "Nanoseconds") -> Clock:
    """Look at arrivals in any order; there is at least one.

    Times are quantised where requests share instants, and all steps from one instant to the next are
    multiples of a tenth of a second or more (whole seconds, say); or, since steps may waver by the
    rounding of the log, where two or more share an instant in the mean and the median step is that
    long.
    """
    import numpy as np

    instants = np.unique(arrivals)
    steps = np.diff(instants)
    gap = int(steps.max()) if len(steps) else 0
    long_gaps = int(np.count_nonzero(steps > DAY_NS))
    return Clock(len(instants), gap, long_gaps, _quantum(steps, len(arrivals) / len(instants)))


def _quantum(steps: "Nanoseconds", shared: float) -> int | None:
    """The step of the clock, where it is coarse; `shared` are the requests an instant."""
    import numpy as np

    if len(steps) + 1 < _FEWEST or shared == 1:
        return None
    common = int(np.gcd.reduce(steps))
    if common >= _FINE_NS:
        return common
    usual = int(np.median(steps))
    return usual if shared >= _SHARED and usual >= _FINE_NS else None


def spread(arrivals: "Nanoseconds", quantum_ns: int, seed: int) -> "Nanoseconds":
    """The arrivals with those of one instant spread over the step that begins there.

    The k-th of n requests of an instant, in the order given, comes (k + u) / n steps after it, with u
    uniform in [0, 1); a step ends where the next instant begins.
    """
    import numpy as np

    order = np.argsort(arrivals, kind="stable")
    instants, start, count = np.unique(arrivals[order], return_index=True, return_counts=True)
    until_next = np.append(np.diff(instants), quantum_ns)
    width = np.minimum(until_next, quantum_ns)
    place = np.arange(len(arrivals)) - np.repeat(start, count)
    uniform = np.random.Generator(np.random.PCG64(seed)).random(len(arrivals))
    share = (place + uniform) / np.repeat(count, count)
    found = np.empty_like(arrivals)
    found[order] = arrivals[order] + (share * np.repeat(width, count)).astype(np.int64)
    return found
