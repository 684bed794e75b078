"""The key `trial` of run.json, its types checked. Import this module only to read one: pydantic is heavy.

A closed run is sealed by its hash; one that was cut off is not, and anything may have happened to it since.
"""

from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from vramledger.errors import BadInput
from vramledger.record.document import Part

_Positive = Annotated[float, Field(gt=0)]
_Whole = Annotated[int, Field(ge=1)]


class Style(Part):
    endpoint: Literal["chat", "completions"]
    model: str
    limit: str = ""
    length: dict[str, Any] = Field(default_factory=dict)
    extra: dict[str, Any] = Field(default_factory=dict)


class Prompts(Part):
    style: Style
    salt: int
    lexicon: dict[str, Any] | None = None
    own: str | None = None


class Load(Part):
    workload: str
    prompts: Prompts
    period_s: float
    duration_s: _Positive | None = None
    closed: _Whole | None = None


class Target(Part):
    url: str
    path: str
    key_env: str | None = None
    key_file: str | None = None
    headers: dict[str, str] = Field(default_factory=dict)
    trace: str | None = None


class TrialKey(Part):
    """What every trial has, as `Standing.to_json` writes it."""

    target: Target
    load: Load
    server: str
    workers: _Whole
    rate_scale: _Positive
    zero_ns: int = 0
    boot_id: str | None = None
    metrics_url: str | None = None
    gpu_metrics: str | None = None
    gpu_selector: str = ""
    interval_s: _Positive = 1.0
    drain_s: _Positive = 1.0
    cold: bool = False
    on_interrupt: str = ""
    prompts_said: str = ""
    load_sha256: str = ""
    kv_tokens: int | None = None
    tokenizer: str | None = None
    stages: str | None = None
    clock_ahead_s: float | None = None
    clock_error_s: float | None = None


def check_trial(name: str, found: dict[str, Any]) -> None:
    """Refuse what no trial of ours can have written; `name` is the run's.

    Raises:
        BadInput: a key is missing, or its value has no sense.
    """
    try:
        TrialKey.model_validate(found)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        key = ".".join(("trial", *map(str, first["loc"])))
        raise BadInput(
            f"The run {name!r}: {key} in its run.json has no sense there ({first['msg']}); use an unchanged copy."
        ) from None
