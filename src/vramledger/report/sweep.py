"""A sweep for a terminal."""

from collections.abc import Callable
from math import isinf
from typing import Any, Final

from vramledger.frozen import frozen
from vramledger.methods.sweep.columns import NO_HITS, OWN
from vramledger.methods.sweep.compare import Compared, Effect, Swept
from vramledger.methods.sweep.row import Row
from vramledger.report.number import share
from vramledger.report.sweep_search import (
    SETTINGS,
    SHOWN,
    search_lines,
    settings_cells,
    trial_lines,
)
from vramledger.report.sweep_tensor import tensor_lines
from vramledger.report.table import table
from vramledger.units import format_seconds


@frozen
class _Column:
    """A column of the table: its head, its figure, how that is said."""

    head: str
    name: str
    say: Callable[[float], str]


def _count(value: float) -> str:
    return f"{value:,.0f}"


_GOODPUT: Final = (
    _Column("goodput/h", "goodput_per_hour", _count),
    _Column("per GPU", "goodput_per_gpu_hour", _count),
)
_ANSWERED: Final = (
    _Column("answered/h", "ok_per_hour", _count),
    _Column("per GPU", "ok_per_gpu_hour", _count),
)
_REST: Final = (
    _Column("TTFT p95", "ttft_p95_s", format_seconds),
    _Column("TPOT p95", "tpot_p95_s", format_seconds),
    _Column("E2E p95", "e2e_p95_s", format_seconds),
    _Column("queue p95", "queue_p95_s", format_seconds),
    _Column("KV p99", "kv_usage_p99", share),
    _Column("preempted", "preemptions", _count),
)


_MOST_ROWS: Final = 100


def to_text(found: Swept) -> str:
    """The sweep as lines of text; its title says that all is simulated."""
    lines = _title(found)
    if found.found is not None:
        lines += search_lines(found.found)
    prefixes = [OWN, NO_HITS] if any(row.has_own for row in found.rows) else [NO_HITS]
    for prefix in prefixes:
        lines += ["", _SECTION[prefix], *_table(found, prefix)]
    if found.found is None and len(found.rows) > _MOST_ROWS:
        more = len(found.rows) - _MOST_ROWS
        lines += [f"{more:,} further points are not shown; --json and -o have them all."]
    lines += _effects(found) if found.found is None else trial_lines(found.trials)
    lines += [*tensor_lines(found.tensor_steps), *_reasons(found)]
    if found.start is not None and found.start.notes:
        lines += ["", *(f"note: {note}" for note in found.start.notes)]
    if found.results.interrupted:
        done, asked = len(found.rows), found.results.asked
        lines += ["", f"interrupted: {done:,} of {asked:,} points were simulated."]
    return "\n".join(lines)


_SECTION: Final = {
    OWN: "SIMULATED with the workload's prefix hits",
    NO_HITS: "SIMULATED without prefix hits",
}


def _title(found: Swept) -> list[str]:
    question = found.base.question
    case, part = question.case, question.part
    scaled = f", arrivals x{part.rate_scale:g}" if part.rate_scale != 1 else ""
    contract = question.contract
    limits = "no contract was stated" if contract is None else "; ".join(contract.lines)
    reused = found.results.reused
    return [
        f"SIMULATED, not measured: {part.workload.name}{scaled}, seed {question.seed}",
        f"base        {case.model.id} on {case.accelerator.name}",
        f"contract    {limits}",
        f"points      {len(found.rows):,}" + (f", {reused:,} known before" if reused else ""),
    ]


def _table(found: Swept, prefix: str) -> list[str]:
    contract = any(row.verdict for row in found.rows)
    columns = (*(_GOODPUT if contract else _ANSWERED), *_REST)
    named = _named if found.found is None else settings_cells
    first = ["change"] if found.found is None else list(SETTINGS)
    head = [*first, "verdict", "GPUs", *(column.head for column in columns), "limit"]
    rows = [[*named(row), *_cells(row, columns, prefix)] for row in _shown(found)]
    return table(head, rows, frozenset(range(len(first) + 1, len(head) - 1)))


def _named(row: Row) -> list[str]:
    return [row.point.label]


def _shown(found: Swept) -> tuple[Row, ...]:
    """The points as asked, not more than a person reads; of a search the best, and the base."""
    if found.found is None:
        return found.rows[:_MOST_ROWS]
    best = found.found.ranking[:SHOWN]
    return best if found.start is None or found.start in best else (*best, found.start)


def _cells(row: Row, columns: tuple[_Column, ...], prefix: str) -> list[str]:
    gpus = row.columns.get("gpus")
    said = [_cell(row.figure(column.name, prefix), column.say) for column in columns]
    verdict = (row.verdict or "-") if row.simulated else row.status.value
    limit = str(row.figure("bound_by", prefix) or "").replace("_", " ")
    return [str(verdict), "-" if gpus is None else str(gpus), *said, limit]


def _cell(value: Any, say: Callable[[float], str]) -> str:
    if value is None:
        return "-"
    return "inf" if isinf(value) else say(value)


_SAID: Final = {
    "goodput_per_hour": "goodput",
    "ok_per_hour": "answered/h",
    "ok_per_gpu_hour": "answered/h per GPU",
    "ttft_p95_s": "TTFT p95",
    "tpot_p95_s": "TPOT p95",
    "e2e_p95_s": "E2E p95",
}


def _effects(found: Swept) -> list[str]:
    lines = [line for point in found.points[: _MOST_ROWS - 1] for line in _effect(point)]
    return ["", "EFFECT of each change on the base", *lines] if lines else []


def _effect(point: Compared) -> list[str]:
    parts = [
        f"{title} {_change(effect)}"
        for name, title in _SAID.items()
        if (effect := point.effect(name)) is not None and effect.ratio is not None
    ]
    parts += [f"breaks {line}" for line in point.broke]
    parts += [f"mends {line}" for line in point.mended]
    return [f"{point.row.point.label}: {'; '.join(parts)}"] if parts else []


def _change(effect: Effect) -> str:
    ratio = effect.ratio or 0.0
    return "inf" if isinf(ratio) else f"x{ratio:.3g}"


def _reasons(found: Swept) -> list[str]:
    lines = [
        f"{row.point.label}: {row.columns['reason']}" for row in _shown(found) if not row.simulated
    ]
    return ["", "NOT SIMULATED", *lines] if lines else []
