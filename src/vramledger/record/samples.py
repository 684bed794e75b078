"""server.parquet, gpu.parquet, steps.parquet and stages.parquet: what was seen beside the requests, on one clock."""

from enum import StrEnum
from typing import Final

from vramledger.frozen import frozen
from vramledger.record.table import Column, Table

_NOT_TOLD: Final = "not told"

SERVER: Final = Table(
    "server",
    "Server metrics",
    {
        "t_s": Column("float64", "s", "When the page was asked for."),
        "scrape_s": Column("float64", "s", "Seconds until it was there.", "no page was asked for"),
        "target": Column("string", "", "Which server: target-0, target-1, ..."),
        "name": Column("string", "", "Name in the common vocabulary.", "the vocabulary has none for it"),
        "raw_name": Column("string", "", "Name on the page."),
        "labels": Column("string", "", "Its labels: a JSON object, keys sorted, without spaces; {} for none."),
        "kind": Column("string", "", "gauge, counter or bucket."),
        "value": Column("float64", "of the metric", "As on the page: counters since the server's start.", "the page said NaN, or no longer had the series"),
    },
    ("t_s", "target", "raw_name", "labels"),
)  # fmt: skip

GPU: Final = Table(
    "gpu",
    "GPU samples",
    {
        "t_s": Column("float64", "s", "When the sample was taken."),
        "gpu_uuid": Column("string", "", "Which GPU."),
        "used_bytes": Column("int64", "bytes", "Memory in use, by anyone.", _NOT_TOLD),
        "free_bytes": Column("int64", "bytes", "Memory free.", _NOT_TOLD),
        "reserved_bytes": Column("int64", "bytes", "Memory that the driver and firmware keep.", _NOT_TOLD),
        "ours_bytes": Column("int64", "bytes", "Memory of the server's own processes.", _NOT_TOLD),
        "utilization": Column("float64", "0..1", "Share of time with a kernel running.", _NOT_TOLD),
        "power_w": Column("float64", "W", "Power drawn.", _NOT_TOLD),
        "temperature_c": Column("float64", "Celsius", "Of the chip.", _NOT_TOLD),
        "sm_clock_mhz": Column("float64", "MHz", "Clock of the processors.", _NOT_TOLD),
        "throttle": Column("string", "", "Why clocks were lowered: names, joined by commas; empty for nothing.", _NOT_TOLD),
    },
    ("t_s", "gpu_uuid"),
)  # fmt: skip

STEPS: Final = Table(
    "steps",
    "Steps of a simulated engine",
    {
        "step": Column("int64", "", "Number of the step of its engine, without holes."),
        "engine": Column("int32", "", "Number of the engine; 0 where there is one."),
        "start_s": Column("float64", "s", "When the step began."),
        "end_s": Column("float64", "s", "When its tokens were there."),
        "scheduled_tokens": Column("int32", "tokens", "All tokens computed, of prompts and of answers."),
        "prefill_tokens": Column("int32", "tokens", "The part of prompts and of recomputation.", "not told apart"),
        "running": Column("int32", "requests", "Running after the step was scheduled."),
        "waiting": Column("int32", "requests", "Waiting after the step was scheduled."),
        "preempted": Column("int32", "requests", "Preempted while it was scheduled.", "not counted"),
        "kv_usage": Column("float64", "0..1", "Share of the KV blocks held by requests, null block not counted.", "no KV blocks"),
    },
    ("engine", "step"),
)  # fmt: skip


STAGES: Final = Table(
    "stages",
    "Stages of requests, as gateway and engine tell them",
    {
        "request_id": Column("int64", "", "The request in requests.parquet."),
        "stage": Column(
            "string", "",
            "gateway (until it sends on), gateway_whole, upstream (until its headers or its end), engine, queue, prefill or decode.",
        ),
        "source": Column("string", "", "Who told: the service of a span, envoy or nginx."),
        "start_s": Column("float64", "s", "Its begin, of that clock brought to the run's by the offset in run.json."),
        "end_s": Column("float64", "s", "Its end, likewise."),
    },
    ("request_id", "start_s", "stage"),
)  # fmt: skip


class MetricKind(StrEnum):
    """How a server's figure behaves over time."""

    GAUGE = "gauge"
    COUNTER = "counter"
    BUCKET = "bucket"  # of a histogram: a counter, its upper edge in the label "le"


@frozen
class Sample:
    """One row of server.parquet."""

    t_s: float
    target: str
    raw_name: str
    kind: MetricKind
    value: float | None
    scrape_s: float | None = None
    name: str | None = None
    labels: str = "{}"


@frozen
class GpuSample:
    """One row of gpu.parquet."""

    t_s: float
    gpu_uuid: str
    used_bytes: int | None = None
    free_bytes: int | None = None
    reserved_bytes: int | None = None
    ours_bytes: int | None = None
    utilization: float | None = None
    power_w: float | None = None
    temperature_c: float | None = None
    sm_clock_mhz: float | None = None
    throttle: str | None = None


@frozen
class Step:
    """One row of steps.parquet."""

    step: int
    start_s: float
    end_s: float
    scheduled_tokens: int
    running: int
    waiting: int
    kv_usage: float | None
    engine: int = 0
    prefill_tokens: int | None = None
    preempted: int | None = None


@frozen
class StageRecord:
    """One row of stages.parquet."""

    request_id: int
    stage: str
    source: str
    start_s: float
    end_s: float
