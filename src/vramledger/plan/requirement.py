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
    """Percentiles of one latency that must hold, for inputs up to a length."""

    input_max: int | None  # None: every request
    percentiles: Mapping[float, float]  # share (0..1) -> seconds


@frozen
class Contract:
    """Thresholds of acceptance; every one may be absent, none is preset."""

    latency: Mapping[str, tuple[LatencyLimit, ...]] = field(default_factory=dict)  # "ttft_s" ...
    success: float | None = None  # share of requests that end as asked
    queue_must_drain: bool | None = None
    done_by: str | None = None  # "06:00", for throughput
    requests_per_hour: float | None = None  # that met every threshold
    minutes_of_load: float | None = None  # for which a trial must send at least

    @property
    def lines(self) -> tuple[str, ...]:
        """Every threshold in words, one each."""
        found = [
            f"{key} p{share * 100:g} <= {plain(seconds)}"
            + ("" if limit.input_max is None else f" up to {limit.input_max:,} input tokens")
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
        return tuple(found)

    @property
    def is_empty(self) -> bool:
        rest = (self.success, self.queue_must_drain, self.done_by, self.requests_per_hour)
        return not self.latency and all(value is None for value in rest)


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
