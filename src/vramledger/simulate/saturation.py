"""What an engine serves at most: requests a second when it always has as many as it holds.

Derived from the lengths of the requests themselves, without prefix hits and without computing anything again after a
preemption, which a load of long answers in a full pool adds. In each step of such an engine, on average:

- x requests begin and end. Each takes D decode steps after its first token and P steps with a part of its prompt, so that
  n = x (E[D] + E[P]) are there (Little's law in steps), and d = x E[D] of them decode. A prompt of I tokens
  has P = max(I / (budget - d), 1) steps, since d tokens of the budget are the decodes'.
- The budget bounds the prompts: x E[I] <= budget - d.
- The pool bounds n: a request holds the blocks of its tokens in each of its steps, and a long one has more of them, so that a
  request that is met in a step holds E[sum of blocks over its steps] / E[D + P]. Of the pool, what the next prompt
  waits for is free: E[b^2] / (2 E[b]) where prompts take b blocks, as in a renewal process inspected at any time.
- Prompts are in a share f of the steps: 1 - exp(-x E[P]) where they come one by one, and x E[I] / (budget - d) where they
  fill their steps; and in those without a decode.
- A step costs f c(d, its prompts / f) + (1 - f) c(d), and requests a second are x over that.

Source: mean-field reasoning from vLLM's rules; renewal theory as in L. Kleinrock, Queueing Systems I (1975), 5.2.
"""

from collections.abc import Callable, Mapping
from math import exp
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from vramledger.frozen import frozen
from vramledger.simulate.drafting import decode_steps
from vramledger.simulate.groups import RecurrentState, SlidingWindow
from vramledger.simulate.offered import Offered
from vramledger.simulate.settings import Settings
from vramledger.simulate.step import Features

if TYPE_CHECKING:
    Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

_MOST: Final = 1 << 16  # requests that are looked at; of more, as many at even distances
_ROUNDS: Final = 40  # of the fixed point, halving the distance each time
_FEWEST_PER_STEP: Final = 1e-12


@frozen
class Mix:
    """Requests that an engine serves, all equally likely: arrays of one length.

    `share` is how many of those offered are served; the engine rejects the others at no cost.
    """

    prompts: "Floats"  # tokens
    decodes: "Floats"  # steps after the one that brings the first token
    contexts: "Floats"  # tokens in the cache in such a step, mean
    decode_blocks: "Floats"  # of all groups in such a step, mean
    prompt_blocks: "Floats"  # of all groups when the prompt is computed
    share: float


@frozen
class Balance:
    """A step of a saturated engine, means; of one pipeline stage's batch where there are several."""

    requests: float  # that begin and end
    decodes: float
    prompt_tokens: float
    prompt_pairs: float
    context: float  # tokens in the cache of one that decodes
    mixed: float  # share of steps with prompts
    stages: int
    share: float  # of what is offered, served


def mix_of(offered: Offered, settings: Settings) -> Mix | None:
    """The requests that the engine does not reject, answers cut at its limit; None where it rejects all."""
    limit, size = settings.max_model_len, settings.block_size
    fits = offered.input_tokens < limit
    if not fits.any():
        return None
    prompts = _some(offered.input_tokens[fits])
    outputs = np.minimum(_some(offered.output_tokens[fits]), limit - prompts)
    steps = decode_steps_of(outputs, settings)
    last = prompts + outputs - 1
    grown = (_blocks_up_to(last, size) - _blocks_up_to(prompts - 1, size)) / outputs
    return Mix(
        prompts=prompts.astype(np.float64),
        decodes=(steps - 1).astype(np.float64),
        contexts=prompts + outputs / 2,
        decode_blocks=_of_groups(settings, grown),
        prompt_blocks=_of_groups(settings, -(-prompts // size)),
        share=float(fits.mean()),
    )


def decode_steps_of(outputs: "np.ndarray[Any, np.dtype[np.int64]]", settings: Settings) -> "Floats":
    """`decode_steps` of every answer."""
    different, places = np.unique(outputs, return_inverse=True)
    each = np.array([decode_steps(settings, int(tokens)) for tokens in different], np.float64)
    found: Floats = each[places]
    return found


def held(settings: Settings, mix: Mix) -> float:
    """Requests that the pool holds at once on average; the sequence cap is no part of it."""
    usable = settings.num_blocks - 1
    blocks = mix.prompt_blocks
    waited_for = float((blocks * blocks).mean() / (2 * blocks.mean()))
    running = decodes = 1.0
    for _ in range(_ROUNDS):
        prefills = _prefill_steps(settings, mix, decodes)
        steps = mix.decodes + prefills
        held_now = mix.decodes * mix.decode_blocks + prefills * blocks
        each = float(held_now.sum() / steps.sum())
        running = min(max((usable - waited_for) / each, 1.0), usable / each)
        asked = min(running, float(settings.max_num_seqs)) / settings.pipeline_stages
        decodes = (decodes + asked * float(mix.decodes.mean() / steps.mean())) / 2
    return running


def balance_of(settings: Settings, mix: Mix, at_once: float) -> Balance:
    """The step of an engine that always has `at_once` requests."""
    stages, prompt = settings.pipeline_stages, float(mix.prompts.mean())
    length, decodes = float(mix.decodes.mean()), 0.0
    for _ in range(_ROUNDS):
        steps = float(_prefill_steps(settings, mix, decodes).mean())
        room = _room(settings, decodes)
        requests = min(at_once / stages / (length + steps), room / prompt)
        decodes = (decodes + requests * length) / 2
    requests = max(requests, _FEWEST_PER_STEP)
    one_by_one = 1 - exp(-requests * steps)
    return Balance(
        requests=requests,
        decodes=decodes,
        prompt_tokens=requests * prompt,
        prompt_pairs=requests * float((mix.prompts * (mix.prompts + 1)).mean() / 2),
        context=float((mix.decodes * mix.contexts).sum() / max(mix.decodes.sum(), 1.0)),
        mixed=min(max(one_by_one, requests * prompt / room, 1 - decodes), 1.0),
        stages=stages,
        share=mix.share,
    )


def per_s(balance: Balance, settings: Settings, cost: Callable[[Features], int]) -> float:
    """Requests a second of the engine, those that it rejects among them; `cost` is nanoseconds of a step."""
    mixed = balance.mixed
    prompts = {
        "prefill_tokens": max(round(balance.prompt_tokens / mixed), 1),
        "prefill_requests": max(round(balance.requests / mixed), 1),
        "prefill_pairs": round(balance.prompt_pairs / mixed),
    }
    step_ns = mixed * _between(balance, settings, cost, prompts)
    if mixed < 1:
        step_ns += (1 - mixed) * _between(balance, settings, cost, {})
    served = balance.requests * balance.stages / max(step_ns / 1e9, 1e-9)
    return served / balance.share


def _between(
    balance: Balance,
    settings: Settings,
    cost: Callable[[Features], int],
    prompts: Mapping[str, int],
) -> float:
    """Nanoseconds of a step with these prompts, on the line between two whole numbers of decodes."""
    few = int(balance.decodes)

    def with_decodes(number: int) -> int:
        tokens = number * (1 + settings.drafts)
        context = round(number * balance.context)
        return cost(
            Features(
                **prompts,
                decode_tokens=tokens,
                decode_requests=number,
                decode_context=context,
            )
        )

    more = balance.decodes - few
    return (1 - more) * with_decodes(few) + more * with_decodes(few + 1)


def _room(settings: Settings, decodes: float) -> float:
    """Tokens of a step that are left to prompts."""
    return max(settings.token_budget - decodes * (1 + settings.drafts), 1.0)


def _prefill_steps(settings: Settings, mix: Mix, decodes: float) -> "Floats":
    chunk = _room(settings, decodes)
    if settings.long_prefill_threshold:
        chunk = min(chunk, float(settings.long_prefill_threshold))
    found: Floats = np.maximum(mix.prompts / chunk, 1.0)
    return found


def _some(values: "np.ndarray[Any, np.dtype[np.int64]]") -> "np.ndarray[Any, np.dtype[np.int64]]":
    if len(values) <= _MOST:
        return values
    return values[np.linspace(0, len(values) - 1, _MOST).astype(np.int64)]


def _blocks_up_to(tokens: "np.ndarray[Any, np.dtype[np.int64]]", block: int) -> Any:
    """Sum of ceil(t / block) for t from 1 to each number of tokens."""
    full, rest = np.divmod(tokens, block)
    return block * full * (full + 1) // 2 + rest * (full + 1)


def _of_groups(settings: Settings, growing: Any) -> "Floats":
    """Blocks of all groups where a full one takes so many."""
    size, blocks = settings.block_size, np.asarray(growing, np.float64)
    total = np.zeros(len(blocks))
    for group in settings.groups:
        if isinstance(group, SlidingWindow):
            total += np.minimum(-(-group.window // size) + 1, blocks)
        else:
            total += 1.0 if isinstance(group, RecurrentState) else blocks
    return total
