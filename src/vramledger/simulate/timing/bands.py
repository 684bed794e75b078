"""The band around a prediction, and what widens it.

The fit's bands are predicted over measured of groups that were left out of it. Whatever was not
measured (an architecture, a link over PCIe, a version that is not known) widens the band by a power: a band
of 0.8 to 1.25 becomes 0.64 to 1.56 at power 2.
"""

from collections.abc import Mapping
from typing import Any, Final

from vramledger.engine.vllm.deployment import Deployment
from vramledger.evidence import Basis, Figure
from vramledger.frozen import frozen
from vramledger.model.cache import (
    ChunkedAttention,
    CompressedAttention,
    CrossAttention,
    RecurrentState,
    SharedWith,
)
from vramledger.simulate.timing.carrying import carried_to
from vramledger.simulate.timing.coefficients import Band, Fit, shipped
from vramledger.simulate.timing.work import Work

_PLAIN: Final = 1.0
_ARCHITECTURE: Final = 1.6  # one card of another generation was 1.2 to 1.3 off without a fit
_PCIE: Final = 2.0
_PIPELINE: Final = 1.4
_VERSION: Final = 1.3
_RELEASE: Final = 1.2
_CACHE: Final = 1.4
DRAFTS_LEFT_OUT: Final = "Speculative decoding is left out: these are the times without."
_SPECULATION: Final = 2.0
_NOT_MEASURED: Final[Mapping[type[Any], str]] = {
    ChunkedAttention: "chunked attention",
    CompressedAttention: "compressed attention",
    CrossAttention: "cross attention",
    RecurrentState: "recurrent states",
    SharedWith: "layers that share a cache",
}
_FEW_BYTES_A_SECOND: Final = 1.5e12  # GDDR cards; the measured ones have HBM


@frozen
class Region:
    """How far a question lies outside what was measured."""

    widening: float
    notes: tuple[str, ...]
    inside: bool | None = None  # None: where there is nothing to note

    @property
    def basis(self) -> Basis:
        """Calibrated inside, assumed outside."""
        inside = not self.notes if self.inside is None else self.inside
        return Basis.CALIBRATED if inside else Basis.ASSUMED


def region(deployment: Deployment, work: Work, fit: Fit, *, version_known: bool = True) -> Region:
    """What of the question was not measured."""
    found = _outside(deployment, work, fit, version_known=version_known)
    if fit.host is None:
        return Region(
            max((power for power, _ in found), default=_PLAIN), tuple(note for _, note in found)
        )
    outside = _outside(deployment, work, shipped(), version_known=version_known)
    elsewhere = max((power for power, _ in outside), default=_PLAIN)
    carried = carried_to(deployment, work, fit, shipped().tpot, elsewhere)
    odd = tuple(note for _, note in found)
    return Region(
        carried.widening * max((power for power, _ in found), default=_PLAIN),
        (*carried.notes, *odd),
        inside=carried.at_home and not odd,
    )


def _outside(
    deployment: Deployment, work: Work, fit: Fit, *, version_known: bool
) -> list[tuple[float, str]]:
    """What of the question that fit did not measure, each with the power by which it widens a band."""
    card = work.accelerator
    found: list[tuple[float, str]] = []
    if fit.host is not None:
        pass  # how far its card is away says `carrying`
    elif card.architecture not in fit.architectures:
        found.append((_ARCHITECTURE, f"No {card.architecture} card was measured."))
    elif work.bandwidth < _FEW_BYTES_A_SECOND:
        found.append(
            (_ARCHITECTURE, f"No card with as little bandwidth as {card.name} was measured.")
        )
    pcie = work.tensor_link.pcie or (work.replica_link.pcie and work.experts)
    if pcie and fit.host is None:
        found.append((_PCIE, "No tensor parallelism over PCIe was measured."))
    found += _of_model(deployment)
    if deployment.speculation is not None:
        found.append((_SPECULATION, DRAFTS_LEFT_OUT))
    if version_known and not _among(deployment.rules.family, fit.releases):
        found.append((_RELEASE, f"No server of vLLM {deployment.rules.family} was measured."))
    if deployment.layout.pp > 1:
        found.append((_PIPELINE, "No pipeline stages were measured."))
    if not version_known:
        found.append(
            (_VERSION, f"The engine version is not known; vLLM {deployment.version} is assumed.")
        )
    return found


def _of_model(deployment: Deployment) -> list[tuple[float, str]]:
    """Kinds of cache that no measured model keeps."""
    kinds = {type(layer.spec) for layer in deployment.model.cache_layers}
    odd = {_NOT_MEASURED[kind] for kind in kinds if kind in _NOT_MEASURED}
    if deployment.model.sparse_topk:
        odd.add("sparse attention")
    return [(_CACHE, f"No model with {kind} was measured.") for kind in sorted(odd)]


def _among(family: str, releases: tuple[str, ...]) -> bool:
    """Whether a release family lies between the first and the last measured one."""
    if not releases:
        return True
    first, last = (_numbers(release) for release in releases)
    return first <= _numbers(family) <= last


def _numbers(family: str) -> tuple[int, ...]:
    return tuple(int(part) for part in family.split("."))


def banded(value: float, band: Band, around: Region, source: str) -> Figure:
    """The figure with the band that `around` leaves it."""
    low, high = value / band.high**around.widening, value / band.low**around.widening
    return Figure(value, min(low, value), max(high, value), around.basis, source)
