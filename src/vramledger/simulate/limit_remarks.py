"""Thresholds that no service means: a unit was most likely mistaken."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from vramledger.units import plain

if TYPE_CHECKING:
    from vramledger.plan.requirement import Contract

_DAY: Final = 86_400.0
_SENSIBLE: Final = {  # seconds, from the least to the most that a contract can mean
    "ttft_s": (1e-3, _DAY),
    "queue_s": (1e-6, _DAY),
    "itl_s": (1e-4, 10.0),
    "tpot_s": (1e-4, 10.0),
    "e2e_s": (1e-3, 7 * _DAY),
}


def limit_remarks(contract: "Contract | None") -> Iterator[str]:
    """One for each latency with a threshold outside `_SENSIBLE`."""
    if contract is None:
        return
    for name, limits in contract.latency.items():
        least, most = _SENSIBLE.get(name, (0.0, float("inf")))
        for share, value in (each for row in limits for each in row.percentiles.items()):
            if not least <= value <= most:
                yield _remark(f"{name} p{share * 100:g}", value, above=value > most)


def _remark(line: str, value: float, *, above: bool) -> str:
    said = f"The limit of {plain(value)} on {line} is in seconds, as all without a unit are"
    if not above:
        return f"{said}: no server answers so soon."
    return (
        f'{said}: nearly every server keeps it. Write milliseconds as "{line} <= {plain(value)}ms".'
    )
