"""What the server and its GPUs did while the load was sent."""

from collections.abc import Sequence
from math import inf
from typing import TYPE_CHECKING, Any, Final

from vramledger.frozen import frozen
from vramledger.record.samples import GPU, SERVER
from vramledger.trial.conduct.history import Span
from vramledger.trial.conduct.spread import Spread, spread
from vramledger.trial.conduct.watch import SERVER as TARGET
from vramledger.trial.sampling.history import History, increase, read_histories

if TYPE_CHECKING:
    import numpy as np

    from vramledger.record.run import Run

    Floats = np.ndarray[Any, np.dtype[np.float64]]

_LEVELS: Final = ("kv_usage", "running", "waiting")
_LARGEST: Final = frozenset({"kv_usage"})  # of several engines the fullest counts


@frozen
class ServerSide:
    """Levels over the measured part by common name, and what counters grew by; None where the server does not tell.

    `kv_tokens` are tokens in the KV cache, where its size is known. `prefix_hit_share` is 0..1. `memory_bytes` is by
    GPU, `gpu_bytes` of the fullest one at each moment.
    """

    levels: dict[str, Spread]
    kv_tokens: Spread
    kv_capacity_tokens: int | None
    preemptions: float | None
    prefix_hit_share: float | None
    generation_tokens: float | None
    prompt_tokens: float | None
    pages: int
    memory_bytes: dict[str, Spread]
    gpu_bytes: Spread


def server_side(
    run: "Run", spans: Sequence[Span], capacity: int | None, until_s: float = inf
) -> ServerSide:
    """The figures of a run in the spans in which its load was sent; what counters grew by ends with the last page before `until_s`.

    Raises:
        BadInput: a table is damaged.
    """
    there = SERVER.name in run.tables
    levels = {name: _level(run, name, spans) if there else Spread() for name in _LEVELS}
    counted = {
        name: _grown(run, name, spans, until_s) if there else None
        for name in ("preemptions", "prefix_hits", "prefix_queries", "generation_tokens", "prompt_tokens")
    }  # fmt: skip
    queries = counted["prefix_queries"]
    memory, fullest = _memory(run, spans)
    return ServerSide(
        levels=levels,
        kv_tokens=_times(levels["kv_usage"], capacity),
        kv_capacity_tokens=capacity,
        preemptions=counted["preemptions"],
        prefix_hit_share=(counted["prefix_hits"] or 0.0) / queries if queries else None,
        generation_tokens=counted["generation_tokens"],
        prompt_tokens=counted["prompt_tokens"],
        pages=levels["running"].count,
        memory_bytes=memory,
        gpu_bytes=fullest,
    )


def _level(run: "Run", name: str, spans: Sequence[Span]) -> Spread:
    """Over the pages that were read while the load was sent."""
    import numpy as np

    histories = read_histories(run, name, TARGET)
    if not histories:
        return Spread()
    values = np.array([each.values for each in histories])
    told = ~np.isnan(values).all(axis=0)
    combined = np.full(values.shape[1], np.nan)
    if name in _LARGEST:
        combined[told] = np.nanmax(values[:, told], axis=0)
    else:
        combined[told] = np.nansum(values[:, told], axis=0)
    return spread(combined[_inside(histories[0].t_s, spans)])


def _grown(run: "Run", name: str, spans: Sequence[Span], until_s: float) -> float | None:
    """By how much a counter grew from the first span's begin on, restarts allowed for."""
    histories = read_histories(run, name, TARGET)
    if not histories or not spans:
        return None
    return sum(increase(_between(each, spans[0].from_s, until_s)) for each in histories)


def _between(history: History, from_s: float, until_s: float) -> "Floats":
    """From the last page before a moment on, to the last before another; a series that begins later began at 0."""
    import numpy as np

    first = max(int(np.searchsorted(history.t_s, from_s, side="right")) - 1, 0)
    end = int(np.searchsorted(history.t_s, until_s, side="right"))
    values = history.values[first:end]
    return np.append(0.0, values) if len(values) and np.isnan(values[0]) else values


def _memory(run: "Run", spans: Sequence[Span]) -> tuple[dict[str, Spread], Spread]:
    import numpy as np

    if GPU.name not in run.tables:
        return {}, Spread()
    table = run.table(GPU)
    numbers = table.numbers("t_s", "used_bytes")
    uuid = np.asarray(table.read(("gpu_uuid",))["gpu_uuid"].to_pylist(), dtype=object)
    inside = _inside(numbers["t_s"], spans)
    used, t_s, uuid = numbers["used_bytes"][inside], numbers["t_s"][inside], uuid[inside]
    by_gpu = {str(each): spread(used[uuid == each]) for each in sorted(set(uuid.tolist()))}
    _, moment = np.unique(t_s, return_inverse=True)
    fullest = np.full(moment.max(initial=-1) + 1, -np.inf)
    np.maximum.at(fullest, moment, np.where(np.isnan(used), -np.inf, used))
    return by_gpu, spread(fullest[np.isfinite(fullest)])


def _inside(t_s: "Floats", spans: Sequence[Span]) -> "np.ndarray[Any, np.dtype[np.bool_]]":
    import numpy as np

    inside = np.zeros(len(t_s), dtype=np.bool_)
    for span in spans:
        inside |= (t_s >= span.from_s) & (t_s <= span.to_s)
    return inside


def _times(found: Spread, capacity: int | None) -> Spread:
    if capacity is None or found.p50 is None:
        return Spread()
    told = {name: getattr(found, name) for name in ("mean", "p50", "p95", "p99", "max")}
    return Spread(**{name: value * capacity for name, value in told.items()}, count=found.count)
