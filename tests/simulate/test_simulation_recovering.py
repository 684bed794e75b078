"""Steps in which preempted requests have not got back to where they were, held against the loop itself."""

from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from vramledger.simulate.columns import columns_of
from vramledger.simulate.engines import Engine
from vramledger.simulate.loop import simulate
from vramledger.simulate.numbering import numbered
from vramledger.simulate.recovering import recovering
from vramledger.simulate.request import Arrival, Request
from vramledger.simulate.rules import SchedulingRules
from vramledger.simulate.scheduler import Scheduler
from vramledger.simulate.settings import Settings
from vramledger.simulate.step import Step
from vramledger.simulate.step_cost import StepCost, fixed

COST = StepCost(constant=fixed(100), prefill_tokens=fixed(7))


class Watched:
    """One run of the plain loop, with who was preempted and who got tokens in which step."""

    def __init__(self, settings: Settings, arrivals: list[Arrival]) -> None:
        self.preempted: list[tuple[int, int]] = []  # rank, number of the step
        self.tokens: dict[int, list[int]] = defaultdict(list)
        self._had: dict[int, int] = defaultdict(int)
        outcome = simulate(settings, arrivals, COST, observe=self._observe)
        self.numbers = np.array([row.number for row in outcome.steps])
        found = numbered(columns_of(outcome))
        self.engine = Engine(np.arange(len(arrivals)), found, compiled=False)

    def _observe(self, step: Step, _ended: list[Request], _scheduler: Scheduler) -> None:
        self.preempted += [(request.rank, step.number) for request in step.preempted]
        for request in step.scheduled:
            if request.generated > self._had[request.rank]:
                self._had[request.rank] = request.generated
                self.tokens[request.rank].append(step.number)

    def recovered(self, *, spoke: bool) -> Any:
        """Steps from a preemption to the next token; of requests that had one and paused, or of all."""
        found = np.zeros(len(self.numbers), np.bool_)
        for rank, lost in self.preempted:
            tokens = self.tokens[rank]
            back = next((number for number in tokens if number >= lost), None)
            if back is None:
                continue
            steps = (self.numbers >= lost) & (self.numbers <= back)
            if not spoke or (tokens[0] < lost and steps.sum() > 1):
                found |= steps
        return found

    @property
    def young(self) -> bool:
        """Whether anybody was preempted before a token, and never after."""
        pauses = self.engine.found.pauses
        assert pauses is not None
        paused = set(pauses["rank"].tolist())
        return any(rank not in paused for rank, _ in self.preempted)


@st.composite
def runs(draw: st.DrawFn) -> Watched:
    settings = Settings(
        num_blocks=draw(st.integers(20, 50)),
        block_size=4,
        token_budget=draw(st.integers(8, 40)),
        max_num_seqs=draw(st.integers(2, 6)),
        max_model_len=70,
        prefix_caching=draw(st.booleans()),
        async_scheduling=draw(st.booleans()),
    )
    lengths = st.tuples(st.integers(0, 2_000), st.integers(1, 30), st.integers(1, 35))
    asked = draw(st.lists(lengths, min_size=3, max_size=15))
    return Watched(settings, [Arrival(at, given, answer) for at, given, answer in asked])


@examples(max_examples=100)
@given(runs())
def test_who_had_tokens_recovers_from_its_preemption_to_the_end_of_its_pause(run: Watched) -> None:
    assume(run.preempted)
    found = recovering(run.engine)
    assert found[run.recovered(spoke=True)].all()
    if not run.young:
        assert run.recovered(spoke=False)[found].all()


def test_who_had_none_recovers_until_its_first() -> None:
    settings = Settings(
        num_blocks=21, block_size=4, token_budget=16, max_num_seqs=4, max_model_len=80,
        prefix_caching=False, rules=SchedulingRules(whole_prompt_admission=False),
    )  # fmt: skip
    run = Watched(settings, [Arrival(0, 30, 20), Arrival(0, 55, 4)])
    assert run.young
    found = recovering(run.engine)
    assert found.any()
    assert (found == run.recovered(spoke=False)).all()


@pytest.mark.parametrize("caching", [False, True])
def test_nobody_recovers_where_nobody_was_preempted(*, caching: bool) -> None:
    settings = Settings(
        num_blocks=200, block_size=4, token_budget=16, max_num_seqs=4, max_model_len=80,
        prefix_caching=caching,
    )  # fmt: skip
    run = Watched(settings, [Arrival(0, 30, 20), Arrival(0, 40, 4)])
    assert not recovering(run.engine).any()
