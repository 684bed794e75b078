"""Queues of known rates, called by what they do; the large count is `make statistics`."""

from pathlib import Path
from typing import Any

import pytest

from queued_trials import queued_trial
from vramledger.accept.offered import read_offered
from vramledger.accept.queue import Course, queue_of
from vramledger.record.run import read_run


@pytest.mark.parametrize(
    ("course", "given"),
    [
        (Course.GROWS, {"service_s": 1.04}),
        (Course.DRAINS, {"service_s": 0.56}),
        (Course.DRAINS, {"service_s": 0.56, "burst": 100}),
    ],
)
def test_queues_are_called_by_what_they_do(
    tmp_path: Path, course: Course, given: dict[str, Any]
) -> None:
    for seed in range(6):
        run = queued_trial(tmp_path / str(seed), 1000, seed=100 + seed, **given)
        found = queue_of(read_offered(read_run(run)))
        assert found.course is course
        assert found.residual == pytest.approx(0, abs=0.1)


def test_a_backlog_that_falls_says_in_how_many_minutes_it_is_gone(tmp_path: Path) -> None:
    run = queued_trial(tmp_path / "run", 400, service_s=0.6, burst=400, pages=False)
    found = queue_of(read_offered(read_run(run)))
    assert found.course is Course.DRAINS
    assert found.minutes is not None
    assert 0 < found.minutes < 10
