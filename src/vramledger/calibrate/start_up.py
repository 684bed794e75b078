"""What an engine's start-up log tells of a host: the calibrated rows of the ledger, measured. No step times."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from vramledger.calibrate.run_deployment import Stated
from vramledger.engine.read import read_launch
from vramledger.engine.vllm.log.launch import launch_from_log
from vramledger.engine.vllm.log.startup import read_startup
from vramledger.errors import BadInput, CannotKnow
from vramledger.evidence import Figure
from vramledger.frozen import frozen
from vramledger.ledger.case import Case
from vramledger.ledger.measured import Comparison, compare_log
from vramledger.ledger.measured_memory import ROWS, MeasuredMemory, circumstances_of
from vramledger.ledger.question import accelerator_for, model_of
from vramledger.simulate.timing.arithmetic import plain_peak
from vramledger.simulate.timing.host import Setting, setting_of

_GIB: Final = "_gib"  # after the name of a row of the ledger
_ROWS: Final = tuple(f"{row}{_GIB}" for row in ROWS)


@frozen
class MemoryTerm:
    """One calibrated row, GiB a rank: the most of all ranks, with the least and the most; and what the ledger predicted."""

    label: str
    measured: Figure
    predicted: Figure | None


@frozen
class StartUp:
    """The memory of a start. `terms` go by the ledger's rows."""

    log: str
    setting: Setting
    terms: Mapping[str, MemoryTerm]
    failures: int
    memory: MeasuredMemory


def read_start_up(path: Path, stated: Stated) -> StartUp:
    """The log beside the ledger of its launch.

    Raises:
        BadInput: no start-up log, or it names neither card nor model and nobody does.
        CannotKnow: another engine's log, or one without a calibrated row.
    """
    log = read_startup(path)
    if stated.launch is None:
        launch = launch_from_log(log, str(path))
    else:
        launch = read_launch(stated.launch, version=stated.version or log.version)
    if stated.model is not None:
        launch = replace(launch, model=stated.model)
    if stated.gpu is None:
        raise BadInput(f"{path} does not name the accelerator; name it with --gpu NAME.")
    version = stated.version or log.version
    case = Case(launch, model_of(launch), accelerator_for(stated.gpu), version)
    ledger = case.ledger()
    found: dict[str, list[Comparison]] = {}
    for each in compare_log(ledger, log, explain=False):
        if each.key in _ROWS:
            found.setdefault(each.key, []).append(each)
    if not found:
        raise CannotKnow(
            f"{path} has no line on activation, non-torch memory or CUDA graphs, so it calibrates nothing; processors "
            "and old versions print none."
        )
    deployment = ledger.deployment
    return StartUp(
        log=path.name,
        setting=setting_of(deployment, peak=plain_peak(deployment.accelerator)),
        terms={key: _term(ranks) for key, ranks in found.items()},
        failures=len(log.failures),
        memory=MeasuredMemory(
            path.name,
            circumstances_of(deployment),
            {key.removesuffix(_GIB): _term(ranks).measured for key, ranks in found.items()},
        ),
    )


def _term(ranks: list[Comparison]) -> MemoryTerm:
    most = max(ranks, key=lambda each: each.measured.value)
    values = [each.measured.value for each in ranks]
    measured = replace(most.measured, low=min(values), high=max(values))
    return MemoryTerm(most.label, measured, most.predicted)
