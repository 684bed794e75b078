"""The profile of a workload: a small record of figures, and its JSON.

Every figure is made of whole-number counts and sums, so that any engine that can count gives the
same profile. Names are those of the JSON, units stand in them. None means "not known"; `unknown`
says why.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final

from vramledger.frozen import frozen

SCHEMA: Final = "vramledger.profile/1"


@frozen
class Lengths:
    """One length over the requests that have it.

    Percentiles interpolate linearly between order statistics (rank p x (n - 1), as numpy's default).
    `quantiles` has 1,001 values: at 0, 0.001, ..., 1 (none in scenarios). `bins` are pairs of a bin of `bins.EDGES` and
    its requests, exact, for the bins that have any.
    """

    count: int
    total: int
    mean: float
    min: int
    p10: float
    p25: float
    p50: float
    p75: float
    p90: float
    p95: float
    p99: float
    p999: float
    max: int
    quantiles: tuple[float, ...] = ()
    bins: tuple[tuple[int, int], ...] = ()


@frozen
class Cell:
    """Requests of one input bin and one output bin, with their exact totals."""

    input_bin: int  # index into `bins.EDGES`
    output_bin: int
    requests: int
    input_total: int
    output_total: int


@frozen
class Joint:
    """The joint histogram of input and output over the requests that have both."""

    cells: tuple[Cell, ...]  # sorted by input_bin, output_bin; only those with requests
    longest_input: int  # of the request with the most input and output together
    longest_output: int

    @property
    def requests(self) -> int:
        return sum(cell.requests for cell in self.cells)


@frozen
class Burst:
    """A stretch of time in which far more arrived than the mean."""

    start_s: int
    seconds: int
    requests: int
    per_s: float


@frozen
class Arrival:
    """When requests come. All None or empty where the log has no times."""

    span_s: float | None = None  # first to last arrival
    mean_per_s: float | None = None
    peak_per_s: int | None = None  # the busiest whole second
    dispersion: Mapping[str, float] = field(
        default_factory=dict
    )  # variance / mean of counts, by window in s
    empty: Mapping[str, int] = field(
        default_factory=dict
    )  # whole windows without a request, by window in s
    per_step: tuple[int, ...] = ()  # requests in each `step_s` from arrival_s 0
    step_s: int = 60  # of `arrivals.STEPS_S`: a minute, wider where a log is of weeks
    hour_of_week: tuple[int, ...] = ()  # 168 counts from Monday 00:00; () without a clock
    bursts: tuple[Burst, ...] = ()  # the largest first, at most 20
    quantum_s: float | None = None  # the step of the times where they are quantised


@frozen
class Reuse:
    """What a prefix cache of one block size and no end could serve."""

    block_tokens: int
    reusable_tokens: int
    share: float  # of all input tokens


@frozen
class Prefix:
    """Sharing of prompt beginnings, of the workload's blocks."""

    block_tokens: int | None = None
    blocks: int = 0  # references to full blocks
    distinct: int = 0
    reuse: tuple[Reuse, ...] = ()  # at block_tokens and its doublings
    shared_blocks: tuple[
        tuple[int, int, int], ...
    ] = ()  # (input bin, full blocks seen before, requests)
    cached_share: float | None = None  # of input tokens that the source's own cache served


@frozen
class Holding:
    """Who holds the KV cache: token-steps, by length of request.

    A request of i input and o output tokens holds i + k tokens at its k-th decoding step, together
    o x i + o x (o + 1) / 2. Steps are taken as equally long (assumed).
    """

    token_steps: int
    longest_1_percent: float | None  # share of token_steps held by the longest 1 % of requests
    curve: tuple[tuple[float, float], ...] = ()  # (share of requests, longest first; share held)


@frozen
class Concurrency:
    """Requests in flight at whole seconds, where the log has durations."""

    requests: int  # with a duration
    mean: float
    p50: float
    p95: float
    p99: float
    max: int


@frozen
class Sessions:
    """Conversations, where the log names them."""

    count: int
    turns: tuple[tuple[int, int], ...]  # (turns of a session, sessions)
    think_s: tuple[float, ...] = ()  # 101 quantiles of the time between turns
    carried: float | None = None  # of later turns' input tokens, the share that the turn before had


@frozen
class ContextLimit:
    """What a limit on input + output would do to these requests."""

    limit: int
    refused: int  # input alone does not fit
    cut: int  # the answer would be cut short of what it was
    over_budget: int | None  # input + the limit the request asked for does not fit


@frozen
class Slice:
    """A scenario: a named slice of the workload, with the figures sizing needs."""

    name: str
    definition: str
    start_s: float | None
    seconds: float | None
    requests: int
    mean_per_s: float | None
    input_tokens: Lengths | None
    output_tokens: Lengths | None
    joint: Joint | None
    mean_duration_s: float | None = None


@frozen
class Profile:
    """All of it."""

    requests: int
    input_tokens: Lengths | None = None
    output_tokens: Lengths | None = None
    total_tokens: Lengths | None = None  # input and output together
    thinking_tokens: Lengths | None = None
    max_output_tokens: Lengths | None = None
    duration_s: Mapping[str, float] | None = None  # mean, p50, p95, p99, max, in whole milliseconds
    joint: Joint | None = None
    arrival: Arrival = field(default_factory=Arrival)
    outcomes: Mapping[str, int] = field(default_factory=dict)
    retries: int = 0
    cancellations: int = 0
    models: Mapping[str, int] = field(default_factory=dict)
    tenants: int | None = None
    images: int | None = None
    audio_s: float | None = None
    prefix: Prefix = field(default_factory=Prefix)
    holding: Holding | None = None
    concurrency: Concurrency | None = None
    sessions: Sessions | None = None
    context: tuple[ContextLimit, ...] = ()
    scenarios: tuple[Slice, ...] = ()
    basis: Mapping[str, str] = field(default_factory=dict)  # of input_tokens and output_tokens
    week_offset_s: int | None = None
    time_zone: str | None = None
    formats: Mapping[str, int] = field(default_factory=dict)
    inferred: tuple[str, ...] = ()
    history: tuple[str, ...] = ()
    loss: Mapping[str, Any] = field(default_factory=dict)  # the loss report of the import
    synthetic: bool = False
    unknown: Mapping[str, str] = field(default_factory=dict)  # part -> why it is not known

    def scenario(self, name: str) -> Slice | None:
        """The slice of that name."""
        return next((each for each in self.scenarios if each.name == name), None)
