from dataclasses import replace

import numpy as np
import pytest

from hosts import TRUTH, asked, believed, engine, measured
from vramledger.calibrate.accuracy import differences
from vramledger.calibrate.host_fit import fit_host
from vramledger.calibrate.observed import third_of_requests
from vramledger.calibrate.replay import replay
from vramledger.errors import CannotKnow


@pytest.mark.parametrize("rate_per_s", [3.0, 40.0])
def test_a_third_of_a_run_tells_the_times_of_the_rest(rate_per_s: float) -> None:
    run = measured(rate_per_s)
    until = third_of_requests(run)
    fit = fit_host(engine(), run, believed(), until)
    again = replay(engine(), run, fit.cost, first_step_ns=fit.first_step_ns)
    held_out = differences(run, again, ~run.finished_by(until))
    assert {name: one and abs(one.mean) < 0.03 for name, one in held_out.items()} == {
        "TTFT": True,
        "TPOT": True,
        "E2E": True,
    }


def test_a_price_that_the_run_tells_is_found_and_marked() -> None:
    run = measured(3.0)
    fit = fit_host(engine(), run, believed(), third_of_requests(run))
    reading = next(price for price in fit.prices if price.name == "reading")
    assert reading.identified
    assert reading.believed == 1.0
    assert reading.value == pytest.approx(TRUTH["reading"], rel=0.05)
    assert reading.low <= reading.value <= reading.high


def test_nothing_after_the_moment_is_looked_at() -> None:
    run = measured(3.0)
    until = third_of_requests(run)
    later = run.last_token_ns > until
    changed = replace(run, last_token_ns=np.where(later, run.last_token_ns * 3, run.last_token_ns))
    assert fit_host(engine(), run, believed(), until) == fit_host(
        engine(), changed, believed(), until
    )


def test_what_the_run_does_not_tell_stays_as_believed_and_says_so() -> None:
    run = measured(3.0)
    fit = fit_host(engine(), run, believed(), run.end_ns // 20)
    assert set(fit.identified) | set(fit.left_open) == {price.name for price in fit.prices}
    assert "prefill_pairs" in fit.left_open


def test_too_short_a_part_is_refused() -> None:
    run = measured(3.0)
    with pytest.raises(CannotKnow) as refused:
        fit_host(engine(), run, believed(), 1_000)
    assert str(refused.value) == (
        "Only 0 tokens are stamped in the first 0.0 s, too few to calibrate on; take a longer part of "
        "the run."
    )


def test_a_late_first_step_delays_whoever_had_come_by_then() -> None:
    load = asked(40.0)
    fit = fit_host(engine(), measured(40.0), believed(), third_of_requests(measured(40.0)))
    (late,) = replay(engine(), load, fit.cost, first_step_ns=2_000_000_000)
    assert late.found.steps["start_ns"][0] == 2_000_000_000
    assert (late.found.requests["queued_ns"] >= 2_000_000_000).all()
