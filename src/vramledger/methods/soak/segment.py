"""One segment of a soak: a trial of the same load, and what the server holds when it is idle again."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from vramledger.frozen import frozen
from vramledger.methods.measured.observed import gone
from vramledger.record.run import read_run
from vramledger.trial.conduct.summary import summarise
from vramledger.trial.sampling.processes import ServerProcesses

_PROC: Final = Path("/proc")
_KIB: Final = 1024


@frozen
class Segment:
    """`t_s` is seconds of the wall clock at its end. Figures are None where nothing tells.

    Latencies are medians of what was answered; None too where the client was the bottleneck. Memory and blocks are those
    of an idle server, GPU memory that under the load. `restarted` is whether the server went away meanwhile, `began_at`
    when its process began, in seconds since 1970.
    """

    folder: str
    t_s: float
    ended: str | None
    requests: int
    ok: int
    ttft_p50_s: float | None
    e2e_p50_s: float | None
    process_bytes: float | None
    page_process_bytes: float | None
    gpu_bytes: float | None
    idle_kv_usage: float | None
    restarted: bool
    inconclusive: tuple[str, ...] = ()
    began_at: float | None = None

    def to_json(self) -> dict[str, Any]:
        """As soak.json keeps it."""
        from dataclasses import asdict

        return asdict(self) | {"inconclusive": list(self.inconclusive)}

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> "Segment":
        """What `to_json` made."""
        return cls(**{**found, "inconclusive": tuple(found["inconclusive"])})


def read_segment(
    folder: Path, t_s: float, idle: Mapping[str, float], process_bytes: float | None
) -> Segment:
    """The segment of a closed trial; `idle` are the server's levels after it, by common name.

    Raises:
        BadInput: it is no closed trial, or damaged.
    """
    summary = summarise(read_run(folder))
    ok = summary.latencies.ok
    late = bool(summary.client_bottleneck)
    ended = summary.description.ended
    return Segment(
        folder=folder.name,
        t_s=t_s,
        ended=None if ended is None else ended.value,
        requests=summary.offered,
        ok=summary.requests["ok"],
        ttft_p50_s=None if late else ok["ttft_s"].p50,
        e2e_p50_s=None if late else ok["e2e_s"].p50,
        process_bytes=process_bytes,
        page_process_bytes=idle.get("process_resident_bytes"),
        gpu_bytes=summary.server.gpu_bytes.p50,
        idle_kv_usage=idle.get("kv_usage"),
        restarted=bool(gone(summary)),
        inconclusive=summary.inconclusive,
        began_at=idle.get("process_start_s"),
    )


def resident_bytes(processes: ServerProcesses | None, root: Path = _PROC) -> float | None:
    """Private and shared memory of a server's processes on this machine, added up; None where none can be seen."""
    if processes is None:
        return None
    told = [size for pid in processes() if (size := _resident(root / str(pid))) is not None]
    return float(sum(told)) if told else None


def _resident(place: Path) -> int | None:
    try:
        for line in (place / "status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * _KIB
    except (OSError, ValueError, IndexError):
        return None
    return None
