"""What is to be said of a probe: one rule each, with a stable id.

An error says that the machine is not what was ordered or is not sound; a warning says that figures measured on it may
not hold elsewhere or later.
"""

from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import Final, TypeAlias

from vramledger.frozen import frozen
from vramledger.hardware.catalogue import printing
from vramledger.hardware.condition import Condition
from vramledger.trial.probing.probe import Ordered, Probe
from vramledger.trial.server.differences import differences
from vramledger.units import GIB, MIB

_OURS: Final = 256 * MIB  # of memory in use on a GPU at rest, which drivers take for themselves
_FILES: Final = 4096
_SHARED: Final = 1 * GIB
_LESS_MEMORY: Final = 0.99
_CAP: Final = 0.97
_SLOWING: Final = ("hardware_slowdown", "software_thermal", "hardware_thermal", "power_brake")
_FAULTS: Final = frozenset(
    {48, 63, 64, 74, 79, 92, 94, 95, 119, 120}
)  # of the GPU, not of a program


class Severity(StrEnum):
    """How much a remark weighs."""

    ERROR = "error"
    WARNING = "warning"


@frozen
class Remark:
    """One finding: its id, what it is about (a GPU's UUID, or empty for the machine), a sentence with the remedy."""

    id: str
    severity: Severity
    gpu: str
    message: str


Found: TypeAlias = Iterator[tuple[str, str]]  # GPU and sentence


def remarks(probe: Probe, ordered: Ordered) -> tuple[Remark, ...]:
    """All that is to be said, errors first."""
    found = [
        Remark(rule.id, rule.severity, gpu, message)
        for rule in RULES
        for gpu, message in rule.find(probe, ordered)
    ]
    return tuple(sorted(found, key=lambda remark: remark.severity is not Severity.ERROR))


def _each(probe: Probe) -> tuple[Condition, ...]:
    return probe.gpus.gpus if probe.gpus is not None else ()


def _other_card(probe: Probe, ordered: Ordered) -> Found:
    wanted = {name for card in ordered.cards for name in (card.name, *card.prints)}
    names = " or ".join(card.name for card in ordered.cards)
    for gpu in _each(probe):
        known = {card.name for card in printing(gpu.name)}
        if wanted and gpu.name not in wanted and not known & wanted:
            yield (
                gpu.uuid,
                f"It is of the kind {gpu.name}, and {names} was asked for; refuse the machine or change the plan.",
            )


def _fewer(probe: Probe, ordered: Ordered) -> Found:
    count = len(_each(probe))
    if ordered.gpus is not None and probe.gpus is not None and count != ordered.gpus:
        yield (
            "",
            f"There are {count} GPUs, and {ordered.gpus} were ordered; ask the provider for the others.",
        )


def _less_memory(probe: Probe, ordered: Ordered) -> Found:
    """Against the smallest card of that name that was asked for, or else of the catalogue."""
    for gpu in _each(probe):
        cards = [c for c in printing(gpu.name) if not ordered.cards or c in ordered.cards]
        if gpu.memory is None or gpu.total_bytes is None or not cards:
            continue
        given = gpu.total_bytes - (gpu.memory.reserved or 0)
        least = min(card.total.low for card in cards) * GIB
        if given < _LESS_MEMORY * least:
            yield (
                gpu.uuid,
                (
                    f"It gives programs {given / GIB:.2f} GiB, and such a card gives {least / GIB:.2f}; ask the "
                    "provider what holds the rest."
                ),
            )


def _spare_rows(probe: Probe, _: Ordered) -> Found:
    for gpu in _each(probe):
        if gpu.remap_failed:
            yield gpu.uuid, "Its memory has no spare rows left; ask for another GPU."
        elif gpu.remap_pending:
            yield (
                gpu.uuid,
                "A row of its memory is to be replaced at the next reset; have the GPU reset first.",
            )


def _uncorrected(probe: Probe, _: Ordered) -> Found:
    for gpu in _each(probe):
        if gpu.ecc_uncorrected:
            yield (
                gpu.uuid,
                (
                    f"Its memory had {gpu.ecc_uncorrected} uncorrectable errors since the driver was loaded; ask for "
                    "another GPU."
                ),
            )


def _kernel_log(probe: Probe, _: Ordered) -> Found:
    for xid in probe.xids or ():
        if xid.number in _FAULTS:
            yield (
                "",
                (
                    f"The kernel's log has Xid {xid.number} of the GPU at {xid.place} ({xid.times} times), which points to "
                    "the hardware; look it up in NVIDIA's list and ask for another GPU."
                ),
            )


def _server(probe: Probe, ordered: Ordered) -> Found:
    if probe.server is not None and ordered.deployment is not None:
        for sentence in differences(ordered.deployment, probe.server.deployment()):
            yield "", sentence


def _slowed(probe: Probe, _: Ordered) -> Found:
    for gpu in _each(probe):
        reasons = [reason for reason in gpu.throttle or () if reason in _SLOWING]
        if reasons:
            yield (
                gpu.uuid,
                f"Its clocks are held down now ({', '.join(reasons)}); look at its cooling and power.",
            )


def _neighbours(probe: Probe, _: Ordered) -> Found:
    for gpu in _each(probe):
        if gpu.processes:
            count = len(gpu.processes)
            yield (
                gpu.uuid,
                f"{count} processes use it; where they are not the server, end them before the trial.",
            )
        elif gpu.memory is not None and gpu.memory.used > _OURS:
            yield (
                gpu.uuid,
                (
                    f"{gpu.memory.used / GIB:.2f} GiB of it are in use by processes that cannot be seen from here; end "
                    "them, or count them in."
                ),
            )


def _cut(probe: Probe, _: Ordered) -> Found:
    for gpu in _each(probe):
        if gpu.mig_on:
            yield (
                gpu.uuid,
                f"It is cut into {len(gpu.slices)} MIG slices; plan for a slice, or have MIG switched off.",
            )
        if gpu.virtualization == "vgpu":
            yield (
                gpu.uuid,
                "It is a virtual GPU: others may share its time; measure at the hours that count.",
            )


def _narrow(probe: Probe, _: Ordered) -> Found:
    for gpu in _each(probe):
        now, most = gpu.pcie_width, gpu.pcie_width_max
        if now and most and now < most:
            yield (
                gpu.uuid,
                f"Its PCIe link has {now} lanes of {most}; loading and host offload will be slower.",
            )


def _capped(probe: Probe, _: Ordered) -> Found:
    for gpu in _each(probe):
        limit, usual = gpu.power_limit_w, gpu.power_limit_default_w
        if limit and usual and limit < _CAP * usual:
            yield (
                gpu.uuid,
                f"Its power is limited to {limit:.0f} W of {usual:.0f}; prefill will be slower than elsewhere.",
            )


def _unprotected(probe: Probe, _: Ordered) -> Found:
    for gpu in _each(probe):
        if gpu.ecc_on is False:
            yield (
                gpu.uuid,
                "Memory errors are not corrected (ECC is off), which may give more memory than in production.",
            )


def _closed(probe: Probe, _: Ordered) -> Found:
    for gpu in _each(probe):
        if gpu.compute_mode == 2:
            yield (
                gpu.uuid,
                "No program may use it (compute mode prohibited); have it set to default.",
            )
        if gpu.compute_mode == 3:
            yield (
                gpu.uuid,
                "Only one process may use it (compute mode exclusive); a second server will not start.",
            )


def _apart(probe: Probe, _: Ordered) -> Found:
    pairs = probe.gpus.pairs if probe.gpus is not None else ()
    count = sum(pair.peer_access is False for pair in pairs)
    if count:
        yield (
            "",
            (
                f"{count} of {len(pairs)} pairs of GPUs cannot read each other's memory; tensor parallelism goes through "
                "the host there."
            ),
        )


def _limits(probe: Probe, _: Ordered) -> Found:
    machine = probe.machine
    if machine.open_files is not None and machine.open_files < _FILES:
        yield (
            "",
            f"A process may have {machine.open_files} open files; raise it with ulimit -n to {_FILES} or more.",
        )
    shared = machine.shared_memory_bytes
    if shared is not None and shared < _SHARED and len(_each(probe)) > 1:
        yield (
            "",
            f"The shared memory (/dev/shm) has {shared / MIB:.0f} MiB; start the container with --ipc=host or a larger --shm-size.",
        )
    quota = machine.processors_quota
    if quota is not None and quota < machine.processors:
        yield (
            "",
            f"The container may use {quota:g} of {machine.processors} processors; a server's front end may want more.",
        )


def _logged(probe: Probe, _: Ordered) -> Found:
    for xid in probe.xids or ():
        if xid.number not in _FAULTS:
            yield (
                "",
                (
                    f"The kernel's log has Xid {xid.number} of the GPU at {xid.place} ({xid.times} times), which programs "
                    "may cause; see what ran."
                ),
            )


@frozen
class Rule:
    """One row."""

    id: str
    severity: Severity
    find: Callable[[Probe, Ordered], Found]


_E, _W = Severity.ERROR, Severity.WARNING
RULES: Final = (
    Rule("P01", _E, _other_card),
    Rule("P02", _E, _fewer),
    Rule("P03", _E, _less_memory),
    Rule("P04", _E, _spare_rows),
    Rule("P05", _E, _uncorrected),
    Rule("P06", _E, _kernel_log),
    Rule("P07", _E, _server),
    Rule("P08", _W, _slowed),
    Rule("P09", _W, _neighbours),
    Rule("P10", _W, _cut),
    Rule("P11", _W, _narrow),
    Rule("P12", _W, _capped),
    Rule("P13", _W, _unprotected),
    Rule("P14", _W, _closed),
    Rule("P15", _W, _apart),
    Rule("P16", _W, _limits),
    Rule("P17", _W, _logged),
)
