"""What joins the GPUs of a replica, and what a reduction over it takes."""

from math import log2
from typing import Final

from vramledger.errors import CannotKnow
from vramledger.frozen import frozen
from vramledger.hardware.accelerator import Accelerator
from vramledger.simulate.timing.coefficients import Coefficients
from vramledger.simulate.timing.rates import is_blackwell

_GIGA: Final = 1e9


@frozen
class Link:
    """One direction of the way between two GPUs; `ranks` meet over it."""

    ranks: int
    bytes_per_s: float
    pcie: bool
    blackwell: bool = False

    def all_reduce(self, coefficients: Coefficients) -> float:
        """Seconds of a reduction whatever its size; 0 for one rank."""
        if self.ranks == 1:
            return 0.0
        c = coefficients
        base = c.all_reduce_us + c.all_reduce_doubling_us * log2(self.ranks)
        return (base + (c.pcie_us if self.pcie else 0.0)) * 1e-6

    def rate(self, coefficients: Coefficients) -> float:
        """Bytes a second that collectives reach."""
        c = coefficients
        if self.pcie:
            return self.bytes_per_s * c.pcie_share
        return self.bytes_per_s * c.link_share * (c.blackwell_link if self.blackwell else 1.0)


def link_between(accelerator: Accelerator, ranks: int) -> Link:
    """The way between `ranks` GPUs of one server: its fabric where that joins so many, else PCIe.

    Raises:
        CannotKnow: the catalogue has no rate for it.
    """
    if ranks == 1:
        return Link(1, float("inf"), pcie=False)
    if accelerator.fabric_gb_s and ranks <= accelerator.fabric_group:
        rate = accelerator.fabric_gb_s / 2 * _GIGA
        return Link(ranks, rate, pcie=False, blackwell=is_blackwell(accelerator))
    if accelerator.pcie_gb_s is None:
        raise CannotKnow(
            f"The catalogue has no rate of the link between {ranks} GPUs of {accelerator.name}; "
            "choose one GPU or another card."
        )
    return Link(ranks, accelerator.pcie_gb_s * _GIGA, pcie=True)
