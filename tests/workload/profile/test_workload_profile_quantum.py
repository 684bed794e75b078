"""The step of a log's times, from the distinct milliseconds of its arrivals."""

import numpy as np
import pytest

from vramledger.workload.profile.quantum import quantum_s


@pytest.mark.parametrize(
    ("times_ms", "step_s"),
    [
        (range(0, 60_000, 3000), 3.0),
        ([3000 * n + n % 2 for n in range(30)], 3.0),  # they waver by the log's own rounding
        ([1000 * n for n in range(60) if n % 7], 1.0),
        (range(0, 57_000, 3000), None),  # too few to tell
        (range(0, 2000, 50), None),  # finer than matters
        ([0, *(1000 + 137 * n for n in range(30))], None),
    ],
)
def test_times_are_quantised_where_all_gaps_are_multiples_of_one_step(
    times_ms: list[int], step_s: float | None
) -> None:
    shuffled = np.random.default_rng(1).permutation(np.array(times_ms, np.int64))
    assert quantum_s(shuffled) == step_s
