"""The step time as the simulator takes it: whole numbers, linear in contexts, a table by tokens.

What depends on the number of tokens alone (weights, experts reached, activations, collectives, launches)
becomes the table; contexts, attended pairs and requests get a coefficient each. A window counts as full,
which overstates contexts shorter than it.
"""

from collections.abc import Callable
from typing import Final

from vramledger.engine.vllm.deployment import Deployment
from vramledger.frozen import frozen
from vramledger.simulate.step_cost import StepCost, fixed
from vramledger.simulate.timing.coefficients import Fit, shipped
from vramledger.simulate.timing.step import Batch, Pricer
from vramledger.simulate.timing.work import work_of

_NANO: Final = 1e9
_FAR: Final = 1e6  # a context longer than any window


def engine_cost(deployment: Deployment, fit: Fit | None = None) -> StepCost:
    """The cost of this deployment's steps, by the shipped coefficients unless others are given.

    Raises:
        CannotKnow: the card's or the model's figures are missing.
    """
    c = (fit or shipped()).coefficients
    pricer = Pricer(work_of(deployment), c)
    sequences = deployment.max_num_seqs.value
    decode = _line(lambda context: pricer.step(Batch(1.0, context)).cache)
    prompt = _line(lambda context: pricer.step(Batch(0.0, 0.0, 1.0, context)).prompt_attention)
    return StepCost(
        constant=fixed(_head(pricer, 1) * _NANO),
        prefill_tokens=fixed(prompt.start * _NANO),
        prefill_requests=fixed(c.prefill_step_us * 1e3),
        prefill_pairs=fixed(prompt.slope * _NANO),
        decode_requests=fixed(
            (decode.start + c.request_us * 1e-6 + _head_slope(pricer, sequences)) * _NANO
        ),
        decode_context=fixed(decode.slope * _NANO),
        by_tokens=tuple(
            fixed(_by_tokens(pricer, tokens) * _NANO)
            for tokens in range(deployment.max_num_batched_tokens.value + 1)
        ),
    )


def _by_tokens(pricer: Pricer, tokens: int) -> float:
    """Seconds that depend on the tokens of the step alone; beyond the graphs the host may be late."""
    captured = tokens <= pricer.work.largest_graph
    batch = Batch(float(tokens)) if captured else Batch(0.0, prompt_tokens=float(tokens))
    step, c = pricer.step(batch), pricer.c
    counted_elsewhere = c.request_us * batch.decodes
    if batch.prompt_tokens:
        counted_elsewhere += c.prefill_step_us
    return step.total - step.head - step.cache - step.prompt_attention - counted_elsewhere * 1e-6


@frozen
class _Line:
    """Seconds that grow with the context by `slope` from `start`."""

    slope: float
    start: float


def _line(seconds: Callable[[float], float]) -> _Line:
    """The line through two contexts longer than any window."""
    near, far = seconds(_FAR), seconds(2 * _FAR)
    slope = (far - near) / _FAR
    return _Line(slope, max(near - slope * _FAR, 0.0))


def _head(pricer: Pricer, rows: int) -> float:
    return pricer.step(Batch(float(rows))).head


def _head_slope(pricer: Pricer, rows: int) -> float:
    return (_head(pricer, rows) - _head(pricer, 1)) / max(rows - 1, 1)
