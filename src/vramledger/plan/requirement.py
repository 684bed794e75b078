"""The requirement: what a plan asks for, as values the rest of the product computes with."""

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import TYPE_CHECKING

from vramledger.evidence import Basis
from vramledger.frozen import frozen
from vramledger.hardware.accelerator import Accelerator
from vramledger.plan.lengths import LengthDistribution
from vramledger.units import plain

if TYPE_CHECKING:
    from vramledger.plan.recorded import Recorded


class Form(StrEnum):
    """What is bought: machines, or answers."""

    SELF_HOSTED = "self-hosted"
    MODEL_SERVICE = "model-service"
    BOTH = "both"


class Kind(StrEnum):
    """What a scenario is judged by."""

    LATENCY = "latency"  # people wait
    THROUGHPUT = "throughput"  # work queues until it is done


class LoadUnit(StrEnum):
    """What the load counts. The three are different figures and never mixed."""

    REQUESTS_PER_S = "requests_per_s"  # arrivals
    CONCURRENT = "concurrent"  # requests in flight
    USERS = "users"  # people with access


@frozen
class Load:
    """How much arrives or runs at once, at the scenario's peak."""

    unit: LoadUnit
    amount: float
    seconds_per_request: float | None = None  # with a rate: how long one stays, when known
    factors: Mapping[str, float] = field(default_factory=dict)  # with users: changed factors
    basis: Basis = Basis.ASSUMED
    source: str = ""
    per_s: float | None = None  # with requests in flight: the arrivals behind them, when known
    mean: float | None = None  # with requests in flight: their mean, when known
    recorded: bool = False  # of a file; requests in flight and durations are its own server's


@frozen
class LatencyLimit:
    """Percentiles of one latency that must hold, for requests of a class of length; None: however long."""

    input_max: int | None
    percentiles: Mapping[float, float]  # share (0..1) -> seconds
    input_min: int | None = None
    output_max: int | None = None
    output_min: int | None = None

    @property
    def bounds(self) -> tuple[int | None, ...]:
        """The class: ends of the input's length and of the output's, both in it."""
        return (self.input_min, self.input_max, self.output_min, self.output_max)

    @property
    def is_of_all(self) -> bool:
        """Whether it is for every request."""
        return all(end is None for end in self.bounds)

    @property
    def is_by_input(self) -> bool:
        """Whether it is for every request up to a length of input, or for all."""
        return (self.input_min, self.output_min, self.output_max) == (None, None, None)

    def holds(self, input_tokens: float, output_tokens: float) -> bool:
        """Whether such a request is in the class."""
        return _within(input_tokens, self.input_min, self.input_max) and _within(
            output_tokens, self.output_min, self.output_max
        )

    @property
    def reach(self) -> str:
        """`` up to 4,096 input tokens from 500 output tokens``; empty where it is for every request."""
        return _reach("input", self.input_min, self.input_max) + _reach(
            "output", self.output_min, self.output_max
        )


def _within(tokens: float, least: int | None, most: int | None) -> bool:
    return (least is None or tokens >= least) and (most is None or tokens <= most)


def _reach(what: str, least: int | None, most: int | None) -> str:
    if least is None and most is None:
        return ""
    begin = "" if least is None else f" from {least:,}"
    end = "" if most is None else f" up to {most:,}"
    return f"{begin}{end} {what} tokens"


@frozen
class Contract:
    """Thresholds of acceptance; every one may be absent, none is preset."""

    latency: Mapping[str, tuple[LatencyLimit, ...]] = field(default_factory=dict)  # "ttft_s" ...
    success: float | None = None  # share of requests that end as asked
    queue_must_drain: bool | None = None
    done_by: str | None = None  # "06:00", for throughput
    requests_per_hour: float | None = None  # that met every threshold
    minutes_of_load: float | None = None  # for which a trial must send at least
    kv_free: float | None = None  # share of the KV cache that stays free at p99
    preemptions_per_1000: float | None = None  # requests; 0: none at all
    memory_growth_gib_per_hour: float | None = None  # on the fullest GPU
    model_reported: str | None = None  # of a service, as the next three: what it calls its model
    context_tokens: float | None = None  # input and output that it takes
    requests_per_minute: float | None = None  # that it takes before it answers 429
    billed_within: float | None = None  # share by which billed input tokens may be off those sent

    @property
    def lines(self) -> tuple[str, ...]:
        """Every threshold in words, one each."""
        found = [
            f"{key} p{share * 100:g} <= {plain(seconds)}{limit.reach}"
            for key, limits in self.latency.items()
            for limit in limits
            for share, seconds in limit.percentiles.items()
        ]
        if self.success is not None:
            found.append(f"success >= {self.success:.2%}")
        if self.queue_must_drain:
            found.append("the queue drains")
        if self.done_by is not None:
            found.append(f"done by {self.done_by}")
        if self.requests_per_hour is not None:
            found.append(f"{plain(self.requests_per_hour)} requests an hour")
        return (*found, *self.server_lines, *self.service_lines)

    @property
    def server_lines(self) -> tuple[str, ...]:
        """Those that only the server's and the GPUs' own figures decide."""
        found = []
        if self.kv_free is not None:
            found.append(f"KV cache free at p99 >= {self.kv_free:.1%}")
        if self.preemptions_per_1000 is not None:
            most = self.preemptions_per_1000
            found.append(f"preemptions per 1,000 requests <= {plain(most)}" if most else "no preemption")  # fmt: skip
        if self.memory_growth_gib_per_hour is not None:
            most = self.memory_growth_gib_per_hour
            found.append(f"GPU memory growth <= {plain(most)} GiB an hour")
        return tuple(found)

    @property
    def service_lines(self) -> tuple[str, ...]:
        """Those of a model service, which a client sees."""
        found = []
        if self.model_reported is not None:
            found.append(f"the service reports {self.model_reported}")
        if self.context_tokens is not None:
            found.append(f"context of {self.context_tokens:,.0f} tokens")
        if self.requests_per_minute is not None:
            found.append(f"429 begins above {self.requests_per_minute:,.0f} requests a minute")
        if self.billed_within is not None:
            found.append(f"billed input tokens within {self.billed_within:.1%} of those sent")
        return tuple(found)

    @property
    def is_empty(self) -> bool:
        rest = (self.success, self.queue_must_drain, self.done_by, self.requests_per_hour)
        return not (self.latency or self.server_lines or self.service_lines) and all(
            value is None for value in rest
        )


@frozen
class Scenario:
    """A named slice of the workload with its own load and contract."""

    name: str
    kind: Kind
    lengths: LengthDistribution
    load: Load
    hours: str | None = None  # "09:00-18:00": scenarios of different hours do not add up
    headroom: float | None = None  # share of the pool kept free; None: by kind
    contract: Contract = field(default_factory=Contract)
    profile: str = ""  # the shipped profile that gave the lengths
    recorded: "Recorded | None" = None  # the workload that gave the lengths


@frozen
class EngineChoice:
    """The engine, its version and the arguments that every candidate keeps."""

    name: str = "vllm"
    version: str | None = None  # None: the newest known
    args: Mapping[str, str | None] = field(default_factory=dict)  # None: a switch
    where: str = ""  # file and line of the arguments


@frozen
class QualityEvidence:
    """Where the evidence for a smaller precision lies, and how much agreement it must show."""

    shadow: str | None = None
    min_agreement: float | None = None
    lm_eval: str | None = None  # a results file of lm-eval-harness
    least: Mapping[str, float] = field(default_factory=dict)  # "task/metric" -> score


@frozen
class Requirement:
    """One plan, read and checked."""

    name: str
    form: Form
    model: str
    weights: tuple[str, ...]  # each is a candidate: "as-stored", "fp8", ...
    kv_dtypes: tuple[str, ...]
    engine: EngineChoice
    scenarios: tuple[Scenario, ...]  # at least one
    accelerators: tuple[Accelerator, ...]  # () : every card of the catalogue
    prices: Mapping[str, float] = field(default_factory=dict)  # money per GPU and hour
    currency: str = ""
    quality: QualityEvidence = field(default_factory=QualityEvidence)
    notes: tuple[str, ...] = ()  # assumptions the reader made, one sentence each
    source: str = ""  # the plan's file

    @property
    def longest(self) -> int:
        """Tokens of the longest request over all scenarios."""
        return max(scenario.lengths.longest for scenario in self.scenarios)
