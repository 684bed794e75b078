"""Theory beside the simulation: saturation, what the pool holds, Little's law."""

import numpy as np

from vramledger.frozen import frozen
from vramledger.simulate.answers import Answers
from vramledger.simulate.figures import Figures, seconds
from vramledger.simulate.groups import RecurrentState, SlidingWindow
from vramledger.simulate.offered import Offered
from vramledger.simulate.settings import Settings
from vramledger.simulate.step import Features
from vramledger.simulate.step_cost import StepCost
from vramledger.simulate.theory import (
    StepCost as LinearCost,
)
from vramledger.simulate.theory import (
    kv_feasible_concurrency,
    little_residual,
    saturation_requests_per_s,
)


@frozen
class Sanity:
    """Closed-form figures for requests of mean lengths without prefix hits, of all engines."""

    concurrency: float  # requests that the pool and the sequence cap let run
    saturation_per_s: float
    offered_per_s: float | None  # None where all arrive at once
    little_residual: float | None  # (L - rate W) / L of the simulation; None where nothing ended


def sanity_of(
    offered: Offered,
    figures: Figures,
    answers: Answers,
    settings: Settings,
    cost: StepCost,
    engines: int,
) -> Sanity:
    """The line's figures."""
    prompt = max(round(float(offered.input_tokens.mean())), 1)
    output = max(round(float(offered.output_tokens.mean())), 1)
    running = max(min(int(_held(settings, prompt, output)), settings.max_num_seqs), 1)
    rate = saturation_requests_per_s(_linear(cost, settings, running), running, [(prompt, output)])
    window = float(offered.due_ns[-1] - offered.due_ns[0]) / 1e9
    return Sanity(
        running * engines,
        rate * engines,
        (len(offered) - 1) / window if window > 0 else None,
        _residual(answers, figures),
    )


def _held(settings: Settings, prompt: int, output: int) -> float:
    """Requests with ages spread evenly whose blocks of all groups fill the pool.

    A full group takes what theory says on average; a window its own length, a state one block.
    """
    usable, size = settings.num_blocks - 1, settings.block_size
    alone = kv_feasible_concurrency(usable, size, prompt, output).staggered
    if not alone:
        return 0.0
    growing = usable / alone
    each = sum(
        min(-(-group.window // size) + 1, growing)
        if isinstance(group, SlidingWindow)
        else (1 if isinstance(group, RecurrentState) else growing)
        for group in settings.groups
    )
    return usable / each


def _linear(cost: StepCost, settings: Settings, running: int) -> LinearCost:
    """The step cost around `running` decodes, as theory takes it."""
    decodes = cost(Features(decode_tokens=running, decode_requests=running))
    budget = settings.token_budget
    prompts = cost(Features(prefill_tokens=budget, prefill_requests=1))
    step = 1 << 20
    context = cost(Features(decode_tokens=1, decode_requests=1, decode_context=step))
    context -= cost(Features(decode_tokens=1, decode_requests=1))
    constant = max(decodes, 1)
    return LinearCost(
        constant_s=constant / 1e9,
        prefill_token_s=max(prompts - constant, 0) / budget / 1e9,
        context_token_s=context / step / 1e9,
    )


def _residual(answers: Answers, figures: Figures) -> float | None:
    """Of the time that requests spend in the engines, by their own records and by the steps'."""
    stayed = figures.columns["done_s"] - seconds(figures.found["queued_ns"])
    known = stayed[~np.isnan(stayed) & (stayed > 0)]
    span, present = answers.levels.span_s, answers.levels.in_system
    if not len(known) or not span > 0 or not present > 0:
        return None
    return little_residual(present, len(known) / span, float(known.mean()))
