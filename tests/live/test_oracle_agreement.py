"""The simulator does what vLLM's own scheduler does, on fresh random cases of every kind."""

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from oracle.compare import difference
from oracle.engine import RealScheduler
from oracle.kinds import makers
from vramledger.simulate.oracle import answer_case

pytestmark = pytest.mark.live

_CASES = 15
_FIRST = secrets.randbelow(10**9)  # named in a failure, so that it can be run again


@pytest.fixture(scope="module")
def real(engine_python: Path) -> Iterator[RealScheduler]:
    with RealScheduler(engine_python) as scheduler:
        yield scheduler


@pytest.mark.parametrize("kind", [kind for kind, _make in makers()])
def test_schedules_as_the_real_scheduler_does(kind: str, real: RealScheduler) -> None:
    make = dict(makers())[kind]
    for number in range(_FIRST, _FIRST + _CASES):
        case = make(number)
        found = difference(answer_case(case), real.answer(case))
        assert not found, f"case {number} of the kind {kind!r}: {found}"
