"""A log's diagnosis on a terminal and as JSON (``vramledger.diagnosis/1``)."""

from collections.abc import Iterator
from typing import Any, Final

from vramledger.diagnose.startup.diagnosed import Diagnosed
from vramledger.diagnose.told import Told
from vramledger.errors import ExitCode
from vramledger.report.number import rounded, share

SCHEMA: Final = "vramledger.diagnosis/1"
_MARKS: Final = (("+", "supports"), ("-", "contradicts"), ("?", "unseen"))
_HEADS: Final = {ExitCode.HOLDS: "STARTED", ExitCode.DOES_NOT_HOLD: "FAILED", ExitCode.CANNOT_KNOW: "CANNOT KNOW"}  # fmt: skip


def log_text(found: Diagnosed) -> str:
    """The verdict, then each finding with what speaks for and against it and the change to try."""
    lines: list[str] = []
    for number, each in enumerate(found.findings):
        head = _HEADS[found.exit_code] if number == 0 else each.severity.upper()
        lines += [*([""] if number else []), *told_lines(each, head)]
    lines += ["", f"More memory helps: {found.more_memory}. {found.why}"]
    if found.findings[0].change is not None:
        lines.append(f"After the next change: {found.after}. {found.why_after}")
    return "\n".join(lines)


def told_lines(each: Told, head: str) -> Iterator[str]:
    """One finding."""
    yield f"{head} ({each.id}): {each.message}"
    for mark, name in _MARKS:
        for text in getattr(each, name):
            yield f"  {mark} {text}"
    if each.rests_on:
        yield f"  confidence {share(each.confidence)} rests on {each.rests_on}"
    if each.change is not None:
        yield f"  next: {each.change.text}"


def log_json(found: Diagnosed) -> dict[str, Any]:
    """The same as one object."""
    first = found.findings[0]
    return {
        "schema": SCHEMA,
        "verdict": first.cause,
        "log": {
            "path": found.where,
            "lines": found.scan.lines,
            "engine": found.scan.engine,
            "version": found.version,
            "card": found.scan.card,
            "earlier_starts": len(found.scan.earlier),
            "phase": found.scan.last.phase,
            "came_up": found.scan.last.healthy,
        },
        "findings": [told_json(each) for each in found.findings],
        "more_memory_helps": {
            "now": found.more_memory,
            "reason": found.why,
            "after": {
                "change": None if first.change is None else first.change.text,
                "answer": found.after,
                "reason": found.why_after,
            },
        },
        "measured": [
            {
                "key": each.key,
                "rank": each.rank,
                "unit": each.unit,
                "measured": each.measured.to_json(),
                "predicted": None if each.predicted is None else each.predicted.to_json(),
                "inside_band": each.inside_band,
            }
            for each in found.compared
        ],
    }


def told_json(each: Told) -> dict[str, Any]:
    """One finding as an object."""
    return {
        "id": each.id,
        "severity": each.severity,
        "message": each.message,
        "cause": each.cause,
        "score": rounded(each.score, 3),
        "confidence": rounded(each.confidence, 3),
        "rests_on": each.rests_on or None,
        "supports": list(each.supports),
        "contradicts": list(each.contradicts),
        "unseen": list(each.unseen),
        "next_change": None if each.change is None else each.change.to_json(),
        "figures": [
            {
                "name": a.name,
                "value": a.value,
                "unit": a.unit,
                "basis": a.basis.value,
                "source": a.source,
            }
            for a in each.amounts
        ],
    }
