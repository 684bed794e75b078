"""Which arrivals were asked for: how many or how long, along which process, at which rate."""

from typing import TYPE_CHECKING, Final

from vramledger.errors import BadInput, CannotKnow, UnknownName
from vramledger.frozen import frozen
from vramledger.workload.profile.profile import Profile
from vramledger.workload.synth.curve import along, rate_curve
from vramledger.workload.synth.renewal import RENEWALS, renewal

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

OWN: Final = "profile"
KINDS: Final = (OWN, *RENEWALS)
_MOST_ALONG_A_CURVE: Final = 100_000.0  # requests a second; a curve is drawn many minutes at once


@frozen
class Arrivals:
    """The request for arrivals. Exactly one of `requests` and `seconds` is given.

    `rate` is the mean in requests per second, None: the profile's. `cv` is that of the gaps of gamma
    and Weibull arrivals, None: the one that gives the profile's dispersion in its smallest window.
    """

    requests: int | None = None
    seconds: float | None = None
    kind: str = OWN
    rate: float | None = None
    cv: float | None = None


def check(asked: Arrivals) -> None:
    """Refuse what cannot be meant.

    Raises:
        BadInput: a figure that is not positive or too large, or both or neither of requests and hours.
        UnknownName: no such process.
    """
    if asked.kind not in KINDS:
        raise UnknownName("arrival process", asked.kind, KINDS, "--arrivals")
    if (asked.requests is None) == (asked.seconds is None):
        raise BadInput("Say either --requests N or --hours H: one of them ends the workload.")
    for option, value in (
        ("--requests", asked.requests),
        ("--hours", asked.seconds),
        ("--rate", asked.rate),
        ("--cv", asked.cv),
    ):
        if value is not None and not 0 < value < float("inf"):
            raise BadInput(
                f"{option} is {value:g} and must be more than 0; give a positive number."
            )
    if asked.kind == OWN and asked.rate is not None and asked.rate > _MOST_ALONG_A_CURVE:
        raise BadInput(
            f"--rate is {asked.rate:g}, and the profile's own rate curve is drawn up to "
            f"{_MOST_ALONG_A_CURVE:,.0f} requests a second; lower it, or say --arrivals poisson."
        )
    if asked.cv is not None and asked.kind not in ("gamma", "weibull"):
        raise BadInput(
            f"--cv says how uneven gamma and Weibull gaps are, and --arrivals is {asked.kind}; "
            "leave --cv out, or say --arrivals gamma."
        )


def arrival_times(
    profile: Profile, asked: Arrivals, rng: "np.random.Generator"
) -> "Iterator[NDArray[np.float64]]":
    """Chunks of sorted arrival times from 0, ending where it was asked for.

    Raises:
        CannotKnow: the profile lacks what the process needs.
    """
    return ended(_endless(profile, asked, rng), asked)


def ended(
    chunks: "Iterator[NDArray[np.float64]]", asked: Arrivals
) -> "Iterator[NDArray[np.float64]]":
    """The chunks up to the number of requests or the time; empty ones are left out."""
    import numpy as np

    left = asked.requests
    for whole in chunks:
        times = whole
        if asked.seconds is not None:
            times = times[: int(np.searchsorted(times, asked.seconds))]
        if left is not None:
            times = times[:left]
            left -= len(times)
        if len(times):
            yield times
        if left == 0 or len(times) < len(whole):
            return


def _endless(
    profile: Profile, asked: Arrivals, rng: "np.random.Generator"
) -> "Iterator[NDArray[np.float64]]":
    if asked.kind == OWN:
        curve = rate_curve(profile.arrival)
        if asked.rate is not None:
            curve = curve.times(asked.rate / curve.mean_per_s)
        return along(curve, rng)
    gaps = RENEWALS[asked.kind](gap_cv(profile, asked))
    return renewal(gaps, 1 / mean_rate(profile, asked), rng)


def mean_rate(profile: Profile, asked: Arrivals) -> float:
    """Requests per second.

    Raises:
        CannotKnow: neither asked for nor in the profile.
    """
    found = asked.rate if asked.rate is not None else profile.arrival.mean_per_s
    if not found:
        raise CannotKnow(
            "The profile has no arrival times, so it has no rate; say --rate REQUESTS_PER_SECOND."
        )
    return found


def gap_cv(profile: Profile, asked: Arrivals) -> float:
    """The coefficient of variation of the gaps: asked for, or the root of the finest dispersion.

    Raises:
        CannotKnow: neither is there.
    """
    if asked.kind == "poisson":
        return 1.0
    if asked.cv is not None:
        return asked.cv
    windows = profile.arrival.dispersion
    if not windows:
        raise CannotKnow(
            f"The profile states no dispersion of its counts, which --arrivals {asked.kind} needs; "
            "say --cv."
        )
    return float(max(windows[min(windows, key=float)], 1e-4) ** 0.5)
