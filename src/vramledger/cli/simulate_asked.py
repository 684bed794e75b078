"""The options of ``vram simulate`` as a question, and its run as a folder."""

from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import chain, count
from math import isfinite
from pathlib import Path
from typing import Any, Final

from vramledger.cli.calibration_option import as_evidence, fit_from
from vramledger.cli.launch_asked import case_asked
from vramledger.cli.limit_option import with_limits
from vramledger.cli.routing_options import routing_of
from vramledger.cli.serving_options import serving_of
from vramledger.errors import BadInput, ExitCode
from vramledger.plan.requirement import Kind
from vramledger.record.computed_run import refuse_folder
from vramledger.record.document import Deployment
from vramledger.record.durable import file_sha256
from vramledger.record.naming import folder_name
from vramledger.simulate.planned import Planned, is_plan, planned
from vramledger.simulate.run import Question, Simulation
from vramledger.simulate.serving_remarks import serving_document
from vramledger.simulate.verdict import Verdict, verdict_of
from vramledger.simulate.written_run import description_of, write_run
from vramledger.workload.operators.prepared import Part
from vramledger.workload.scenarios import DEFINITIONS

_ENGINE: Final = "vllm"
_MOST_RATE: Final = 1000.0
_MOST_REPLICAS: Final = 1024
_RUNS: Final = Path("runs")
_LONGEST_S: Final = 1e9
_CODES: Final = {
    Verdict.HOLDS: ExitCode.HOLDS,
    Verdict.NOT_AT_SLOW_END: ExitCode.CANNOT_KNOW,
    Verdict.TOO_FEW: ExitCode.CANNOT_KNOW,
    Verdict.ONLY_AT_FAST_END: ExitCode.DOES_NOT_HOLD,
    Verdict.FAILS: ExitCode.DOES_NOT_HOLD,
}


def question_of(asked: Mapping[str, Any]) -> Question:
    """What the options ask.

    Raises:
        BadInput: an option is missing or means nothing.
        UnknownName: a model, card, flag, scenario or version that is none.
        CannotKnow: another engine than vLLM, or a plan that is no single deployment.
    """
    plan = planned(asked["launch"], asked["scenario"]) if is_plan(asked["launch"]) else None
    case = case_asked(asked, plan, "simulated")
    scenario = asked["scenario"] if plan is None else plan.scenario
    serving = routing_of(asked)
    rate = 1.0 if serving.closed is not None else _rate(asked, plan)
    part = Part(_workload(asked, plan), _slice(scenario, plan), rate)
    _check_replicas(asked["replicas"])
    if asked["out"] is not None:
        refuse_folder(asked["out"])
    return Question(
        case=case,
        part=part,
        scenario=scenario,
        replicas=asked["replicas"],
        prefix=not asked["no_prefix"],
        end=asked["end"],
        seed=asked["seed"],
        contract=with_limits(None if plan is None else plan.contract, asked["limits"]),
        fit=fit_from(asked["coefficients"], asked["calibration"]),
        headroom=_headroom(asked, plan),
        kind=Kind.LATENCY if plan is None else plan.kind,
        **serving_of(asked),
        serving=serving,
        client_timeout_s=_client_timeout(asked.get("client_timeout")),
    )


def exit_code_of(simulation: Simulation) -> ExitCode:
    """What the verdict exits with: to sign, the contract must hold at the slow end of the step times too."""
    code = _CODES[verdict_of(simulation)]
    return as_evidence(code, simulation.deployment, simulation.question.fit)


def written(simulation: Simulation, asked: Mapping[str, Any]) -> Path:
    """The folder of the run, written.

    Raises:
        BadInput: it is taken or cannot be written.
    """
    question, main = simulation.question, simulation.main
    part = question.part
    name = f"{simulation.deployment.model.id} {part.workload.stem}"
    description = description_of(
        name,
        _deployment(simulation),
        scenario=question.scenario,
        workload_sha256=file_sha256(part.workload),
        seed=question.seed,
        rate_scale=part.rate_scale,
        replicas=question.replicas,
        policy=question.policy,
        acceptance=question.acceptance,
        prefix_hits=simulation.own is not None,
        kv_pool_end=question.end,
        num_gpu_blocks=simulation.pool.num_blocks,
        client_timeout_s=question.client_timeout_s,
        **serving_document(question.serving),
    )
    folder: Path = asked["out"] or _free(_RUNS / folder_name(datetime.now(UTC), name))
    write_run(
        folder,
        description,
        simulation.offered,
        main.figures,
        main.engines,
        main.settings,
        rows_known=part.is_whole,
        notes=simulation.notes,
    )
    return folder


def _deployment(simulation: Simulation) -> Deployment:
    deployment, settings = simulation.deployment, simulation.main.settings
    return Deployment(
        engine=_ENGINE,
        engine_version=deployment.version,
        model=deployment.model.id,
        gpu=deployment.accelerator.name,
        arguments={
            "tensor-parallel-size": deployment.layout.tp,
            "data-parallel-size": deployment.layout.dp,
            "max-model-len": settings.max_model_len,
            "max-num-seqs": settings.max_num_seqs,
            "max-num-batched-tokens": settings.token_budget,
            "block-size": settings.block_size,
            "kv-cache-dtype": simulation.pool.layout.cache_dtype,
            "enable-prefix-caching": deployment.enable_prefix_caching.value,
            "async-scheduling": settings.async_scheduling,
            "gpu-memory-utilization": deployment.gpu_memory_utilization.value,
        },
    )


def _workload(asked: Mapping[str, Any], plan: Planned | None) -> Path:
    given: Path | None = asked["workload"] or (None if plan is None else plan.workload)
    if given is None:
        raise BadInput(
            "State the requests with --workload FILE.parquet; vram workload import makes one of logs, "
            "vram workload synth of a profile."
        )
    if given.suffix == ".json" and given.is_file():
        raise BadInput(
            f"{given} holds no requests; if it is a profile, draw some: vram workload synth --like {given} "
            f"--requests 20000 -o {given.stem}.parquet."
        )
    return given


def _slice(scenario: str | None, plan: Planned | None) -> str | None:
    """The part of the workload: a plan's scenario of a name of its own takes all of it."""
    return scenario if plan is None or scenario in DEFINITIONS else None


def _rate(asked: Mapping[str, Any], plan: Planned | None) -> float:
    given = asked["rate_scale"]
    rate = given if given is not None else (1.0 if plan is None else plan.rate_scale)
    if not (isfinite(rate) and 0 < rate <= _MOST_RATE):
        raise BadInput(
            f"--rate-scale is {rate:g}; it is a factor on the arrivals above 0 and up to {_MOST_RATE:g}."
        )
    return float(rate)


def _headroom(asked: Mapping[str, Any], plan: Planned | None) -> float | None:
    given: float | None = asked["headroom"]
    if given is not None and not 0 <= given < 1:
        raise BadInput(f"--headroom is {given:g}; it is a share from 0 to below 1.")
    return given if given is not None or plan is None else plan.headroom


def _client_timeout(given: float | None) -> float | None:
    if given is not None and not 0 < given <= _LONGEST_S:
        raise BadInput(
            f"--client-timeout is {given:g}; it is a number of seconds above 0, up to {_LONGEST_S:g}."
        )
    return given


def _check_replicas(replicas: int) -> None:
    if not 1 <= replicas <= _MOST_REPLICAS:
        raise BadInput(
            f"--replicas is {replicas}; it must be a whole number from 1 to {_MOST_REPLICAS}."
        )


def _free(folder: Path) -> Path:
    """The folder, or with a number where another run of the same second has its name."""
    numbered = (folder.with_name(f"{folder.name}-{number}") for number in count(2))
    return next(place for place in chain((folder,), numbered) if not place.exists())
