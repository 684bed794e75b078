"""Servers: how many of one card a machine holds and how they are linked."""

from enum import StrEnum
from typing import Final

from vramledger.errors import BadInput
from vramledger.evidence import Basis
from vramledger.frozen import frozen
from vramledger.hardware.accelerator import Accelerator

_SIZES: Final = (1, 2, 4, 8)


class Topology(StrEnum):
    """How the GPUs of one server reach each other."""

    SINGLE = "one GPU"
    MESH = "every GPU linked to every other"
    BRIDGED = "linked in groups, PCIe between the groups"
    PCIE = "PCIe only"


@frozen
class Server:
    """`gpus` cards of one kind in one machine.

    `basis` is quoted where a source names a machine of that size, assumed where larger chassis
    than the sources name are taken to exist.
    """

    accelerator: Accelerator
    gpus: int
    topology: Topology
    group: int  # GPUs that the fabric joins each to each; 1 where only PCIe joins them
    basis: Basis
    source: str

    @property
    def name(self) -> str:
        return f"{self.gpus} x {self.accelerator.name}"

    @property
    def link(self) -> str:
        """What joins two GPUs of one group."""
        return self.accelerator.fabric_kind if self.group > 1 else "PCIe"

    @property
    def link_gb_s(self) -> float | None:
        """Speed of that link in one direction; None where it is not known."""
        if self.group == 1:
            return self.accelerator.pcie_gb_s
        both = self.accelerator.fabric_gb_s
        return None if both is None else both / 2


def servers(accelerator: Accelerator) -> tuple[Server, ...]:
    """Servers of that card, smallest first; one alone for slices and superchips."""
    if accelerator.per_server == 1:
        return (_server(accelerator, 1),)
    return tuple(_server(accelerator, gpus) for gpus in _SIZES)


def server_for(accelerator: Accelerator, count: int) -> Server:
    """The smallest server that holds `count` of that card.

    Raises:
        BadInput: no single server holds so many.
    """
    for server in servers(accelerator):
        if server.gpus >= count:
            return server
    most = servers(accelerator)[-1].gpus
    raise BadInput(
        f"No single server holds {count} x {accelerator.name}; {most} is the most, so spread the "
        "model over several servers or take a larger card."
    )


def _server(accelerator: Accelerator, gpus: int) -> Server:
    group = min(gpus, accelerator.fabric_group)
    named = accelerator.per_server
    if gpus == 1 or (named is not None and gpus <= named):
        basis, source = Basis.QUOTED, accelerator.sources.get("per_server", "")
    else:
        basis = Basis.ASSUMED
        source = "larger than the machines our sources name; such chassis are taken to exist"
    return Server(accelerator, gpus, _topology(gpus, group), group, basis, source)


def _topology(gpus: int, group: int) -> Topology:
    if gpus == 1:
        return Topology.SINGLE
    if group == gpus:
        return Topology.MESH
    return Topology.BRIDGED if group > 1 else Topology.PCIE
