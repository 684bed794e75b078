"""Measured beside predicted, as text and as JSON."""

from collections.abc import Sequence
from typing import Any, Final

from vramledger.engine.vllm.log.startup import Failure, Reading
from vramledger.ledger.ledger import Ledger
from vramledger.ledger.measured import Comparison
from vramledger.ledger.understood import Understood
from vramledger.report.ledger import to_text
from vramledger.report.ledger_json import ledger_json
from vramledger.report.number import rounded
from vramledger.report.table import table
from vramledger.units import format_change

Json = dict[str, Any]
_HEAD: Final = ("line", "rank", "measured", "predicted", "low", "high", "gap", "band")
_UNITS: Final = {"gib": "GiB", "tokens": "tokens", "percent": "%"}


def measured_text(
    compared: Sequence[Comparison],
    failures: Sequence[Failure] = (),
    understood: Understood | None = None,
    account: Ledger | None = None,
) -> str:
    """Failures first, what was understood, the table, and the account where it is all there is."""
    lines = _failed(failures)
    if understood is not None:
        lines += _understood(understood)
    rows = [_compared_row(c) for c in compared]
    lines += table(_HEAD, rows, frozenset({2, 3, 4, 5, 6})) if rows else ["Nothing to compare."]
    reasons = [f"{c.label}: {c.reason}" for c in compared if c.reason]
    if reasons:
        lines += ["", "Gaps above 2 %:", *(f"  {reason}" for reason in dict.fromkeys(reasons))]
    outside = dict.fromkeys(c.label for c in compared if c.inside_band is False)
    if outside:
        lines += ["", f"Outside the predicted band: {', '.join(outside)}."]
    if account is not None:
        lines += ["", "The account of this launch:", "", to_text(account)]
    return "\n".join(lines)


def _failed(failures: Sequence[Failure]) -> list[str]:
    if not failures:
        return []
    said = [f"  {_failure(failure)}" for failure in failures]
    return ["THE ENGINE FAILED:", *dict.fromkeys(said), ""]


def _failure(failure: Failure) -> str:
    figures = ", ".join(_figure(reading) for reading in failure.readings)
    place = f"{failure.phase} (line {failure.line.number} of the log)"
    return f"{place}: {figures}" if figures else place


def _figure(reading: Reading) -> str:
    name, _, unit = reading.name.rpartition("_")
    if unit not in _UNITS:
        return f"{reading.name} {reading.value:g}"
    form = f"{reading.value:.2f}" if unit == "gib" else f"{reading.value:,g}"
    return f"{name} {form} {_UNITS[unit]}"


def _understood(found: Understood) -> list[str]:
    said = ", ".join(f"{s.name} {s.value} ({s.source})" for s in found.stated)
    return [f"Understood: {said}.", *found.contradictions, ""]


def measured_json(
    compared: Sequence[Comparison],
    failures: Sequence[Failure] = (),
    understood: Understood | None = None,
    account: Ledger | None = None,
) -> Json:
    """The same as one JSON object."""
    return {
        "schema": "vramledger.measured/1",
        "understood": [
            {"name": s.name, "value": s.value, "source": s.source}
            for s in (understood.stated if understood else ())
        ],
        "contradictions": list(understood.contradictions) if understood else [],
        "lines": [
            {
                "key": c.key,
                "rank": c.rank,
                "unit": c.unit,
                "measured": c.measured.to_json(),
                "predicted": c.predicted.to_json() if c.predicted else None,
                "gap": rounded(c.gap),
                "inside_band": c.inside_band,
                "reason": c.reason or None,
            }
            for c in compared
        ],
        "failures": [
            {"phase": f.phase, "line": f.line.number, **{r.name: r.value for r in f.readings}}
            for f in failures
        ],
        "account": ledger_json(account) if account is not None else None,
    }


def _compared_row(c: Comparison) -> tuple[str, ...]:
    form = "{:,.2f}" if c.unit in ("GiB", "x") else "{:,.0f}"
    predicted = ("", "", "")
    if c.predicted is not None:
        ends = (c.predicted.value, c.predicted.low, c.predicted.high)
        predicted = (form.format(ends[0]), form.format(ends[1]), form.format(ends[2]))
    gap = "" if c.gap is None else format_change(c.gap, 2)
    band = "" if c.inside_band is None else "inside" if c.inside_band else "outside"
    return (f"{c.label}, {c.unit}", c.rank, form.format(c.measured.value), *predicted, gap, band)
