"""What a person asks of a trial."""

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vramledger.frozen import frozen
from vramledger.plan.requirement import Contract
from vramledger.trial.conduct.on_interrupt import OnInterrupt
from vramledger.trial.prompts.body import CHAT
from vramledger.trial.sampling.sampler import INTERVAL_S
from vramledger.workload.operators.prepared import Part

if TYPE_CHECKING:
    from vramledger.record.document import Deployment, Plan

DRAIN_S = 600.0


@frozen
class TrialAsked:
    """A trial: which server, which load, and how both are watched.

    `model` is the name to ask for, None for the first that the server lists. `workers` is the number of client
    processes, None for one a core less one. `cold` leaves out the warm-up and asks the server to empty its prefix cache.
    `drain_s` is how long requests may be under way after the last was due. `asked` is the deployment that was ordered, `contract` what was promised. `acceptance_length` is what the user set
    on the server for drafts, tokens a step. With `trace_ids` requests can be told apart in the logs of others; `stages` is such
    a log, read when the load is over. `ray` is a cluster whose machines send, in place of this one.
    `challenge` is the buyer's, which the run carries in full.
    """

    url: str
    part: Part
    api: str = CHAT
    model: str | None = None
    key_env: str | None = None
    key_file: str | None = None
    seed: int = 0
    closed: int | None = None
    duration_s: float | None = None
    workers: int | None = None
    cold: bool = False
    on_interrupt: OnInterrupt = OnInterrupt.DRAIN
    drain_s: float = DRAIN_S
    interval_s: float = INTERVAL_S
    prompts: Path | None = None
    tokenizer: Path | None = None
    token_ids: bool = False
    body: Mapping[str, Any] = field(default_factory=dict)
    metrics_url: str | None = None
    gpu_metrics: str | None = None
    gpu_selector: str = ""
    server_log: Path | None = None
    scenario: str | None = None
    plan: "Plan | None" = None
    asked: "Deployment | None" = None
    contract: Contract | None = None
    acceptance_length: float | None = None
    trace_ids: bool = False
    stages: Path | None = None
    ray: str | None = None
    challenge: Mapping[str, Any] | None = None
