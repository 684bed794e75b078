"""Windows of time: nothing is lost or counted twice."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from vramledger.diagnose.seen.windows import MOST, Windows, windows_over

moments = st.lists(st.floats(0, 100), min_size=1, max_size=40)


def test_there_are_windows_for_any_time() -> None:
    assert len(windows_over(0.0, 0.0)) == 1
    assert len(windows_over(0.0, 1e6)) == MOST
    assert len(windows_over(5.0, 11.0, 2.0)) == 3


@given(moments)
def test_every_moment_inside_is_counted_once(found: list[float]) -> None:
    windows = windows_over(0.0, 100.0, 7.0)
    assert windows.count(np.array(found)).sum() == len(found)


@given(st.lists(st.tuples(st.floats(0, 90), st.floats(0, 10)), min_size=1, max_size=30))
def test_the_mean_number_present_is_the_time_that_all_of_them_stay(
    stays: list[tuple[float, float]],
) -> None:
    windows = windows_over(0.0, 100.0, 3.0)
    begun = np.array([begin for begin, _ in stays])
    ended = begun + np.array([stay for _, stay in stays])
    present = windows.present(begun, ended)
    assert np.isclose((present * windows.widths_s).sum(), (ended - begun).sum())
    assert (present > -1e-9).all()


@given(st.lists(st.floats(0, 50), min_size=2, max_size=30), st.integers(1, 28))
def test_a_counter_that_restarts_loses_nothing_that_was_counted(
    steps: list[float], restart: int
) -> None:
    t_s = np.linspace(0.0, 100.0, len(steps) + 1)
    counted = np.concatenate(([0.0], np.cumsum(steps)))
    windows = Windows(np.linspace(0.0, 100.0, 11))
    grown = (windows.rate(t_s, counted) * windows.widths_s).sum()
    assert np.isclose(grown, sum(steps))
    at = min(restart, len(steps) - 1)
    begun_again = np.where(np.arange(len(counted)) > at, counted - counted[at], counted)
    again = (windows.rate(t_s, begun_again) * windows.widths_s).sum()
    assert again <= grown + 1e-6
    assert (windows.rate(t_s, begun_again) >= 0).all()


def test_a_mean_is_told_only_where_something_was_read() -> None:
    windows = Windows(np.array([0.0, 1.0, 2.0]))
    means = windows.mean(np.array([0.2, 0.4]), np.array([1.0, 3.0]))
    assert means[0] == 2.0
    assert np.isnan(means[1])
