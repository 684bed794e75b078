"""What a probe found, for a terminal."""

from collections.abc import Iterator, Sequence

from vramledger.hardware.condition import Condition, Conditions
from vramledger.printable import flat
from vramledger.report.table import table
from vramledger.trial.probing.machine import Machine
from vramledger.trial.probing.probe import Probe
from vramledger.trial.probing.remarks import Remark
from vramledger.trial.server import ServerFacts
from vramledger.units import GIB, MIB

_UNKNOWN = "-"


def probe_text(probe: Probe, remarks: Sequence[Remark]) -> str:
    """Sections with what is known, then the remarks, then what was not checked."""
    lines = [*_machine(probe.machine)]
    if probe.gpus is not None:
        lines += ["", *_gpus(probe.gpus)]
    lines += _measured(probe)
    if probe.server is not None:
        lines += ["", *_server(probe.server)]
    if remarks:
        lines += ["", "To be said"]
        lines += [f"  {each.severity:<8}{each.id}  {_of(each)}{each.message}" for each in remarks]
    lines += ["", "Not checked", *(f"  {sentence}" for sentence in probe.not_checked)]
    return "\n".join(map(flat, lines))


def _of(remark: Remark) -> str:
    return f"{remark.gpu}: " if remark.gpu else ""


def _machine(machine: Machine) -> Iterator[str]:
    yield "This machine"
    quota = "" if machine.processors_quota is None else f", {machine.processors_quota:g} by quota"
    limit = machine.memory_limit_bytes
    limited = "" if limit is None else f", limited to {_gib(limit)}"
    place = "in a container" if machine.container else "not in a container"
    who = "as root" if machine.root else "not as root"
    yield f"  processors        {machine.processors} x {machine.processor or 'unknown'}{quota}"
    yield (
        f"  memory            {_gib(machine.memory_bytes)}, {_gib(machine.memory_available_bytes)} "
        f"available{limited}; swap {_gib(machine.swap_bytes)}"
    )
    yield f"  /dev/shm          {_gib(machine.shared_memory_bytes)}"
    yield f"  open files        {machine.open_files or 'without a limit'}"
    yield f"  disk              {_gib(machine.disk_free_bytes)} free at {machine.disk}"
    yield f"  run               {place}, {who}"


def _gpus(found: Conditions) -> Iterator[str]:
    yield f"GPUs (driver {found.driver or 'unknown'}, CUDA up to {found.cuda or 'unknown'})"
    head = ("GPU", "board", "kept", "in use", "PCIe", "NVLinks", "power", "SM MHz", "ECC", "C")
    rows = [_row(gpu) for gpu in found.gpus]
    yield from (f"  {line}" for line in table(head, rows, frozenset(range(1, len(head)))))
    for gpu in found.gpus:
        yield f"  {gpu.name}: {gpu.uuid}"
    for pair in found.pairs:
        access = {True: "peer access", False: "no peer access", None: "peer access unknown"}
        nvlink = {True: ", NVLink", False: ", no NVLink", None: ""}
        yield (
            f"  {pair.first} and {pair.second}: {pair.common or 'place unknown'}, "
            f"{access[pair.peer_access]}{nvlink[pair.nvlink]}"
        )


def _row(gpu: Condition) -> tuple[str, ...]:
    memory = gpu.memory
    link = f"{_n(gpu.pcie_generation)}/{_n(gpu.pcie_generation_max)} x{_n(gpu.pcie_width)}/{_n(gpu.pcie_width_max)}"
    return (
        gpu.uuid[:12],
        _gib(gpu.total_bytes),
        _gib(memory.reserved if memory else None),
        _gib(memory.used if memory else None),
        link,
        _n(gpu.nvlinks),
        f"{_n(gpu.power_limit_w)}/{_n(gpu.power_limit_default_w)} W",
        f"{_n(gpu.sm_clock_mhz)}/{_n(gpu.sm_clock_max_mhz)}",
        {True: "on", False: "off", None: _UNKNOWN}[gpu.ecc_on],
        _n(gpu.temperature_c),
    )


def _measured(probe: Probe) -> list[str]:
    lines = []
    if probe.disk is not None:
        lines.append(f"  disk written at {probe.disk.bytes_per_s / MIB:,.0f} MiB/s (measured)")
    if probe.download is not None:
        lines.append(f"  download at {probe.download.bytes_per_s / MIB:,.1f} MiB/s (measured)")
    if probe.all_reduce is not None:
        found = probe.all_reduce
        lines.append(
            f"  all-reduce over all GPUs: {found.latency_us:,.1f} us for 8 bytes, up to "
            f"{found.bus_gb_s:,.1f} GB/s on the bus (measured)"
        )
    return ["", "Speeds", *lines] if lines else []


def _server(facts: ServerFacts) -> Iterator[str]:
    yield f"The server at {facts.base}"
    yield f"  engine            {facts.engine or 'unknown'} {facts.engine_version or ''}".rstrip()
    yield f"  models            {', '.join(model.name for model in facts.models) or 'unknown'}"
    up = "unknown" if facts.uptime_s is None else f"{facts.uptime_s:,.0f} s"
    yield f"  up for            {up}"
    if facts.seen.kv_tokens is not None:
        yield f"  KV cache          {facts.seen.kv_tokens:,} tokens"
    for name, value in sorted(facts.seen.arguments.items()):
        yield f"  --{name} {value}"


def _gib(size: int | None) -> str:
    return _UNKNOWN if size is None else f"{size / GIB:.2f} GiB"


def _n(value: float | None) -> str:
    return _UNKNOWN if value is None else f"{value:g}"
