"""What happened during a trial beside its requests, in sentences."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from vramledger.record.journal import Entry
from vramledger.units import format_seconds

_Details = Mapping[str, Any]


def event_sentences(entries: Iterable[Entry]) -> Iterator[str]:
    """One for each event, in their order; those that say the same at several moments are one."""
    said: dict[str, list[float]] = {}
    for each in entries:
        said.setdefault(_SENTENCES.get(each.event, _plain(each.event))(each.details), []).append(
            each.t_s
        )
    for sentence, moments in said.items():
        yield f"at {moments[0]:,.1f} s{_again(len(moments) - 1)}: {sentence}."


def _again(more: int) -> str:
    return f" and {more:,} more time{'s' if more > 1 else ''}" if more else ""


def _plain(event: str) -> Callable[[_Details], str]:
    """Of an event without words of its own: its name and its details."""

    def said(details: _Details) -> str:
        told = ", ".join(f"{name} {value}" for name, value in details.items())
        return f"{event.replace('_', ' ')} ({told})" if told else event.replace("_", " ")

    return said


def _gap(details: _Details) -> str:
    return f"{_source(details['source'])} could not be read: {details['why']}"


def _source(name: str) -> str:
    """A source by what it is to a reader."""
    if name.startswith("target-"):
        return f"the metrics page of {'the server' if name == 'target-0' else name}"
    return {"gpu": "the GPUs", "client": "this machine's own load"}.get(name, name)


def _restarted(details: _Details) -> str:
    uptime = details["began_at"] - details["before"]
    return f"the server restarted, {format_seconds(max(uptime, 0.0))} after it had started before, and its counters began anew"


def _fell(details: _Details) -> str:
    return f"{details['counters']:,} counters of the server fell, as after a restart; the first is {details['first']}"


def _reset(details: _Details) -> str:
    if details["done"]:
        return "the server emptied its prefix cache"
    return f"the prefix cache was not emptied: {details['why']}"


def _resumed(details: _Details) -> str:
    if not details["sent"]:
        return "the run was resumed; nothing of the load had been sent"
    return (
        f"the run was resumed; {details['sent']:,} requests had been sent, and the record before is known to "
        f"{details['known_to_s']:,.1f} s"
    )


def _interrupted(details: _Details) -> str:
    return {
        "drained": "interrupted; what was under way could end",
        "cancelled": "interrupted; what was under way was cancelled",
    }.get(details["how"], f"interrupted ({details['how']})")


def _limit(details: _Details) -> str:
    return f"what was still under way {format_seconds(details['seconds'])} after the last was sent was cancelled (--drain)"


def _lost(details: _Details) -> str:
    return f"the client's {details['writer']} was lost: {details['why']}"


def _ecc(details: _Details) -> str:
    return f"{details['gpu']} had memory errors: {details['corrected']} corrected, {details['uncorrected']} not"


def _xid(details: _Details) -> str:
    return f"the driver reported Xid {details['xid']} of {details['gpu']}"


def _clocks(details: _Details) -> str:
    workers = details["workers"]
    hosts = sorted({each["host"] for each in workers.values()})
    worst = max((each["error_s"] for each in workers.values()), default=0.0)
    return (
        f"{len(workers)} workers on {', '.join(hosts)} sent; their clocks are aligned with this one to within "
        f"{worst * 1e3:.3g} ms, drift while the load ran included"
    )


_SENTENCES: Final[Mapping[str, Callable[[_Details], str]]] = {
    "client_clocks": _clocks,
    "gap_began": _gap,
    "server_restarted": _restarted,
    "counters_fell": _fell,
    "prefix_cache_reset": _reset,
    "resumed": _resumed,
    "interrupted": _interrupted,
    "drain_limit": _limit,
    "worker_lost": _lost,
    "gpu_ecc_errors": _ecc,
    "gpu_xid": _xid,
}
