"""A host with a step time that we know, and the run it would have had."""

from functools import cache

import numpy as np

from timing_questions import deployed
from vramledger.calibrate.accuracy import replayed_stamps
from vramledger.calibrate.observed import ABSENT, Observed
from vramledger.calibrate.prior import Prior, prior_of
from vramledger.calibrate.replay import replay
from vramledger.calibrate.terms import cost_of
from vramledger.ledger.account import build
from vramledger.simulate.from_deployment import settings_of
from vramledger.simulate.priced import typical_of
from vramledger.simulate.settings import Settings
from vramledger.simulate.timing.coefficients import shipped

_FLAGS = "--max-num-seqs 64 --max-num-batched-tokens 2048"
TRUTH = {
    "reading": 1.5,
    "computing": 1.4,
    "decode_requests": 2.0,
    "decode_context": 1.3,
    "mixed_context": 1.0,
    "prefill_step": 0.5,
    "prefill_pairs": 1.2,
    "first_step": 1.0,
}


@cache
def engine() -> Settings:
    pool = build(deployed(_FLAGS, version="0.19.0")).pool
    assert pool is not None
    return settings_of(deployed(_FLAGS, version="0.19.0"), pool, prefix_caching=True)


@cache
def believed() -> Prior:
    return prior_of(
        deployed(_FLAGS, version="0.19.0"), shipped().coefficients, typical_of(600, 200)
    )


@cache
def asked(rate_per_s: float, requests: int = 150) -> Observed:
    """Requests of many lengths that arrive at random; nothing has been stamped."""
    drawn = np.random.default_rng(7)
    gaps = drawn.exponential(1e9 / rate_per_s, requests).astype(np.int64)
    none = np.full(requests, ABSENT, np.int64)
    return Observed(
        arrival_ns=np.cumsum(gaps) - gaps[0],
        queued_ns=none,
        first_token_ns=none,
        last_token_ns=none,
        input_tokens=drawn.integers(50, 1500, requests),
        output_tokens=drawn.integers(2, 400, requests),
    )


@cache
def measured(rate_per_s: float) -> Observed:
    """The run of a host whose prices are `TRUTH` times what is believed."""
    prior = believed()
    prices = {name: price * TRUTH[name] for name, price in prior.prices.items()}
    load = asked(rate_per_s)
    return replayed_stamps(load, replay(engine(), load, cost_of(prices, prior.tables)))
