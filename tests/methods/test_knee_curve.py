"""The knee of a curve, where a closed form says where it is."""

from collections.abc import Callable
from math import sqrt

import pytest

from made_up_subjects import MadeUp, up_to
from vramledger.methods.knee.curve import drawn
from vramledger.methods.knee.probes import Probes
from vramledger.methods.subject import Figures, Range
from vramledger.simulate.theory import exponential, fixed, mg1_wait


def queue(service: Callable[[float], object], seconds: float) -> Callable[[float], Figures]:
    """Figures of one server that takes so long a request, at a level of so many requests a second."""

    def figures(level: float) -> Figures:
        if level * seconds >= 1:
            return Figures(level, 1 / seconds, e2e_mean_s=1000 * level * seconds)  # of a finite run
        wait = mg1_wait(level, service(seconds)).mean_s  # type: ignore[arg-type]
        return Figures(level, level, e2e_mean_s=wait + seconds)

    return figures


@pytest.mark.parametrize(
    ("service", "at"), [(exponential, 0.5), (fixed, 2 - sqrt(2))], ids=["M/M/1", "M/D/1"]
)
@pytest.mark.parametrize("around", [0.05, 0.3, 1.0, 5.0])
@pytest.mark.parametrize("seconds", [0.1, 2.0])
def test_the_knee_of_a_queue_is_where_the_closed_form_says(
    service: Callable[[float], object], at: float, around: float, seconds: float
) -> None:
    subject = MadeUp(up_to(1), Range(1.0, 1e-4, 1e4), figures=queue(service, seconds))
    knee = drawn(Probes(subject, lambda _done, _of_all: None), around / seconds)
    assert knee is not None
    assert knee.below is not None
    assert knee.above is not None
    assert knee.below.level < at / seconds < knee.above.level
    assert knee.above.level < knee.below.level * 1.5


def test_a_curve_that_only_rises_has_no_knee() -> None:
    subject = MadeUp(up_to(1), Range(1.0, 0.01, 4.0))
    knee = drawn(Probes(subject, lambda _done, _of_all: None), 1.0)
    assert knee is not None
    assert knee.point.level == 4.0
    assert knee.above is None


def test_where_nothing_is_answered_there_is_no_knee() -> None:
    subject = MadeUp(up_to(1), figures=lambda level: Figures(level, 0.0))
    assert drawn(Probes(subject, lambda _done, _of_all: None), 1.0) is None
