"""A sweep for a terminal."""

from math import isinf
from typing import Final

from vramledger.methods.sweep.best import FINALISTS
from vramledger.methods.sweep.columns import NO_HITS, OWN
from vramledger.methods.sweep.compare import Compared, Effect, Swept
from vramledger.methods.sweep.row import Row, Status, Verdict
from vramledger.report.number import rate
from vramledger.report.sweep_cells import Column, columns
from vramledger.report.sweep_search import (
    SETTINGS,
    search_lines,
    settings_cells,
    shown_rows,
    trial_lines,
    winner_lines,
)
from vramledger.report.sweep_tensor import tensor_lines
from vramledger.report.table import table

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
    if any(row.columns.get("saturation_per_s") is not None for row in found.rows):
        lines += [_SATURATES]
    lines += _effects(found) if found.found is None else winner_lines(found.found)
    lines += [] if found.found is None else trial_lines(found)
    lines += [*tensor_lines(found.tensor_steps), *_reasons(found)]
    lines += _notes(found)
    if found.results.interrupted:
        done, asked = len(found.rows), found.results.asked
        lines += ["", f"interrupted: {done:,} of {asked:,} points were simulated."]
    return "\n".join(lines)


_SATURATES: Final = (
    "saturates: what all servers serve at most, derived by theory for these lengths without prefix hits "
    "and without preemption."
)


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
        *(_judged(found) if found.found is None and contract is not None else []),
    ]


def _judged(found: Swept) -> list[str]:
    """At which step times the verdicts hold, and the best where one keeps the contract for certain."""
    lines = ["judged      at the slow end of the step times too"]
    if any(row.at_expected_only and row.verdict is Verdict.PASS for row in found.rows):
        lines = [
            f"judged      at the expected step times; the best {FINALISTS} at the slow end too"
        ]
    best = found.best
    return lines if best is None else [*lines, f"best        {best.point.label}"]


def _notes(found: Swept) -> list[str]:
    """What to know of the base's figures, and what of the best's where that differs."""
    of_base = () if found.start is None else found.start.notes
    best = found.best
    of_best = () if best is None else tuple(note for note in best.notes if note not in of_base)
    lines = [f"note: base: {note}" for note in of_base]
    lines += [f"note: best: {note}" for note in of_best]
    return ["", *lines] if lines else []


def _table(found: Swept, prefix: str) -> list[str]:
    rows, best = _shown(found), found.best
    cells = columns(rows, found.prices)
    named = _named if found.found is None else settings_cells
    first = ["change"] if found.found is None else list(SETTINGS)
    head = [*first, "verdict", "GPUs", *(column.head for column in cells), "limit"]
    first_cells = [_marked(named(row)) if row is best else named(row) for row in rows]
    lines = [
        [*cell, *_cells(row, cells, prefix)] for cell, row in zip(first_cells, rows, strict=True)
    ]
    return table(head, lines, frozenset(range(len(first) + 1, len(head) - 1)))


def _marked(cells: list[str]) -> list[str]:
    return [f"{cells[0]} (best)".strip(), *cells[1:]]


def _named(row: Row) -> list[str]:
    return [row.point.label]


def _shown(found: Swept) -> tuple[Row, ...]:
    """The points as asked, not more than a person reads; of a search the best of each kind, and the base."""
    if found.found is None:
        return found.rows[:_MOST_ROWS]
    return shown_rows(found.found, found.start)


def _cells(row: Row, cells: tuple[Column, ...], prefix: str) -> list[str]:
    gpus = row.columns.get("gpus")
    verdict = _verdict(row) if row.simulated else row.status.value
    limit = str(row.figure("bound_by", prefix) or "").replace("_", " ")
    counted = "-" if gpus is None else str(gpus)
    return [str(verdict), counted, *(cell.say(row, prefix) for cell in cells), limit]


def _verdict(row: Row) -> str:
    if row.verdict is Verdict.PASS and row.at_expected_only:
        return "PASS, expected"
    return row.verdict or "-"


_THROUGHPUT: Final = {
    "goodput_per_hour": "goodput",
    "goodput_per_gpu_hour": "goodput per GPU",
    "ok_per_hour": "answered/h",
    "ok_per_gpu_hour": "answered/h per GPU",
}
_CAPACITY: Final = {
    "saturation_per_s": "saturation",
    "saturation_per_gpu_s": "saturation per GPU",
    "knee_per_s": "highest load that keeps the contract",
}
_LATENCY: Final = {"ttft_p95_s": "TTFT p95", "tpot_p95_s": "TPOT p95", "e2e_p95_s": "E2E p95"}


def _effects(found: Swept) -> list[str]:
    lines = [line for point in found.points[: _MOST_ROWS - 1] for line in _effect(point, found)]
    return ["", "EFFECT of each change on the base", *lines] if lines else []


def _effect(point: Compared, found: Swept) -> list[str]:
    row = point.row
    if row.status is Status.SAME:
        return [f"{row.point.label}: same as base"]
    if not point.effects:
        return []
    parts = (
        _throughput(point, found)
        + _ratios(point, found, _CAPACITY)
        + _ratios(point, found, _LATENCY)
    )
    parts += [f"{line} no longer holds" for line in point.broke]
    parts += [f"{line} holds now" for line in point.mended]
    return [f"{row.point.label}: {'; '.join([*parts, *_contract(point, found)])}"]


def _throughput(point: Compared, found: Swept) -> list[str]:
    """The ratios of what is answered; where arrivals limit both sides they say nothing of the servers."""
    sides = (found.start, point.row)
    if all(side is not None and side.columns.get("limited_by_arrivals") for side in sides):
        return ["throughput limited by arrivals"]
    return _ratios(point, found, _THROUGHPUT)


def _ratios(point: Compared, found: Swept, titles: dict[str, str]) -> list[str]:
    """The ratios; those per GPU only where the GPUs differ, as they repeat the others elsewhere."""
    before = None if found.start is None else found.start.columns.get("gpus")
    same = point.row.columns.get("gpus") == before
    shown = {name: title for name, title in titles.items() if not (same and "per_gpu" in name)}
    known = ((title, point.effect(name)) for name, title in shown.items())
    return [
        f"{title} {_change(effect)}"
        for title, effect in known
        if effect is not None and effect.ratio is not None
    ]


def _contract(point: Compared, found: Swept) -> list[str]:
    """Whether the contract as a whole is kept, where it fails here or at the base."""
    row, start = point.row, found.start
    before = None if start is None else start.verdict
    if row.verdict is Verdict.PASS and before is Verdict.FAIL:
        return ["the contract is kept"]
    if row.verdict is Verdict.FAIL:
        if before is not Verdict.FAIL:
            return ["the contract FAILS"]
        return [f"the contract still FAILS: {'; '.join(sorted(row.broken))}"]
    return []


def _change(effect: Effect) -> str:
    ratio = effect.ratio or 0.0
    if effect.name == "saturation_per_s" and effect.before and effect.after:
        return f"{rate(effect.before)} to {rate(effect.after)} (x{ratio:.3g})"
    return "inf" if isinf(ratio) else f"x{ratio:.3g}"


def _reasons(found: Swept) -> list[str]:
    left = [row for row in _shown(found) if not row.simulated and row.status is not Status.SAME]
    lines = [f"{row.point.label}: {row.columns['reason']}" for row in left]
    return ["", "NOT SIMULATED", *lines] if lines else []
