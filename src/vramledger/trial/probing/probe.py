"""Everything that can be learned of a rented machine before a trial, and what could not be read."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from vramledger.errors import BadInput, CannotKnow, ExitCode
from vramledger.frozen import frozen
from vramledger.hardware.accelerator import Accelerator
from vramledger.hardware.condition import Condition, Conditions, conditions
from vramledger.trial.probing.kernel_log import LoggedXid, logged_xids
from vramledger.trial.probing.machine import Machine, read_machine
from vramledger.trial.probing.measured import (
    TOOL,
    AllReduce,
    Speed,
    all_reduce,
    disk_write_speed,
    download_speed,
)
from vramledger.trial.server import ServerFacts, ask_server

if TYPE_CHECKING:
    from vramledger.record.document import Deployment


@frozen
class Ordered:
    """What was ordered or planned, as far as somebody says. `cards` are the choices; () for any."""

    cards: tuple[Accelerator, ...] = ()
    gpus: int | None = None
    deployment: "Deployment | None" = None


@frozen
class Wanted:
    """What a probe is to look at besides the machine itself."""

    url: str | None = None
    key: str | None = None
    disk: Path | None = None  # measure how fast it is written
    download: str | None = None  # measure how fast this address is read
    links: bool = False  # run the tool that measures the links between GPUs


@frozen
class Probe:
    """What was found. `not_checked` are sentences, each with what would help."""

    gpus: Conditions | None
    xids: tuple[LoggedXid, ...] | None
    machine: Machine
    server: ServerFacts | None
    disk: Speed | None
    download: Speed | None
    all_reduce: AllReduce | None
    not_checked: tuple[str, ...]


def probe(wanted: Wanted) -> Probe:
    """Look at this machine, and at a server where one is named.

    Raises:
        BadInput: the server cannot be reached, or a folder or an address cannot be used.
    """
    missing: list[str] = []
    gpus = _gpus(missing)
    xids = logged_xids()
    if xids is None:
        missing.append(
            "Errors of GPUs in the kernel's log: /dev/kmsg may not be read here; try as root."
        )
    server = None if wanted.url is None else ask_server(wanted.url, wanted.key)
    if server is None:
        missing.append("A server: name one with --url.")
    else:
        missing += [f"Of the server: {unseen}." for unseen in server.unseen]
    if wanted.disk is None:
        missing.append("The speed of the disk: name a folder with --disk.")
    if wanted.download is None:
        missing.append("The speed of downloads: name an address with --download.")
    return Probe(
        gpus=gpus,
        xids=xids,
        machine=read_machine(wanted.disk or Path.cwd()),
        server=server,
        disk=None if wanted.disk is None else disk_write_speed(wanted.disk),
        download=None if wanted.download is None else download_speed(wanted.download),
        all_reduce=_links(gpus, missing, measure=wanted.links),
        not_checked=(*missing, *_untold(gpus.gpus if gpus else ())),
    )


def _gpus(missing: list[str]) -> Conditions | None:
    try:
        found = conditions()
    except CannotKnow as error:
        missing.append(f"The GPUs: {error}")
        return None
    if not found.gpus:
        missing.append("The GPUs: the driver shows none to this process.")
        return None
    return found


def _links(gpus: Conditions | None, missing: list[str], *, measure: bool) -> AllReduce | None:
    """Only where there is more than one GPU; where it was asked for and cannot be, that is told."""
    count = 0 if gpus is None else len(gpus.gpus)
    if count < 2:
        if measure:
            why = "there is one GPU, and so no link" if count else "no GPU can be read here"
            missing.append(f"The speed of the links between GPUs, which --links asks for: {why}.")
        return None
    missing.append(_PAIRS)
    found = all_reduce(count) if measure else f"ask for it with --links, which runs {TOOL}"
    if isinstance(found, str):
        missing.append(f"The speed of the links between GPUs: {found}.")
        return None
    return found


def _untold(gpus: Iterable[Condition]) -> list[str]:
    """Figures that no GPU tells."""
    found = []
    each = tuple(gpus)
    for name, words in _FIGURES.items():
        if each and all(getattr(gpu, name) is None for gpu in each):
            found.append(f"{words}: the driver does not tell it here.")
    return found


_PAIRS = (
    "The bandwidth from one GPU to another: nothing here measures it; p2pBandwidthLatencyTest of NVIDIA's cuda-samples, "
    "or nvbandwidth, does."
)
_FIGURES = {
    "memory": "What the driver keeps of the memory",
    "processes": "Other processes on the GPUs",
    "mig_on": "Whether the GPUs are cut into slices",
    "virtualization": "Whether the GPUs are virtual",
    "pcie_width": "The PCIe link",
    "power_limit_w": "The power limit",
    "ecc_on": "Whether memory errors are corrected",
    "remap_failed": "Whether spare memory rows are left",
    "nvlinks": "NVLink",
}


def verdict(probe: Probe, errors: int) -> ExitCode:
    """Whether the machine is as ordered and sound; cannot know without its GPUs."""
    if errors:
        return ExitCode.DOES_NOT_HOLD
    return ExitCode.HOLDS if probe.gpus is not None else ExitCode.CANNOT_KNOW


def ordered_from_plan(path: str) -> Ordered:
    """The cards, the engine and its arguments that a plan asks for.

    Raises:
        BadInput: the plan cannot be used.
    """
    from vramledger.plan.read import read_plan
    from vramledger.record.document import Deployment

    plan = read_plan(path)
    asked = Deployment(
        engine=plan.engine.name,
        engine_version=plan.engine.version,
        model=plan.model,
        arguments={
            name: True if value is None else value for name, value in plan.engine.args.items()
        },
    )
    return Ordered(plan.accelerators, None, asked)


def ordered_from_options(gpu: str | None, gpus: int | None, plan: str | None) -> Ordered:
    """What options and a plan say together; a card that is named wins over the plan's.

    Raises:
        BadInput: as `ordered_from_plan`, or a count that is none.
    """
    from dataclasses import replace

    from vramledger.hardware.catalogue import find

    if gpus is not None and gpus < 1:
        raise BadInput(f"--gpus {gpus} is no number of GPUs; give 1 or more.")
    ordered = Ordered() if plan is None else ordered_from_plan(plan)
    cards = ordered.cards if gpu is None else (find(gpu),)
    return replace(ordered, cards=cards, gpus=gpus)
