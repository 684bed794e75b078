"""run.json: what a run says of itself. Import this module only to read or write one: pydantic is heavy.

None stands for "unseen" everywhere: nobody told, or nobody asked. Unknown keys are kept.
"""

from enum import StrEnum
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

SCHEMA: Final = "vramledger.run/1"
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Count = Annotated[int, Field(ge=0, lt=1 << 63)]
Moment = Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$")]


class Origin(StrEnum):
    """Where a run comes from; it stands in run.json and in each table, under the run's hash."""

    MEASURED = "measured"
    SIMULATED = "simulated"
    REHEARSED = "rehearsed"  # measured against a simulated server


class Ended(StrEnum):
    """How a run ended."""

    COMPLETE = "complete"  # the whole workload was offered, and every request ended
    CUT = "cut"  # at a planned limit of time; requests may have been open
    INTERRUPTED = "interrupted"  # by the person who ran it
    FAILED = "failed"  # an error of the recorder ended it
    KILLED = "killed"  # the recorder vanished; closed afterwards from its segments


class Part(BaseModel):
    """Any mapping of the document: types are not converted, unknown keys stay."""

    model_config = ConfigDict(
        extra="allow", frozen=True, strict=True, allow_inf_nan=False, protected_namespaces=()
    )


class Deployment(Part):
    """A deployment as far as it was asked for, or as far as it was seen in effect."""

    engine: str | None = Field(default=None, description="name of the engine")
    engine_version: str | None = Field(default=None, description="its version")
    model: str | None = Field(default=None, description="catalogue id, path or name on the server")
    model_revision: str | None = Field(
        default=None, description="revision of the model's repository"
    )
    weights_sha256: Sha256 | None = Field(default=None, description="hash of the weight files")
    chat_template: str | None = Field(
        default=None, description="SHA-256 of the chat template, or `raw` where none is applied"
    )
    arguments: dict[str, Any] | None = Field(default=None, description="engine arguments by name")
    sampling: dict[str, Any] | None = Field(default=None, description="sampling parameters by name")
    output_limit: Count | None = Field(default=None, description="limit on an answer, in tokens")
    gpu: str | None = Field(default=None, description="name of the card")
    gpu_uuids: list[str] | None = Field(default=None, description="the GPUs themselves")
    driver: str | None = Field(default=None, description="version of the GPU driver")
    uptime_s: float | None = Field(
        default=None, description="how long the server had been up at second 0"
    )


class Plan(Part):
    """The plan a run was made for, in full, so that the run can be judged without the file."""

    text: str = Field(description="the plan file")
    sha256: Sha256 = Field(description="its hash")


class Clock(Part):
    """What second 0 of the run is elsewhere."""

    wall_at_zero: Moment | None = Field(
        default=None, description="wall clock at second 0, UTC; null in a simulated run"
    )
    offsets_s: dict[str, float] = Field(
        default_factory=dict,
        description="map from a server (`target-0`), or a client worker elsewhere (`worker-0`), to its clock less ours, in seconds",
    )
    offset_errors_s: dict[str, float] = Field(
        default_factory=dict,
        description="map from each of them to by how much that may be off, either way, in seconds",
    )


class StoredTable(Part):
    """A table as it was closed."""

    rows: Count = Field(description="its rows")
    sha256: Sha256 = Field(description="hash of its file")


class Description(Part):
    """The whole of run.json."""

    schema_: Literal["vramledger.run/1"] = Field(
        default=SCHEMA, alias="schema", description="`vramledger.run/1`"
    )
    origin: Origin = Field(
        description="`measured`, `simulated` or `rehearsed`; each table's metadata repeat it",
        strict=False,
    )
    name: str = Field(description="name of the run")
    plan: Plan | None = Field(default=None, description="the plan: its text and hash")
    scenario: str | None = Field(
        default=None, description="scenario of the plan or of the workload"
    )
    asked: Deployment = Field(default_factory=Deployment, description="the deployment asked for")
    in_effect: Deployment = Field(
        default_factory=Deployment, description="the deployment as it was seen"
    )
    workload_sha256: Sha256 | None = Field(default=None, description="hash of the workload's file")
    seed: int | None = Field(default=None, description="seed of every draw")
    client_version: str | None = Field(default=None, description="version of this program")
    clock: Clock = Field(default_factory=Clock, description="clocks beside the run's own")
    started_at: Moment | None = Field(default=None, description="UTC; null in a simulated run")
    ended_at: Moment | None = Field(default=None, description="UTC; null in a simulated run")
    ended: Ended | None = Field(
        default=None,
        description="`complete`, `cut`, `interrupted`, `failed` or `killed`; null while it runs",
        strict=False,
    )
    tables: dict[str, StoredTable] = Field(
        default_factory=dict, description="map from table to its rows and hash"
    )
    torn_segments: list[str] = Field(
        default_factory=list,
        description="streams of which the last rows were cut off when their recorder was stopped",
    )
    journal_sha256: Sha256 | None = Field(default=None, description="hash of journal.jsonl")
    sha256: Sha256 | None = Field(
        default=None,
        description="hash of this document without this key, as JSON with sorted keys and no spaces; null while it runs",
    )

    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)
