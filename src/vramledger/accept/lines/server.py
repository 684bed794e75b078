"""Lines that only the server's and the GPUs' own figures decide: KV cache, preemption, growth of GPU memory."""

from collections.abc import Iterator
from math import inf
from typing import TYPE_CHECKING, Any, Final

from vramledger.accept.lines.about import GPU_ROWS, SERVER_ROWS, About
from vramledger.accept.settling import longer
from vramledger.accept.verdict import Line, Said, held
from vramledger.methods.measured.levels import levels_told
from vramledger.record.samples import GPU
from vramledger.statistics.estimate import percentile_of
from vramledger.statistics.trend import FEWEST, trend

if TYPE_CHECKING:
    import numpy as np

    Floats = np.ndarray[Any, np.dtype[np.float64]]

_P99: Final = 0.99
_GIB: Final = float(1 << 30)
_HOUR_S: Final = 3600.0
_BINS: Final = 60
_SETTLING: Final = 0.1  # of the time, at the beginning: caches fill and allocators settle
_SLOPE_POWER: Final = 2 / 3  # the error of a slope falls with the duration to the power of 1.5
_FEWEST_SAMPLES: Final = 20
_LONGER: Final = "a longer run of the same load"


def server_lines(about: About) -> Iterator[Line]:
    """The lines that the contract has, by the words that `Contract.server_lines` gives them."""
    contract = about.scenario.contract
    names = iter(contract.server_lines)
    if contract.kv_free is not None:
        yield _kv_free(about, next(names), contract.kv_free)
    if contract.preemptions_per_1000 is not None:
        yield _preemptions(about, next(names), contract.preemptions_per_1000)
    if contract.memory_growth_gib_per_hour is not None:
        yield _memory(about, next(names), contract.memory_growth_gib_per_hour)


def _kv_free(about: About, name: str, least: float) -> Line:
    """The share that was free but for 1 % of the time, by the fullest engine; an end that the pages do not bound is the lowest one read."""
    free = _free(about)
    records = (SERVER_ROWS,)
    if len(free) < _FEWEST_SAMPLES:
        return Line(name, Said.INCONCLUSIVE, "0..1", threshold=least, records=records,
                    reason=f"the server told how full its KV cache is on {len(free)} pages, and {_FEWEST_SAMPLES} are needed",
                    settles="a run whose server has a metrics page")  # fmt: skip
    found = percentile_of(free, 1 - _P99, level=about.level)
    if found is None:
        return Line(name, Said.INCONCLUSIVE, "0..1", threshold=least, records=records)
    low = float(free.min()) if found.low == -inf else found.low
    high = found.high if found.high < inf else float(free.max())
    said = held(low, high, least, at_least=True)
    settles = _LONGER if said is Said.INCONCLUSIVE else ""
    reason = "the limit lies within the interval" if settles else ""
    return Line(
        name, said, "0..1", found.value, low, high, least, reason, records, len(free), found.independent, settles
    )  # fmt: skip


def _free(about: About) -> "Floats":
    """At each page while the load came."""
    import numpy as np

    run, due = about.offered.run, about.offered.due_s
    if not len(due):
        return np.zeros(0)
    histories = levels_told(run, "kv_usage")
    if not histories:
        return np.zeros(0)
    values = np.array([each.values for each in histories])
    told = ~np.isnan(values).all(axis=0)
    t_s = histories[0].t_s[told]
    inside = (t_s >= due[0]) & (t_s <= due[-1])
    free: Floats = 1 - np.nanmax(values[:, told], axis=0)[inside]
    return free


def _preemptions(about: About, name: str, most: float) -> Line:
    """How often in this run, with Poisson's exact interval (F. Garwood, Biometrika 28, 1936, 437-442); none at all is a count, and has no interval."""
    from scipy.stats import chi2

    count, unit, offered = about.offered.told.preemptions, "per 1,000 requests", len(about.offered.found)  # fmt: skip
    if count is None or not offered:
        return Line(name, Said.INCONCLUSIVE, unit, threshold=most, records=(SERVER_ROWS,),
                    reason="the server does not count them", settles="a run whose server has a metrics page")  # fmt: skip
    scale, tail = 1000 / offered, (1 - about.level) / 2
    if most == 0:
        said, low, high = (Said.FAIL if count else Said.PASS), count * scale, count * scale
    else:
        low = float(chi2.ppf(tail, 2 * count)) / 2 * scale if count else 0.0
        high = float(chi2.isf(tail, 2 * (count + 1))) / 2 * scale
        said = held(low, high, most)
    settles = _LONGER if said is Said.INCONCLUSIVE else ""
    return Line(
        name, said, unit, count * scale, low, high, most, f"{count:,.0f} in {offered:,} requests", (SERVER_ROWS,), offered,
        settles=settles,
    )  # fmt: skip


def _memory(about: About, name: str, most: float) -> Line:
    """The slope on the GPU where it is steepest, after the first tenth of the load."""
    unit = "GiB/h"
    found = [each for each in map(_trend_of, _used(about)) if each is not None]
    if not found:
        return Line(name, Said.INCONCLUSIVE, unit, threshold=most, records=(GPU_ROWS,),
                    reason=f"GPU memory was read fewer than {FEWEST} times after it had settled",
                    settles="a run that samples the GPUs")  # fmt: skip
    worst = max(found, key=lambda each: each.slope)
    slope, low, high = (value / _GIB * _HOUR_S for value in (worst.slope, worst.low, worst.high))
    said = held(low, high, most)
    reason, settles = f"{worst.mean / _GIB:,.1f} GiB in use", ""
    if said is Said.INCONCLUSIVE:
        settles = longer(worst.span_s, (high - low) / 2, abs(most - slope), _SLOPE_POWER)
    return Line(
        name, said, unit, slope, low, high, most, reason, (GPU_ROWS,), worst.count, settles=settles
    )  # fmt: skip


def _used(about: About) -> "Iterator[tuple[Floats, Floats]]":
    """Moments and bytes in use of each GPU, while the load came and memory had settled."""
    import numpy as np

    run, due = about.offered.run, about.offered.due_s
    if GPU.name not in run.tables or not len(due):
        return
    table = run.table(GPU)
    numbers = table.numbers("t_s", "used_bytes")
    uuid = np.asarray(table.read(("gpu_uuid",))["gpu_uuid"].to_pylist(), dtype=object)
    begin = due[0] + _SETTLING * about.offered.sent_s
    inside = (numbers["t_s"] >= begin) & (numbers["t_s"] <= due[-1])
    inside &= ~np.isnan(numbers["used_bytes"])
    for each in sorted(set(uuid[inside].tolist())):
        of = inside & (uuid == each)
        yield numbers["t_s"][of], numbers["used_bytes"][of]


def _trend_of(samples: "tuple[Floats, Floats]") -> Any:
    """Of means over equal parts of the time, so that many samples cost no more than a few."""
    import numpy as np

    t_s, used = samples
    if len(t_s) > _BINS:
        edges = np.linspace(t_s[0], t_s[-1], _BINS + 1)
        part = np.clip(np.searchsorted(edges, t_s, side="right") - 1, 0, _BINS - 1)
        counts = np.bincount(part, minlength=_BINS)
        told = counts > 0
        used = np.bincount(part, used, _BINS)[told] / counts[told]
        t_s = ((edges[1:] + edges[:-1]) / 2)[told]
    return trend(t_s, used)
