"""The plan file's shape: what may be written, of which type and in which range.

Pydantic models and nothing else; `build` gives them meaning. Descriptions go into the JSON Schema,
where editors show them. Import this module only to read or describe a plan: pydantic is heavy.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag

from vramledger.plan.percentiles import PATTERN

_LIMIT_KEY = PATTERN.replace("^(", "^(input_min|input_max|output_min|output_max|")
Tokens = Annotated[float, Field(ge=0, le=1 << 30, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Text = Annotated[str, Field(min_length=1)]
Price = Annotated[
    Text, BeforeValidator(lambda value: f"{value:g}" if type(value) in (int, float) else value)
]
Percentiles = dict[Annotated[str, Field(pattern=PATTERN)], Tokens]
Limit = dict[
    Annotated[str, Field(pattern=_LIMIT_KEY)],
    Annotated[float, Field(ge=0, allow_inf_nan=False)],
]


def _list_or_mapping(value: Any) -> str:
    return "rows" if isinstance(value, list) else "mapping"


def _text_or_mapping(value: Any) -> str:
    return "text" if isinstance(value, str) else "mapping"


def _auto_or_number(value: Any) -> str:
    return "auto" if isinstance(value, str) else "number"


class Part(BaseModel):
    """Any mapping of the file: unknown keys are refused, types are not converted."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Bin(Part):
    """One bin of a histogram of lengths."""

    up_to: Annotated[
        float, Field(gt=0, le=1 << 30, allow_inf_nan=False, description="Upper edge in tokens.")
    ]
    share: Annotated[
        float,
        Field(ge=0, allow_inf_nan=False, description="Share or count of requests in the bin."),
    ]


class Row(Part):
    """One row of a joint histogram."""

    input: Annotated[
        float, Field(ge=0, le=1 << 30, allow_inf_nan=False, description="Input tokens.")
    ]
    output: Annotated[
        float, Field(ge=0, le=1 << 30, allow_inf_nan=False, description="Output tokens.")
    ]
    share: Annotated[
        float, Field(ge=0, allow_inf_nan=False, description="Share or count of such requests.")
    ]


Lengths = Annotated[
    Annotated[Percentiles, Tag("mapping")] | Annotated[list[Bin], Tag("rows")],
    Discriminator(_list_or_mapping),
]


class WorkloadPart(Part):
    """Lengths of requests and how many come; every key may be given here or by a scenario."""

    file: Text | None = Field(
        default=None,
        description="A stored workload (.parquet) or its profile (.json), relative to the plan.",
    )
    rate_scale: Positive | None = Field(
        default=None, description="Growth: the file's arrivals times this."
    )
    profile: Text | None = Field(default=None, description="A shipped profile of lengths.")
    input_tokens: Lengths | None = Field(
        default=None, description="Percentiles (p50, p95, p99, max) or bins of input tokens."
    )
    output_tokens: Lengths | None = Field(
        default=None, description="Percentiles (p50, p95, p99, max) or bins of output tokens."
    )
    requests: list[Row] | None = Field(
        default=None, description="A joint histogram of both lengths."
    )
    requests_per_s: Positive | None = Field(default=None, description="Arrivals at the peak.")
    seconds_per_request: Positive | None = Field(
        default=None, description="How long one request stays, where requests_per_s is given."
    )
    concurrent: Positive | None = Field(default=None, description="Requests in flight at the peak.")
    users: Positive | None = Field(default=None, description="People with access.")
    factors: dict[str, Annotated[float, Field(allow_inf_nan=False)]] | None = Field(
        default=None, description="Changed factors from people to requests in flight."
    )


Workload = Annotated[
    Annotated[Text, Tag("text")] | Annotated[WorkloadPart, Tag("mapping")],
    Discriminator(_text_or_mapping),
]
Limits = Annotated[
    Annotated[Limit, Tag("mapping")] | Annotated[list[Limit], Tag("rows")],
    Discriminator(_list_or_mapping),
]


class ContractPart(Part):
    """Thresholds of acceptance; what is absent is not asked for."""

    ttft_s: Limits | None = Field(
        default=None, description="Seconds to the first token of any kind."
    )
    first_answer_s: Limits | None = Field(
        default=None, description="Seconds to the first answer token."
    )
    itl_s: Limits | None = Field(default=None, description="Seconds between output events.")
    tpot_s: Limits | None = Field(
        default=None, description="Seconds per output token, mean of a request."
    )
    queue_s: Limits | None = Field(default=None, description="Seconds before a request runs.")
    e2e_s: Limits | None = Field(
        default=None, description="Seconds from sending to the last token."
    )
    success: Share | None = Field(default=None, description="Share of requests that end as asked.")
    queue_must_drain: bool | None = Field(
        default=None, description="The queue empties after the peak."
    )
    done_by: Annotated[str, Field(pattern=r"^([01]\d|2[0-3]):[0-5]\d$")] | None = Field(
        default=None, description="Time of day by which the work is done."
    )
    requests_per_hour: Positive | None = Field(
        default=None, description="Requests an hour that met every threshold."
    )
    minutes_of_load: Positive | None = Field(
        default=None, description="Minutes for which a trial must send the load at least."
    )
    kv_free: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)] | None = Field(
        default=None, description="Share of the KV cache that stays free, 99 % of the time."
    )
    preemptions_per_1000: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = Field(
        default=None, description="Preemptions per 1,000 requests at most; 0: none."
    )
    memory_growth_gib_per_hour: Positive | None = Field(
        default=None, description="By how much GPU memory may grow at most, in GiB an hour."
    )
    model_reported: Text | None = Field(
        default=None, description="The name that a model service must report for its model."
    )
    context_tokens: Positive | None = Field(
        default=None, description="Input and output tokens that a model service must take."
    )
    requests_per_minute: Positive | None = Field(
        default=None, description="Requests a minute that a service takes before it answers 429."
    )
    billed_within: Share | None = Field(
        default=None,
        description="Share by which the input tokens that a service bills may be off those sent.",
    )


Headroom = Annotated[
    Annotated[Literal["auto"], Tag("auto")]
    | Annotated[Annotated[float, Field(ge=0, lt=1, allow_inf_nan=False)], Tag("number")],
    Discriminator(_auto_or_number),
]


class ScenarioPart(Part):
    """A slice of the workload with its own load, hours and contract."""

    kind: Literal["latency", "throughput"] = Field(
        description="latency: people wait; throughput: work queues until it is done."
    )
    workload: Workload | None = Field(
        default=None, description="What differs from the plan's workload."
    )
    hours: (
        Annotated[str, Field(pattern=r"^([01]\d|2[0-3]):[0-5]\d-([01]\d|2[0-3]):[0-5]\d$")] | None
    ) = Field(default=None, description="Hours of the day, 09:00-18:00.")
    headroom: Headroom | None = Field(
        default=None, description="Share of the pool kept free, or auto."
    )
    contract: ContractPart = ContractPart()


class EnginePart(Part):
    """The serving engine and the arguments every candidate keeps."""

    name: Text = "vllm"
    version: Text | None = Field(
        default=None, description='In quotes: "0.10". None: the newest known.'
    )
    args: dict[Text, str | int | float | bool | None] = Field(
        default={}, description="Engine arguments without the leading dashes."
    )


class HardwarePart(Part):
    """A card from a data sheet."""

    name: Text
    total_gib: Positive | None = Field(default=None, description="What the driver gives programs.")
    memory_gb: Positive | None = Field(default=None, description="The size in the product's name.")
    vendor: Literal["NVIDIA", "AMD", "Intel", "Huawei"] = "NVIDIA"
    architecture: Text = "unknown"
    compute_capability: Annotated[str, Field(pattern=r"^\d{1,2}\.\d$")] | None = None
    bandwidth_gb_s: Positive | None = None
    dense_tflops: dict[Literal["bf16", "fp16", "fp8", "fp4", "int8"], Positive] = {}
    fabric_gb_s: Positive | None = Field(default=None, description="Both directions together.")
    fabric_group: Annotated[int, Field(ge=1, le=1024)] = 1
    pcie_gb_s: Positive | None = Field(default=None, description="One direction.")
    tdp_w: Positive | None = None
    basis: Literal["quoted", "assumed"] = "assumed"
    source: str = Field("", description="Sheet or offer, with its date.")


class QualityPart(Part):
    """Evidence that a smaller precision owes."""

    shadow: Text | None = Field(default=None, description="A file with a shadow comparison.")
    min_agreement: Share | None = None
    lm_eval: Text | None = Field(
        default=None, description="A results file of lm-eval-harness, relative to the plan."
    )
    least: dict[Text, Annotated[float, Field(allow_inf_nan=False)]] = Field(
        default={}, description="The score that a task must reach, by task/metric of that file."
    )


Weights = Literal[
    "as-stored", "fp8", "awq", "gptq", "int8", "int4", "bitsandbytes", "nvfp4", "mxfp4"
]
KvDtype = Literal["auto", "bfloat16", "float16", "fp8", "fp8_e4m3", "fp8_e5m2", "nvfp4"]


class PlanPart(Part):
    """One requirement, carried through every verb."""

    name: Text
    form: Literal["self-hosted", "model-service", "both"] = "self-hosted"
    model: Text = Field(
        description="Catalogue id, directory with config.json, *.gguf, or hf:org/name."
    )
    weights: list[Weights] = Field(default=["as-stored"], min_length=1)
    kv_dtype: list[KvDtype] = Field(default=["auto"], min_length=1)
    engine: EnginePart = EnginePart()
    workload: Workload = Field(
        description="Lengths and load, the name of a profile, or a file of recorded requests."
    )
    scenarios: dict[Text, ScenarioPart] = Field(
        default={},
        description="Slices of the workload; without any, all of it is one of kind latency.",
    )
    quality: QualityPart = QualityPart()
    headroom: Headroom = "auto"
    gpus: list[Text] = Field(default=[], description="Cards to consider; none means every card.")
    prices: dict[Text, Price] = Field(default={}, description='Per GPU: {L40S: "1.10/h"}.')
    hardware: list[HardwarePart] = Field(default=[], description="Cards from a data sheet.")
