"""Answers to the questions put to a ledger, as text and as JSON."""

from collections.abc import Sequence
from typing import Any, Final

from vramledger.ledger.axis import Axis
from vramledger.ledger.gate import Gate
from vramledger.ledger.solve import Solution
from vramledger.ledger.sweep import Entry, Mover, Slope, slopes
from vramledger.ledger.versus import Versus
from vramledger.report.number import rounded
from vramledger.report.table import table

Json = dict[str, Any]
_SWEEP_HEAD: Final = (
    "fits, at worst", "weights", "other", "pool", "load needs", "KV tokens", "held, at worst",
)  # fmt: skip
_SWEEP_MEANING: Final = (
    "At worst: at the pessimistic end of every row. The other columns are the expected figures, in "
    "GiB on rank 0 and in tokens as the engine prints them."
)
Tables = Sequence[tuple[Axis, tuple[Entry, ...]]]


def solution_text(solution: Solution) -> str:
    return solution.sentence


def solution_json(solution: Solution) -> Json:
    ledger = solution.ledger
    pool = ledger.pool if ledger else None
    return {
        "schema": "vramledger.solution/1",
        "target": solution.target,
        "value": solution.value,
        "reason": solution.sentence,
        "tp": ledger.deployment.layout.tp if ledger else None,
        "pp": ledger.deployment.layout.pp if ledger else None,
        "kv_tokens": pool.tokens if pool else None,
        "max_concurrency": rounded(pool.max_concurrency) if pool else None,
    }


def versus_text(found: Versus) -> str:
    lines = [found.sentence]
    if found.settings:
        rows = [
            (s.name, _short(s.before), _short(s.after), _effect(s.alone_tokens))
            for s in found.settings
        ]
        lines += ["", *table(("setting", "from", "to", "tokens, alone"), rows, frozenset({3}))]
    if found.rows:
        rows = [
            (r.label, f"{r.before_gib:.2f}", f"{r.after_gib:.2f}", f"{r.delta_gib:+.2f}")
            for r in found.rows
        ]
        head = ("row, GiB on rank 0", "from", "to", "change")
        lines += ["", *table(head, rows, frozenset({1, 2, 3}))]
    return "\n".join(lines)


def versus_json(found: Versus) -> Json:
    return {
        "schema": "vramledger.versus/1",
        "sentence": found.sentence,
        "tokens_before": found.tokens_before,
        "tokens_after": found.tokens_after,
        "fits_before": found.before.fits,
        "fits_after": found.after.fits,
        "settings": [
            {"name": s.name, "from": s.before, "to": s.after, "alone_tokens": s.alone_tokens}
            for s in found.settings
        ],
        "rows": [
            {
                "key": r.key,
                "from_gib": rounded(r.before_gib),
                "to_gib": rounded(r.after_gib),
                "change_gib": rounded(r.delta_gib),
            }
            for r in found.rows
        ],
    }


def sweep_text(tables: Tables, moving: Sequence[Mover]) -> str:
    lines: list[str] = []
    for axis, entries in tables:
        head = (axis.name, *_SWEEP_HEAD)
        rows = [_entry_row(entry) for entry in entries]
        lines += [*table(head, rows, frozenset({2, 3, 4, 5, 6, 7})), ""]
        lines += [_slope(axis, slope) for slope in slopes(axis, entries)]
        reasons = {entry.reason for entry in entries if not entry.fits}
        lines += [f"  {reason}" for reason in sorted(reasons)[:3]]
    lines += [_SWEEP_MEANING, ""]
    if moving:
        said = ", ".join(f"{m.name} {m.added_gib:+.2f} GiB" for m in moving)
        lines.append(f"Doubling adds to a rank's need: {said}; {moving[0].name} moves it most.")
    return "\n".join(lines)


def _slope(axis: Axis, slope: Slope) -> str:
    lost = f"{slope.lost_tokens:,} KV tokens ({slope.lost_gib:.3f} GiB)"
    return f"  {axis.name} from {slope.start:,} to {slope.end:,}: each 1,024 more cost {lost}."


def sweep_json(tables: Tables, moving: Sequence[Mover]) -> Json:
    return {
        "schema": "vramledger.table/1",
        "tables": [
            {
                "name": axis.name,
                "rows": [_entry_json(entry) for entry in entries],
                "cost_per_1024": [
                    {
                        "from": slope.start,
                        "to": slope.end,
                        "kv_tokens": slope.lost_tokens,
                        "gib": rounded(slope.lost_gib),
                    }
                    for slope in slopes(axis, entries)
                ],
            }
            for axis, entries in tables
        ],
        "doubling_adds_gib": {m.name: rounded(m.added_gib) for m in moving},
    }


def _entry_row(entry: Entry) -> tuple[str, ...]:
    figures = (entry.weights_gib, entry.other_gib, entry.pool_gib, entry.load_gib)
    shown = ["" if value is None else f"{value:.2f}" for value in figures]
    counts = ["" if value is None else f"{value:,}" for value in (entry.tokens, entry.held)]
    return (entry.value, "yes" if entry.fits else "no", *shown, *counts)


def _entry_json(entry: Entry) -> Json:
    return {
        "value": entry.value,
        "fits": entry.fits,
        "reason": entry.reason,
        "weights_gib": rounded(entry.weights_gib),
        "other_gib": rounded(entry.other_gib),
        "pool_gib": rounded(entry.pool_gib),
        "load_gib": rounded(entry.load_gib),
        "needed_gib": rounded(entry.needed_gib),
        "kv_tokens": entry.tokens,
        "requests_held": entry.held,
    }


def gate_text(found: Gate) -> str:
    return f"{'PASS' if found.holds else 'FAIL'}: {found.sentence}"


def gate_json(found: Gate) -> Json:
    return {
        "schema": "vramledger.gate/1",
        "holds": found.holds,
        "loss": rounded(found.loss) or 0.0,
        "reason": found.sentence,
        "differs": list(found.differs),
    }


def _effect(tokens: int | None) -> str:
    return "" if tokens is None else f"{tokens:+,}"


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."
