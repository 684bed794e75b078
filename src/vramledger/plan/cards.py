"""The cards of a plan: names from the catalogue, cards from data sheets, and their prices."""

from collections.abc import Mapping

from vramledger.errors import BadInput
from vramledger.evidence import Basis
from vramledger.frozen import frozen
from vramledger.hardware.accelerator import Accelerator, Vendor
from vramledger.hardware.catalogue import find
from vramledger.hardware.custom import DataSheet, custom
from vramledger.plan.document import HardwarePart
from vramledger.plan.price import parse_price
from vramledger.plan.problems import dotted
from vramledger.yaml_text import KeyPath, YamlText

Sheets = Mapping[str, Accelerator]


@frozen
class CardPrice:
    """What one card costs an hour."""

    card: str
    per_hour: float
    currency: str


def from_sheet(part: HardwarePart, path: KeyPath, text: YamlText) -> Accelerator:
    """The card that a data sheet in the plan describes.

    Raises:
        BadInput: it gives no memory, or one no card has.
    """
    capability = part.compute_capability
    major, _, minor = (capability or "0.0").partition(".")
    sheet = DataSheet(
        name=part.name,
        total_gib=part.total_gib,
        memory_gb=part.memory_gb,
        vendor=Vendor(part.vendor),
        architecture=part.architecture,
        compute_capability=None if capability is None else (int(major), int(minor)),
        bandwidth_gb_s=part.bandwidth_gb_s,
        dense_tflops={str(kind): rate for kind, rate in part.dense_tflops.items()},
        fabric_gb_s=part.fabric_gb_s,
        fabric_group=part.fabric_group,
        pcie_gb_s=part.pcie_gb_s,
        tdp_w=part.tdp_w,
        basis=Basis(part.basis),
        source=part.source or f"data sheet in {text.place(path)}",
    )
    return custom(sheet, f"{text.place(path)}: {dotted(path)}")


def card(name: str, path: KeyPath, sheets: Sheets, text: YamlText) -> Accelerator:
    """The card of that name: one of the plan's own data sheets, or one of the catalogue.

    Raises:
        UnknownName: there is none.
        BadInput: the name fits several.
    """
    own = sheets.get(name)
    return find(name, f"{text.place(path)}, {dotted(path)}") if own is None else own


def price(name: str, written: str, sheets: Sheets, text: YamlText) -> CardPrice:
    """The price given for a card.

    Raises:
        BadInput: the text is no price, or no such card is known.
    """
    path = ("prices", name)
    amount = parse_price(written, f"{text.place(path)}: {dotted(path)}")
    found = card(name, path, sheets, text)
    return CardPrice(found.name, amount.per_hour, amount.currency)


def one_currency(prices: tuple[CardPrice, ...], text: YamlText) -> str:
    """The currency of all prices, empty where none is written.

    Raises:
        BadInput: they are in several.
    """
    found = sorted({given.currency for given in prices})
    if len(found) > 1:
        shown = ", ".join(name or "none written" for name in found)
        raise BadInput(
            f"{text.place(('prices',))}: the prices are in different currencies ({shown}); give "
            "all of them in one, rates are not converted."
        )
    return found[0] if found else ""
