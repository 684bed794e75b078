"""The client machine's processors, memory and network, from /proc.

https://www.kernel.org/doc/html/latest/filesystems/proc.html; a machine without /proc has gaps and no rows.
"""

from pathlib import Path
from typing import Final

from vramledger.frozen import frozen
from vramledger.record.samples import MetricKind, Sample
from vramledger.trial.sampling.source import Clock, Missed, Taken

TARGET: Final = "client"
_KIB: Final = 1024


@frozen
class _Cpu:
    """Clock ticks of one processor since boot: busy ones and all."""

    busy: int
    total: int


class HostSource:
    """A source of server rows with the target `client`; shares of processors are those since the row before."""

    name = TARGET
    every_s: float | None = None

    def __init__(self, root: Path = Path("/proc")) -> None:
        self._root = root
        self._last: dict[str, _Cpu] = {}

    def take(self, clock: Clock) -> Taken:
        """The figures now; the first time without shares, as there is no row before."""
        t_s = clock.now_s()
        try:
            cpus = _cpus((self._root / "stat").read_text())
            memory = _memory((self._root / "meminfo").read_text())
            load = float((self._root / "loadavg").read_text().split()[0])
            network = self._network()
        except (OSError, ValueError, IndexError, KeyError) as error:
            raise Missed("no_proc", "this machine's /proc cannot be read") from error
        shares = {name: _share(self._last.get(name), now) for name, now in cpus.items()}
        self._last = cpus
        told = {name: share for name, share in shares.items() if share is not None}
        busiest = max((share for name, share in told.items() if name != "cpu"), default=None)
        gauges = {
            "host_cpu": told.get("cpu"),
            "host_cpu_busiest": busiest,
            "host_memory_used_bytes": float(memory["MemTotal"] - memory["MemAvailable"]),
            "host_memory_total_bytes": float(memory["MemTotal"]),
            "host_load": load,
            "host_sockets": network.get("sockets"),
        }
        counters = {"host_tcp_retransmits": network.get("retransmits")}
        rows = (
            Sample(t_s, TARGET, name, kind, value, name=name)
            for kind, figures in ((MetricKind.GAUGE, gauges), (MetricKind.COUNTER, counters))
            for name, value in figures.items()
            if value is not None
        )
        levels = {name: value for name, value in gauges.items() if value is not None}
        return Taken(tuple(rows), levels=levels)

    def close(self) -> None:
        """Nothing is held."""

    def _network(self) -> dict[str, float]:
        """Of this network namespace; empty where the kernel does not tell."""
        found: dict[str, float] = {}
        sockets = self._root / "net" / "sockstat"
        counts = self._root / "net" / "snmp"
        if sockets.exists():
            for line in sockets.read_text().splitlines():
                if line.startswith("TCP: inuse "):
                    found["sockets"] = float(line.split()[2])
        if counts.exists():
            lines = [line.split() for line in counts.read_text().splitlines() if line[:4] == "Tcp:"]
            names, values = lines
            found["retransmits"] = float(values[names.index("RetransSegs")])
        return found


def _cpus(text: str) -> dict[str, _Cpu]:
    """`cpu` for all of them together, `cpu0` and so on for each."""
    found = {}
    for line in text.splitlines():
        if line.startswith("cpu"):
            name, *ticks = line.split()
            user, nice, system, idle, waiting, *others = (int(tick) for tick in ticks[:8])
            busy = user + nice + system + sum(others)
            found[name] = _Cpu(busy, busy + idle + waiting)
    return found


def _share(before: _Cpu | None, now: _Cpu) -> float | None:
    if before is None or now.total <= before.total:
        return None
    return min(1.0, max(0.0, (now.busy - before.busy) / (now.total - before.total)))


def _memory(text: str) -> dict[str, int]:
    rows = (line.split() for line in text.splitlines())
    return {row[0].rstrip(":"): int(row[1]) * _KIB for row in rows if len(row) > 1}
