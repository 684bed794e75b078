"""What queueing theory says without a simulation: waits, saturation, Little's law, what the KV pool holds.

The simulator is tested against these, and reports print them as a sanity line. Times are seconds,
rates are per second; arrivals are Poisson (M), served first come, first served.

Sources: L. Kleinrock, Queueing Systems I (1975) for M/G/1 (Pollaczek 1930, Khinchine 1932); J. D. C. Little,
Oper. Res. 9 (1961) 383-387. `multi_server` has queues with several servers.
"""

import math
from collections.abc import Sequence

from vramledger.errors import BadInput
from vramledger.frozen import frozen


@frozen
class Service:
    """The time one server takes for one request: its mean and its second moment, E[S] and E[S^2]."""

    mean_s: float
    second_moment_s2: float

    def __post_init__(self) -> None:
        _positive("the mean service time", self.mean_s)
        least = self.mean_s**2
        if not least * (1 - 1e-9) <= self.second_moment_s2 < math.inf:
            raise BadInput(
                f"The second moment of the service time is {self.second_moment_s2:g} s2, and no time "
                f"with mean {self.mean_s:g} s has one below {least:g} s2; give E[S^2], not a variance."
            )

    @property
    def variability(self) -> float:
        """Squared coefficient of variation: 0 for a fixed time, 1 for an exponential one."""
        return max(0.0, self.second_moment_s2 / self.mean_s**2 - 1)


@frozen
class Wait:
    """The mean time in the queue before service begins; infinite where the queue grows without bound."""

    mean_s: float
    utilisation: float
    how: str  # which formula, and whether it is exact

    @property
    def bounded(self) -> bool:
        """Whether the queue has a steady state."""
        return self.mean_s < math.inf


def fixed(service_s: float) -> Service:
    """A service that always takes the same time."""
    return Service(service_s, service_s * service_s)


def exponential(mean_s: float) -> Service:
    """A service of exponential length."""
    return Service(mean_s, 2 * mean_s * mean_s)


def service_of(times_s: Sequence[float]) -> Service:
    """The service whose moments are those of observed times.

    Raises:
        BadInput: no times, or a time below 0.
    """
    if not times_s or min(times_s) < 0:
        raise BadInput("Service times are at least one number, none below 0; give those observed.")
    count = len(times_s)
    return Service(math.fsum(times_s) / count, math.fsum(time * time for time in times_s) / count)


def mg1_wait(rate_per_s: float, service: Service) -> Wait:
    """M/G/1, exact (Pollaczek-Khinchine): W = rate E[S^2] / (2 (1 - utilisation)).

    Raises:
        BadInput: the rate is not above 0.
    """
    utilisation = utilisation_of(rate_per_s, service, 1)
    if utilisation >= 1:
        return unbounded(utilisation)
    mean = rate_per_s * service.second_moment_s2 / (2 * (1 - utilisation))
    return Wait(mean, utilisation, "M/G/1, exact (Pollaczek-Khinchine)")


def md1_wait(rate_per_s: float, service_s: float) -> Wait:
    """M/D/1, exact: M/G/1 with a fixed service time, W = utilisation S / (2 (1 - utilisation)).

    Raises:
        BadInput: the rate or the time is not above 0.
    """
    return mg1_wait(rate_per_s, fixed(service_s))


def utilisation_of(rate_per_s: float, service: Service, servers: int) -> float:
    """Work offered a second and server; from 1 on no queue is stable.

    Raises:
        BadInput: the rate or the servers are not above 0.
    """
    _positive("the arrival rate", rate_per_s)
    _count("the number of servers", servers)
    return rate_per_s * service.mean_s / servers


def saturation_rate_per_s(service: Service, servers: int) -> float:
    """Requests a second that keep every server busy: c / E[S]. No more can be served for long.

    Raises:
        BadInput: no servers.
    """
    _count("the number of servers", servers)
    return servers / service.mean_s


@frozen
class LinearCost:
    """Seconds of an engine's step: a constant, and what each token of a kind adds.

    Context tokens are those whose KV cache a decoding request reads in the step.
    """

    constant_s: float
    prefill_token_s: float = 0.0
    decode_token_s: float = 0.0
    context_token_s: float = 0.0

    def __post_init__(self) -> None:
        _positive("the constant time of a step", self.constant_s)
        parts = (self.prefill_token_s, self.decode_token_s, self.context_token_s)
        if not all(0 <= part < math.inf for part in parts):
            raise BadInput("A token adds 0 s or more to a step; give times that are not below 0.")


def saturation_requests_per_s(
    cost: LinearCost, running: int, lengths: Sequence[tuple[int, int]]
) -> float:
    """Requests a second of one engine that always has `running` requests; derived, from work per request.

    `lengths` are (input, output) tokens of requests, all equally likely. A request of I and O tokens
    takes part in O steps: one with its whole prompt, then O - 1 that each add a token. In a second,

        1 = X (constant E[O] / running + prefill E[I] + decode E[O - 1] + context E[(O - 1) (I + O / 2)]).

    Raises:
        BadInput: nobody runs, no lengths, or a length below 1.
    """
    _count("the number of running requests", running)
    if not lengths or min(map(min, lengths)) < 1:
        raise BadInput(
            "Requests have an input and an output of 1 token or more; give such lengths."
        )
    work = math.fsum(
        cost.constant_s * output / running
        + cost.prefill_token_s * prompt
        + cost.decode_token_s * (output - 1)
        + cost.context_token_s * (output - 1) * (prompt + output / 2)
        for prompt, output in lengths
    )
    return len(lengths) / work


def little_residual(in_system: float, rate_per_s: float, time_s: float) -> float:
    """How far (L - rate W) / L is from Little's law, L = rate W: 0 in any steady state.

    `in_system` is the mean number of requests over time, `time_s` the mean time that each spends. Over
    a window, a residual above 0 says that requests were left over at its end: a queue that grows.

    Raises:
        BadInput: a figure is not above 0.
    """
    _positive("the mean number in the system", in_system)
    _positive("the rate", rate_per_s)
    _positive("the mean time in the system", time_s)
    return 1 - rate_per_s * time_s / in_system


@frozen
class Feasible:
    """How many equal requests a KV pool holds at once.

    `at_peak` all at their full length, so that none is ever preempted; `staggered` with ages spread
    evenly over their steps: their mean blocks fill the pool, so that more than this cannot last. Both
    are 0 where the pool cannot hold even one.
    """

    at_peak: int
    staggered: float


def kv_feasible_concurrency(
    blocks: int, block_tokens: int, input_tokens: int, output_tokens: int
) -> Feasible:
    """Requests that `blocks` usable blocks hold; derived, full attention, no prefix shared.

    After its first step a request holds its prompt, before its end all tokens but the last, which is
    never computed: ceil((I + O - 1) / block) blocks at most.

    Raises:
        BadInput: a count below 1.
    """
    _count("the number of blocks", blocks)
    _count("the tokens of a block", block_tokens)
    _count("the input tokens", input_tokens)
    _count("the output tokens", output_tokens)
    longest = input_tokens + output_tokens - 1
    held = _blocks_up_to(longest, block_tokens) - _blocks_up_to(input_tokens - 1, block_tokens)
    at_peak = blocks // -(-longest // block_tokens)
    return Feasible(at_peak, blocks * output_tokens / held if at_peak else 0.0)


def token_ceiling(blocks: int, block_tokens: int) -> int:
    """Most tokens that can have KV cache at once, whatever runs: blocks x tokens of a block.

    Raises:
        BadInput: a count below 1.
    """
    _count("the number of blocks", blocks)
    _count("the tokens of a block", block_tokens)
    return blocks * block_tokens


def _blocks_up_to(tokens: int, block: int) -> int:
    """Sum of ceil(t / block) for t from 1 to `tokens`."""
    full, rest = divmod(tokens, block)
    return block * full * (full + 1) // 2 + rest * (full + 1)


def unbounded(utilisation: float) -> Wait:
    """The wait where more arrives than is served."""
    return Wait(
        math.inf,
        utilisation,
        f"infinite: a utilisation of {utilisation:.3g} is not below 1, and the queue grows without bound",
    )


def _positive(what: str, value: float) -> None:
    if not 0 < value < math.inf:
        raise BadInput(f"{what[0].upper()}{what[1:]} is {value:g}; it must be a number above 0.")


def _count(what: str, value: int) -> None:
    if value < 1:
        raise BadInput(f"{what[0].upper()}{what[1:]} is {value}; it must be a whole number from 1.")
