"""Servers hold 1, 2, 4 or 8 cards, linked as the card's own links allow."""

import pytest

from vramledger.errors import BadInput
from vramledger.evidence import Basis
from vramledger.hardware.catalogue import accelerators, find
from vramledger.hardware.server import Topology, server_for, servers


@pytest.mark.parametrize(
    ("name", "topologies", "link"),
    [
        (
            "H100-80GB-SXM",
            [Topology.SINGLE, Topology.MESH, Topology.MESH, Topology.MESH],
            "NVSwitch",
        ),
        (
            "A100-80GB-PCIe",
            [Topology.SINGLE, Topology.MESH, Topology.BRIDGED, Topology.BRIDGED],
            "NVLink bridge",
        ),
        ("L40S", [Topology.SINGLE, Topology.PCIE, Topology.PCIE, Topology.PCIE], "PCIe"),
        (
            "V100-32GB-SXM",
            [Topology.SINGLE, Topology.MESH, Topology.MESH, Topology.BRIDGED],
            "NVLink",
        ),
        ("GB200", [Topology.SINGLE, Topology.MESH, Topology.MESH, Topology.MESH], "NVSwitch"),
    ],
)
def test_a_server_links_its_cards_as_the_card_allows(
    name: str, topologies: list[Topology], link: str
) -> None:
    found = servers(find(name))
    assert [server.gpus for server in found] == [1, 2, 4, 8]
    assert [server.topology for server in found] == topologies
    assert found[-1].link == link


def test_the_speed_of_a_link_counts_both_directions() -> None:
    assert server_for(find("H100-80GB-SXM"), 8).link_gb_s == 450
    assert server_for(find("L40S"), 2).link_gb_s == 32
    assert server_for(find("RTX-4090"), 2).link_gb_s is None


@pytest.mark.parametrize("name", ["GB10", "GH200-96GB", "H100-80GB-SXM-MIG-3g.40gb"])
def test_what_cannot_be_joined_stands_alone(name: str) -> None:
    assert [server.gpus for server in servers(find(name))] == [1]
    with pytest.raises(BadInput, match=f"No single server holds 2 x {name}; 1 is the most"):
        server_for(find(name), 2)


def test_the_smallest_server_that_holds_the_count_is_given() -> None:
    card = find("H100-80GB-SXM")
    assert [server_for(card, count).gpus for count in (1, 2, 3, 4, 5, 8)] == [1, 2, 4, 4, 8, 8]
    with pytest.raises(BadInput) as caught:
        server_for(card, 9)
    assert str(caught.value) == (
        "No single server holds 9 x H100-80GB-SXM; 8 is the most, so spread the model over several "
        "servers or take a larger card."
    )


def test_chassis_that_no_source_names_are_marked_assumed() -> None:
    bases = [server.basis for server in servers(find("A40"))]
    assert bases == [Basis.QUOTED, Basis.QUOTED, Basis.ASSUMED, Basis.ASSUMED]


def test_every_card_has_a_server_of_one() -> None:
    for card in accelerators():
        assert server_for(card, 1).gpus == 1
