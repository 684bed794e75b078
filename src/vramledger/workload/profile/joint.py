"""The joint histogram, of an engine's cells."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from vramledger.workload.profile.aggregates import PACK, bin_of_step
from vramledger.workload.profile.profile import Cell, Joint


def joint_of(cells: Mapping[str, Any]) -> Joint | None:
    """The answer to `aggregates.joint` as bins; None where no request has both lengths."""
    if not len(cells["requests"]):
        return None
    bins = {int(step): bin_of_step(int(step)) for step in {*cells["given"], *cells["made"]}}
    sums: dict[tuple[int, int], list[int]] = defaultdict(lambda: [0, 0, 0])
    counted = ("requests", "given_total", "made_total")
    for place, (given, made) in enumerate(zip(cells["given"], cells["made"], strict=True)):
        kept = sums[bins[int(given)], bins[int(made)]]
        for part, name in enumerate(counted):
            kept[part] += int(cells[name][place])
    total, longest_input = divmod(int(cells["longest"].max()), PACK)
    return Joint(
        cells=tuple(Cell(*key, *sums[key]) for key in sorted(sums)),
        longest_input=longest_input,
        longest_output=total - longest_input,
    )
