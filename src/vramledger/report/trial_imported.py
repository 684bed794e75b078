"""An import for a terminal and as JSON: the tool's own figures, the same from its records, and ours."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from vramledger.errors import ExitCode
from vramledger.report.table import table
from vramledger.trial.conduct.spread import Spread
from vramledger.trial.imported.claims import Claim
from vramledger.trial.imported.importing import Imported
from vramledger.units import format_seconds

SCHEMA: Final = "vramledger.trial-import/1"
_HEAD: Final = ("its figure", "in the file", "from its records", "off by", "ours, from due")
_RIGHT: Final = frozenset((1, 2, 3, 4))
_OURS: Final = {"TTFT": "ttft_s", "TPOT": "tpot_s", "E2E": "e2e_s"}


def imported_text(found: Sequence[Imported]) -> str:
    """What was read, what came out of it, and what is missing."""
    return "\n\n".join("\n".join(_lines(each)) for each in found)


def exit_code_of(found: Sequence[Imported]) -> int:
    """3 where a headline figure does not come out again, or none could be worked out."""
    good = all(_verdict(each) is True for each in found)
    return ExitCode.HOLDS if good else ExitCode.CANNOT_KNOW


def _verdict(found: Imported) -> bool | None:
    """Whether all figures agree; None where none could be held against records."""
    told = [each.agrees for each in found.told.claims if each.agrees is not None]
    return all(told) if told else None


def _lines(found: Imported) -> Iterator[str]:
    told = found.told
    version = f" {told.version}" if told.version else ""
    yield f"IMPORTED from {told.tool}{version}: {told.model or 'model unknown'}"
    counts = ", ".join(f"{count:,} {name}" for name, count in found.summary.requests.items() if count)  # fmt: skip
    yield f"requests    {found.summary.offered:,}: {counts or 'none'}"
    yield ""
    if told.claims:
        yield from table(_HEAD, [_row(each, found) for each in told.claims], _RIGHT)
        yield ""
    yield _said(found)
    yield ""
    yield "how it counts"
    yield from (f"  {name:<11} {words}" for name, words in told.definitions.items())
    yield "what the run lacks"
    yield from (f"  {name:<19} {why}" for name, why in told.missing.items())
    yield from (f"note: {each}" for each in found.summary.warnings)
    yield f"run         {found.folder}"


def _said(found: Imported) -> str:
    claims = found.told.claims
    wrong = [each.name for each in claims if each.agrees is False]
    checked = [each for each in claims if each.agrees is not None]
    if wrong:
        return (
            f"NOT AGREED: {', '.join(wrong)} of the file do not follow from its own requests by its own definitions; do not rely on "
            "either before you know why."
        )
    if not checked:
        return "NOT CHECKED: no headline figure could be held against single requests."
    return f"AGREED: all {len(checked)} headline figures of the file follow from its own requests by its own definitions."


def _row(claim: Claim, found: Imported) -> tuple[str, ...]:
    mark = "  differs" if claim.agrees is False else ""
    off = "-" if claim.deviation is None else f"{_value(claim, claim.deviation)}{mark}"
    return (
        claim.name,
        _value(claim, claim.told),
        "-" if claim.found is None else _value(claim, claim.found),
        off,
        _ours(claim, found),
    )


def _value(claim: Claim, value: float) -> str:
    if claim.unit == "s":
        return f"{value * 1e3:,.3f} ms"
    return f"{value:,.4g} {claim.unit}"


def _ours(claim: Claim, found: Imported) -> str:
    """Our figure of the same name: over everything that was offered, from due, failures infinite."""
    title, _, statistic = claim.name.rpartition(" ")
    spread = _spread(title, found)
    value = None if spread is None else getattr(spread, statistic, None)
    return "-" if value is None else format_seconds(value)


def _spread(title: str, found: Imported) -> Spread | None:
    said = found.summary.latencies
    if title in ("ITL", "ICL"):
        return said.itl_s
    if title == "ITL (mean of a request)":
        return said.offered["tpot_s"]
    name = _OURS.get(title)
    return None if name is None else said.offered[name]


def imported_json(found: Sequence[Imported]) -> dict[str, Any]:
    """One object with a list of runs."""
    return {"schema": SCHEMA, "runs": [_json(each) for each in found]}


def _json(found: Imported) -> dict[str, Any]:
    told = found.told
    return {
        "run": str(found.folder),
        "tool": told.tool,
        "tool_version": told.version,
        "model": told.model,
        "agreed": _verdict(found),
        "message": _said(found),
        "requests": {"offered": found.summary.offered, **found.summary.requests},
        "unrecorded_requests": told.unrecorded,
        "headline": [_claim_json(each) for each in told.claims],
        "definitions": dict(told.definitions),
        "missing": dict(told.missing),
        "warnings": list(found.summary.warnings),
    }


def _claim_json(claim: Claim) -> dict[str, Any]:
    return {
        "name": claim.name,
        "unit": claim.unit,
        "told": claim.told,
        "found": claim.found,
        "deviation": claim.deviation,
        "agrees": claim.agrees,
    }
