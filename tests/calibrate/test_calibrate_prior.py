import numpy as np
import pytest

from hosts import believed
from timing_questions import deployed
from vramledger.calibrate.prior import prior_of
from vramledger.calibrate.terms import TERMS, cost_of
from vramledger.errors import CannotKnow
from vramledger.simulate.priced import step_cost, typical_of
from vramledger.simulate.step import Features
from vramledger.simulate.timing.coefficients import shipped
from vramledger.simulate.timing.work import work_of

_STEPS = (
    Features(0, 0, 0, 1, 1, 800),
    Features(0, 0, 0, 200, 200, 200 * 700),
    Features(300, 1, 300 * 150, 20, 20, 20 * 700),
    Features(8192, 3, 8192 * 2000, 0, 0, 0),
)


@pytest.mark.parametrize("model", ["meta-llama/Llama-3.1-8B", "Qwen/Qwen3-30B-A3B"])
def test_a_host_of_which_nothing_is_known_has_the_shipped_step_time(model: str) -> None:
    deployment, typical = deployed(model=model, version="0.19.0"), typical_of(600, 200)
    prior = prior_of(deployment, shipped().coefficients, typical)
    shipped_cost = step_cost(
        work_of(deployment), shipped().coefficients, typical, deployment.max_num_seqs.value
    )
    own = cost_of(prior.prices, prior.tables)
    for features in _STEPS:
        assert own(features) == pytest.approx(shipped_cost(features), rel=0.01)


def test_reading_does_not_grow_with_tokens_of_a_dense_model() -> None:
    tables = believed().tables
    assert np.ptp(tables.reading) == pytest.approx(0, abs=1)
    assert (np.diff(tables.computing) >= -1).all()
    assert tables.computing[0] == pytest.approx(0, abs=tables.reading[0] * 0.01)


def test_reading_grows_with_the_experts_that_are_reached() -> None:
    prior = prior_of(
        deployed(model="Qwen/Qwen3-30B-A3B"), shipped().coefficients, typical_of(600, 200)
    )
    assert prior.tables.reading[64] > 2 * prior.tables.reading[1]
    assert prior.tables.reading[-1] == prior.tables.reading[512]


def test_prices_are_those_of_the_terms_in_their_order() -> None:
    names = [term.name for term in TERMS]
    assert list(believed().prices) == list(believed().spreads) == names
    assert all(spread > 0 for spread in believed().spreads.values())


def test_pipeline_stages_are_refused() -> None:
    with pytest.raises(CannotKnow, match="The steps of 2 pipeline stages overlap"):
        prior_of(deployed("-pp 2"), shipped().coefficients, typical_of(600, 200))
