"""A deployment's step time in the fixed-point form that the loops take.

This is no timing model of its own: it samples `timing.step.Pricer` and keeps what has the form of
`step_cost.StepCost`. What depends on the tokens of a step (weights, experts, activations, links,
launches, the host's share) becomes the table by tokens, exactly; attention of full layers is linear
in pairs and context, exactly. Two things are approximated:

- layers that read no more than a window (or a sparse choice) of their context get the straight line
  between two contexts of the load;
- the head, whose rows are the requests of the step, gets the straight line up to `_HEAD_ROWS` rows.

What prompts add to a step's host (its work, and the wait for launches outside a graph) is taken from a
step of `_SMALL_STEP` tokens; steps of more tokens than max_num_seqs, which all have prompts, are exact.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Final

from vramledger.frozen import frozen
from vramledger.simulate.step_cost import StepCost, fixed
from vramledger.simulate.timing.coefficients import Coefficients
from vramledger.simulate.timing.step import Batch, Pricer
from vramledger.simulate.timing.work import Work

_NANO: Final = 1e9
_HEAD_ROWS: Final = 256
_EXACT: Final = (
    2048  # tokens up to which every size of a step is priced; beyond, every `_STRIDE`-th
)
_STRIDE: Final = 64
_SMALL_STEP: Final = 128


@frozen
class Typical:
    """Two contexts, in tokens, between which most of a load's work lies; the first is the smaller."""

    short: float
    long: float


def typical_of(mean_input: float, mean_output: float) -> Typical:
    """The contexts of a load of such means: half a prompt, and a whole request."""
    short = max(mean_input / 2, 1.0)
    return Typical(short, max(mean_input + mean_output, short + 1))


def step_cost(
    work: Work, coefficients: Coefficients, typical: Typical, max_num_seqs: int
) -> StepCost:
    """The cost of a step of that work, of all pipeline stages one after another."""
    pricer = Pricer(work, coefficients)
    decode = _line(pricer, typical, _decode)
    prompt = _line(pricer, typical, _prompt)
    head = pricer.step(Batch(_HEAD_ROWS)).head - pricer.step(Batch(0)).head
    row = head / _HEAD_ROWS
    request = coefficients.request_us * 1e-6
    prefill_step = _prefill_step(pricer, typical, max_num_seqs)
    return StepCost(
        constant=fixed(pricer.step(Batch(0)).head * _NANO),
        prefill_tokens=fixed(prompt.fixed * _NANO),
        prefill_requests=fixed(row * _NANO),
        prefill_pairs=fixed(prompt.slope * _NANO),
        decode_requests=fixed((decode.fixed + row + request) * _NANO),
        decode_context=fixed(decode.slope * _NANO),
        prefill_step=fixed(prefill_step * _NANO),
        by_tokens=_by_tokens(pricer, typical, max_num_seqs, prefill_step),
    )


@frozen
class _Line:
    """Seconds of one token: a fixed part, and one for each token of context."""

    fixed: float
    slope: float


def _decode(pricer: Pricer, context: float) -> float:
    return pricer.step(Batch(1, context)).cache


def _prompt(pricer: Pricer, context: float) -> float:
    return pricer.step(Batch(0, prompt_tokens=1, prompt_context=context)).prompt_attention


def _line(pricer: Pricer, typical: Typical, seconds: Callable[[Pricer, float], float]) -> _Line:
    """Through the seconds at both contexts."""
    first, last = seconds(pricer, typical.short), seconds(pricer, typical.long)
    slope = (last - first) / (typical.long - typical.short)
    return _Line(first - slope * typical.short, slope)


def _prefill_step(pricer: Pricer, typical: Typical, max_num_seqs: int) -> float:
    """Seconds that a small step takes longer for having prompts among its tokens."""
    tokens = min(_SMALL_STEP, max_num_seqs, pricer.work.budget)
    decodes, prompts = _decodes(typical, tokens), _prompts(typical, tokens)
    return _shared(pricer, prompts) - _shared(pricer, decodes)


def _by_tokens(
    pricer: Pricer, typical: Typical, max_num_seqs: int, prefill_step: float
) -> tuple[int, ...]:
    """What depends on the tokens of a step alone, in fixed point, from 0 tokens to the budget."""
    budget = pricer.work.budget
    sizes = [*range(min(_EXACT, budget) + 1), *range(_EXACT + _STRIDE, budget, _STRIDE), budget]
    known = {}
    for size in sizes:
        if size <= max_num_seqs:
            seconds = _shared(pricer, _decodes(typical, size))
        else:
            seconds = _shared(pricer, _prompts(typical, size)) - prefill_step
        known[size] = fixed(seconds * _NANO)
    ordered = sorted(known)
    table = [known[ordered[0]]]
    for low, high in pairwise(ordered):
        rise, steps = known[high] - known[low], high - low
        table += [known[low] + rise * step // steps for step in range(1, steps + 1)]
    return tuple(table)


def _decodes(typical: Typical, tokens: int) -> Batch:
    return Batch(tokens, typical.long)


def _prompts(typical: Typical, tokens: int) -> Batch:
    return Batch(0, prompt_tokens=tokens, prompt_context=typical.short, prompts=1)


def _shared(pricer: Pricer, batch: Batch) -> float:
    """Seconds of a step without attention, head and what each request adds."""
    found = pricer.step(batch)
    requests = pricer.c.request_us * 1e-6 * batch.decodes
    return found.total - found.cache - found.prompt_attention - found.head - requests
