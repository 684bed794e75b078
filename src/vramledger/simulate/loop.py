"""Requests through one engine by the plain loop, one Python step at a time."""

from collections.abc import Sequence

from vramledger.errors import BadInput
from vramledger.simulate.engine_loop import Cost, EngineLoop, Observer
from vramledger.simulate.outcome import Outcome
from vramledger.simulate.policy import Policy
from vramledger.simulate.request import Arrival
from vramledger.simulate.scheduler import Scheduler
from vramledger.simulate.settings import Settings


def simulate(
    settings: Settings,
    arrivals: Sequence[Arrival],
    cost: Cost,
    *,
    policy: Policy | None = None,
    seed: int = 0,
    observe: Observer | None = None,
) -> Outcome:
    """Run requests through one engine until all have ended or none can go on.

    Args:
        settings: the scheduler's arguments.
        arrivals: the requests in any order; equal times keep the order given.
        cost: nanoseconds of a step, a whole number of at least 0, from its features.
        policy: how requests are admitted and evicted; vLLM's by default.
        seed: decides which drafts are accepted.
        observe: told every step once its tokens are back.

    Raises:
        BadInput: for arrivals that mean nothing, or a cost that is no such number.
    """
    for number, arrival in enumerate(arrivals):
        refuse_nonsense(number, arrival)
    engine = EngineLoop(Scheduler(settings, policy, seed), cost, observe)
    for arrival in sorted(arrivals, key=lambda one: one.arrival_ns):
        engine.send(arrival)
    return engine.finish()


def refuse_nonsense(number: int, arrival: Arrival) -> None:
    """Raises `BadInput` for an arrival that means nothing."""
    if arrival.arrival_ns < 0:
        raise BadInput(
            f"Request {number} arrives at {arrival.arrival_ns} ns, before the start; count times from the first arrival."
        )
    if arrival.input_tokens < 1 or arrival.output_tokens < 1:
        raise BadInput(
            f"Request {number} has {arrival.input_tokens} input and {arrival.output_tokens} output tokens, but needs at least one of each."
        )
    if arrival.salt < 0:
        raise BadInput(
            f"Request {number} has the prefix salt {arrival.salt}, but salts count from 0; give another."
        )
    if arrival.cancel_after_ns is not None and arrival.cancel_after_ns < 0:
        raise BadInput(
            f"Request {number} is cancelled {arrival.cancel_after_ns} ns after it arrives, which is before; give 0 or more."
        )
