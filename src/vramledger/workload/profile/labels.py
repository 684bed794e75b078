"""Outcomes and models in our own words, whatever a table calls them."""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Final

from vramledger.record.outcome import Outcome
from vramledger.workload.formats.mapped import outcome_of

_LABEL: Final = re.compile(r"model-\d+")


def outcomes(found: Mapping[str, int], requests: int) -> Mapping[str, int]:
    """Requests by outcome, the most first; what is not said or not understood is unknown."""
    counted: Counter[str] = Counter()
    for said, number in found.items():
        counted[outcome_of(said)] += number
    counted[Outcome.UNKNOWN] += requests - counted.total()
    return _ordered({str(name): number for name, number in counted.items() if number})


def models(found: Mapping[str, int], *, keep: bool) -> Mapping[str, int]:
    """Requests by label, the most first.

    Args:
        found: requests by what the table calls the models.
        keep: leave names as they are; otherwise names become model-0, model-1, ..., the most first.
    """
    ordered = _ordered(found)
    if keep or all(_LABEL.fullmatch(name) for name in ordered):
        return ordered
    return {f"model-{place}": number for place, number in enumerate(ordered.values())}


def _ordered(found: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(found.items(), key=lambda each: (-each[1], each[0])))
