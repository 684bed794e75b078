"""A trial's run.json as it stands when the record begins."""

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from vramledger import __version__
from vramledger.plan.contract_json import contract_to_json
from vramledger.printable import without_password
from vramledger.record.durable import file_sha256
from vramledger.trial.conduct.approach import Approached
from vramledger.trial.conduct.asked import TrialAsked
from vramledger.trial.conduct.standing import Standing
from vramledger.trial.conduct.watch import SERVER
from vramledger.trial.prompts.body import COMPLETIONS
from vramledger.trial.sampling import Sources

if TYPE_CHECKING:
    from vramledger.record.document import Clock, Deployment, Description

RAW = "raw"


def name_of(asked: TrialAsked, found: Approached) -> str:
    """The run's name: model and workload."""
    return f"{found.prepared.job.prompts.style.model} {asked.part.workload.stem}"


def describe(
    asked: TrialAsked, found: Approached, sources: Sources, standing: Standing
) -> "Description":
    """What the run says of itself; second 0 of its clock is `standing.zero_ns`."""
    from vramledger.record.document import Deployment, Description, Origin

    now = wall_at(standing.zero_ns)
    return Description(
        origin=Origin.REHEARSED if found.facts.rehearsal else Origin.MEASURED,
        name=name_of(asked, found),
        plan=asked.plan,
        scenario=asked.scenario or asked.part.scenario,
        asked=_asked(asked.asked or Deployment(), asked),
        in_effect=_in_effect(asked, found, sources),
        workload_sha256=file_sha256(asked.part.workload),
        seed=asked.seed,
        client_version=__version__,
        clock=_clock(now, found),
        started_at=now,
    ).model_copy(
        update={"trial": standing.to_json() | _beside(found) | _promised(asked) | _given(asked)}
        | _challenged(asked)
    )


def _given(asked: TrialAsked) -> dict[str, object]:
    """What a person gave that nothing else in the record tells, so that the trial can be repeated; of files their names."""
    files = {"tokenizer": asked.tokenizer, "server_log": asked.server_log}
    found = {name: None if path is None else path.name for name, path in files.items()}
    found |= {
        "metrics_url": None if asked.metrics_url is None else without_password(asked.metrics_url)
    }
    told = {"acceptance_length": asked.acceptance_length, **found}
    told["workload"] = str(asked.part.workload.absolute())  # where sealing finds it
    return {"given": {name: value for name, value in told.items() if value is not None}}


def _challenged(asked: TrialAsked) -> dict[str, object]:
    """The buyer's challenge, where the run answers one."""
    return {} if asked.challenge is None else {"challenge": dict(asked.challenge)}


def wall_at(moment_ns: int) -> str:
    """The wall clock, UTC, at a moment of CLOCK_MONOTONIC."""
    since_s = (time.monotonic_ns() - moment_ns) / 1e9
    return moment_of(time.time() - since_s)


def moment_of(seconds: float) -> str:
    """Seconds since 1970 as run.json writes moments."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _beside(found: Approached) -> dict[str, object]:
    return {
        "load_report": found.prepared.report.to_json(),
        "length_effects": list(found.effects),
        "answered": list(found.facts.answered),
        "model_files": found.facts.model_files,
        "unjudgeable": [{"line": each.line, "why": each.why} for each in found.unjudgeable],
    }


def _promised(asked: TrialAsked) -> dict[str, object]:
    """The contract of the plan's scenario, where it promises anything."""
    stated = asked.contract is not None and not asked.contract.is_empty
    return {"contract": contract_to_json(asked.contract) if asked.contract and stated else None}


def _asked(deployment: "Deployment", asked: TrialAsked) -> "Deployment":
    """With the sampling parameters that every request carries."""
    sampling = dict(asked.body) or None
    return deployment.model_copy(update={"sampling": sampling})


def _in_effect(asked: TrialAsked, found: Approached, sources: Sources) -> "Deployment":
    seen = found.facts.deployment()
    known = {
        "gpu_uuids": list(sources.gpu_uuids) or None,
        "driver": sources.driver,
    }
    if asked.api == COMPLETIONS:
        known["chat_template"] = RAW
    return seen.model_copy(update=known)


def _clock(now: str, found: Approached) -> "Clock":
    from vramledger.record.document import Clock

    offset, error = found.facts.clock_offset_s, found.facts.clock_error_s
    return Clock(
        wall_at_zero=now,
        offsets_s={} if offset is None else {SERVER: offset},
        offset_errors_s={} if error is None else {SERVER: error},
    )
