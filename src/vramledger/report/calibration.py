"""A calibration for a terminal."""

from typing import Final

from vramledger.calibrate.accuracy import Difference
from vramledger.calibrate.calibration import Calibration, Source, Told
from vramledger.calibrate.start_up import StartUp
from vramledger.evidence import Figure
from vramledger.report.table import table
from vramledger.simulate.timing.host import Setting

_HEAD: Final = ("term", "value", "nine of ten", "unit", "against shipped", "known")


def to_text(found: Calibration) -> str:
    """The terms with their intervals, and how well the runs are reproduced."""
    setting = found.host.setting
    rows = [_row(name, each) for name, each in found.terms.items()]
    return "\n".join(
        [
            _headline(setting),
            "",
            *table(_HEAD, rows, frozenset({1})),
            "",
            *(_source(each) for each in found.sources),
            *(f"note: {note}" for note in found.notes),
        ]
    )


def _headline(setting: Setting) -> str:
    return (
        f"{setting.model} on {setting.tp * setting.dp} x {setting.gpu}, vLLM {setting.version}: weights "
        f"{setting.weights}, KV cache {setting.kv_cache}"
    )


def start_up_text(found: StartUp, *, beside_run: bool = False) -> str:
    """The memory rows, measured beside predicted."""
    alone = "" if beside_run else " alone, no step times"
    rows = [
        (each.label, f"{each.measured.value:.2f}", _predicted(each.predicted))
        for each in found.terms.values()
    ]
    return "\n".join(
        [
            f"{_headline(found.setting)}; from {found.log}: memory{alone}",
            "",
            *table(("GiB a rank", "measured", "predicted"), rows, frozenset({1})),
        ]
    )


def _predicted(figure: Figure | None) -> str:
    return "" if figure is None else f"{figure.value:.2f} ({figure.low:.2f} .. {figure.high:.2f})"


def _row(name: str, each: Told) -> tuple[str, ...]:
    return (
        name,
        f"{each.value:.3g}",
        f"{each.low:.3g} .. {each.high:.3g}",
        each.unit,
        f"{each.term.factor:.2f} x the time",
        "calibrated" if each.term.determined else "left open, mostly assumed",
    )


def _source(each: Source) -> str:
    found = each.reproduced
    parts = (("TTFT", found.ttft), ("TPOT", found.tpot), ("E2E", found.e2e))
    errors = ", ".join(_error(name, one) for name, one in parts)
    kv = "" if found.kv is None else f", KV use off by {found.kv * 100:.1f} points"
    return (
        f"{each.name} ({each.origin}, {each.requests} requests), simulated again with these: {errors}{kv}; "
        f"{found.preemptions} preemptions; KV pool from {each.pool_from}"
    )


def _error(name: str, one: Difference | None) -> str:
    return f"mean {name} unknown" if one is None else f"mean {name} {one.mean:+.1%}"
