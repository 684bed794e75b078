"""A workload's profile in a screenful: the headline, lengths, limits and scenarios."""

from vramledger.report.html.titled_table import Table
from vramledger.report.table import table
from vramledger.report.workload_tables import (
    context_limits,
    headline,
    lengths,
    opening,
    outcomes,
    prefixes,
    scenarios,
    unknown,
)
from vramledger.workload.profile.profile import Profile

_TABLES = (lengths, outcomes, prefixes, context_limits, scenarios)


def to_text(profile: Profile) -> str:
    """The report; `vram workload show` draws more."""
    lines = ["Synthetic: generated, never sent by anyone."] if profile.synthetic else []
    lines += [opening(profile), headline(profile)]
    for found in (of(profile) for of in _TABLES):
        lines += ["", *_drawn(found)] if found is not None else []
    missing = unknown(profile)
    if missing:
        lines += ["", "Not known", *(f"  {sentence}" for sentence in missing)]
    return "\n".join(lines)


def _drawn(found: Table) -> list[str]:
    drawn = [*table(found.head, found.rows, found.right), *found.notes]
    return [found.title, *(f"  {line}" for line in drawn)]
