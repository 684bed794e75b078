"""A metrics page's explanation on a terminal and as JSON (``vramledger.diagnosis/1``)."""

from typing import Any

from vramledger.diagnose.pages.explain import Explained
from vramledger.report.diagnosed_log import SCHEMA, told_json
from vramledger.report.number import rounded

_MOST_UNKNOWN = 12


def page_text(found: Explained) -> str:
    """Traps first, then a line a figure, then the names that the vocabulary does not have."""
    lines = []
    for each in found.findings:
        lines.append(f"{each.severity.upper()} ({each.id}): {each.message}")
        lines += [f"  + {text}" for text in each.supports]
    lines += ["", f"The page of {found.page.engine}, figure by figure:"]
    lines += [f"  {each.raw_name} ({each.name}): {each.message}" for each in found.lines]
    if found.page.unknown:
        shown = ", ".join(found.page.unknown[:_MOST_UNKNOWN])
        more = len(found.page.unknown) - _MOST_UNKNOWN
        lines += ["", f"Not explained: {shown}{f' and {more} more' if more > 0 else ''}."]
    return "\n".join(lines)


def page_json(found: Explained) -> dict[str, Any]:
    """The same as one object."""
    return {
        "schema": SCHEMA,
        "verdict": "explained",
        "page": {
            "source": found.page.where,
            "engine": found.page.engine,
            "figures": [
                {
                    "raw_name": each.raw_name,
                    "name": each.name,
                    "kind": each.kind,
                    "unit": each.unit,
                    "value": rounded(each.value),
                    "count": rounded(each.count),
                    "mean": rounded(each.mean),
                    "message": each.message,
                }
                for each in found.lines
            ],
            "unknown": list(found.page.unknown),
        },
        "findings": [told_json(each) for each in found.findings],
        "more_memory_helps": {
            "now": "unknown",
            "reason": "One page shows no time; a trial would.",
            "after": {"change": None, "answer": "unknown"},
        },
    }
