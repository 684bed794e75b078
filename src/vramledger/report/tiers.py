"""The tier screen for a terminal and as JSON."""

from collections.abc import Sequence

from vramledger.report.table import table
from vramledger.sizing.tiers import Cell, Tier

NEXT = (
    "Requests in flight held by one GPU at 95% of moments; a star marks FP8 weights, a dash that it "
    "does not fit.\nOnly memory was looked at. Measure next, on a rented machine of the tier you "
    "choose: time to first token at your longest inputs, the rate at which the queue starts to grow, "
    "and answers at the precision marked."
)


def to_text(model: str, tiers: Sequence[Tier]) -> str:
    """One row a tier, one column a class of load."""
    head = ("tier", "card", *(cell.profile for cell in tiers[0].cells))
    rows = [
        (f"{tier.gigabytes} GB", tier.card, *(_shown(cell) for cell in tier.cells))
        for tier in tiers
    ]
    lines = table(head, rows, frozenset(range(2, len(head))))
    return "\n".join([f"What one GPU of each memory tier holds of {model}", "", *lines, "", NEXT])


def tiers_json(model: str, tiers: Sequence[Tier]) -> dict[str, object]:
    """The screen as one JSON object."""
    return {
        "schema": "vramledger.tiers/1",
        "model": model,
        "checked": ["memory"],
        "tiers": [
            {
                "nominal_gb": tier.gigabytes,
                "gpu": tier.card,
                "loads": [
                    {
                        "profile": cell.profile,
                        "precision": cell.precision.weights,
                        "requests_held_p95": cell.held,
                        "reason": cell.reason or None,
                    }
                    for cell in tier.cells
                ],
            }
            for tier in tiers
        ],
    }


def _shown(cell: Cell) -> str:
    if cell.held == 0:
        return "-"
    star = "*" if cell.precision.weights != "as-stored" else ""
    return f"{cell.held:,}{star}"
