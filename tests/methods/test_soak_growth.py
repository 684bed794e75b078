"""What is called growth, what holds, and what would decide the rest."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vramledger.methods.soak.growth import MEASURES, Growth, Standing, growths, settled
from vramledger.methods.soak.segment import Segment

EVERY_S = 600.0
GIB = float(1 << 30)


def segments(count: int, **figures: Callable[[int], float]) -> list[Segment]:
    names = [measure.name for measure in MEASURES]
    found = []
    for number in range(count):
        told: dict[str, Any] = dict.fromkeys(names)
        told |= {name: of(number) for name, of in figures.items()}
        found.append(
            Segment(f"s{number}", number * EVERY_S, "cut", 10, 10, restarted=False, **told)
        )
    return found


def only(found: tuple[Growth, ...]) -> Growth:
    (one,) = found
    return one


def noise(seed: int, share: float) -> Callable[[int], float]:
    draws = np.random.default_rng(seed).normal(1.0, share, 1000)
    return lambda number: float(draws[number])


def test_a_leak_of_half_a_percent_is_growth_and_has_its_size() -> None:
    wobble = noise(1, 1e-4)
    found = only(
        growths(segments(24, process_bytes=lambda n: GIB * wobble(n) * (1 + 0.005 * n / 24)))
    )
    assert found.standing is Standing.GROWS
    assert found.share == pytest.approx(0.005 * 22 / 24, rel=0.3)
    assert found.p is not None
    assert found.p < 0.05


def test_a_figure_that_cannot_have_grown_by_what_matters_holds() -> None:
    wobble = noise(2, 1e-3)
    found = only(growths(segments(24, process_bytes=lambda n: GIB * wobble(n))))
    assert found.standing is Standing.HOLDS
    assert found.needs_s is None


def test_a_noisy_figure_is_open_and_says_how_long_would_decide() -> None:
    wobble = noise(3, 0.2)
    found = only(growths(segments(24, e2e_p50_s=wobble)))
    assert found.standing is Standing.OPEN
    assert found.needs_s is not None
    assert found.needs_s > 22 * EVERY_S


def test_too_few_segments_decide_nothing() -> None:
    found = only(growths(segments(8, process_bytes=lambda n: GIB + n)))
    assert (found.standing, found.why) == (
        Standing.OPEN,
        "only 7 segments tell it, and a trend needs 12",
    )


def test_the_beginning_is_left_out() -> None:
    assert len(settled(segments(24))) == 22
    settling = only(growths(segments(24, process_bytes=lambda n: GIB if n > 1 else GIB / 2)))
    assert settling.standing is Standing.HOLDS


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_what_falls_never_grows(seed: int) -> None:
    wobble = noise(seed, 1e-3)
    found = only(growths(segments(16, gpu_bytes=lambda n: GIB * wobble(n) * (1 - 0.01 * n))))
    assert found.standing is not Standing.GROWS


def test_steady_figures_are_seldom_called_growing_together() -> None:
    calls = 0
    for seed in range(100):
        told = growths(
            segments(
                24,
                process_bytes=noise(2 * seed, 0.01),
                e2e_p50_s=noise(2 * seed + 1, 0.3),
                idle_kv_usage=noise(seed + 500, 0.05),
            )
        )
        calls += any(each.standing is Standing.GROWS for each in told)
    assert calls <= 12  # of 100 at 5 %, more come with a probability of 0.1 %
