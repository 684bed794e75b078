"""People become requests in flight."""

import pytest

from vramledger.errors import BadInput, UnknownName
from vramledger.evidence import Basis
from vramledger.plan.factors import FACTORS
from vramledger.sizing.people import poisson_quantile, traffic


def test_littles_law_gives_the_mean_in_flight() -> None:
    changed = {
        "active-share": 1.0,
        "requests-per-hour": 60.0,
        "peak-factor": 1.0,
        "tokens-per-second": 20.0,
        "first-token-seconds": 2.0,
    }
    result = traffic(60, 400.0, changed)
    assert result.requests_per_s.value == pytest.approx(1.0)
    assert result.seconds_per_request.value == pytest.approx(22.0)
    assert result.in_flight_mean.value == pytest.approx(22.0)
    assert result.in_flight_mean.is_sharp
    assert result.in_flight_peak.value == 34  # Poisson(22): P(N <= 33) = 0.989, P(N <= 34) = 0.994


def test_assumed_factors_carry_their_band() -> None:
    result = traffic(60, 300.0)
    peak = result.in_flight_peak
    assert peak.basis is Basis.ASSUMED
    assert peak.low < peak.value < peak.high
    assert result.factors == FACTORS


def test_an_unknown_factor_is_refused_by_name() -> None:
    with pytest.raises(UnknownName) as caught:
        traffic(60, 300.0, {"request-per-hour": 3.0})
    assert str(caught.value) == (
        "Unknown factor 'request-per-hour'; the nearest known one is requests-per-hour."
    )


def test_a_factor_out_of_range_is_refused() -> None:
    with pytest.raises(BadInput) as caught:
        traffic(60, 300.0, {"active-share": 1.2})
    assert str(caught.value) == (
        "The factor active-share is 1.2; it must be between 0 and 1 "
        "(share of the people who use it in the busy hour)."
    )


def test_nobody_is_refused() -> None:
    with pytest.raises(BadInput, match=r"^The number of people is 0; it must be at least 1\.$"):
        traffic(0, 300.0)


@pytest.mark.parametrize(("mean", "expected"), [(0.0, 0), (1.0, 4), (10.0, 18), (100.0, 124)])
def test_poisson_quantiles_match_the_tables(mean: float, expected: int) -> None:
    assert poisson_quantile(mean, 0.99) == expected


def test_the_normal_approximation_joins_the_exact_sum() -> None:
    assert abs(poisson_quantile(500.1, 0.99) - poisson_quantile(499.9, 0.99)) <= 2


def test_nobody_active_still_peaks_at_one_request() -> None:
    result = traffic(1, 300.0, {"active-share": 0.0})
    assert result.in_flight_mean.value == 0
    assert result.in_flight_peak.value == 1
