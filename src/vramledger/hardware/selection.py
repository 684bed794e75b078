"""Choosing accelerators of the catalogue by what they are."""

from vramledger.errors import UnknownName
from vramledger.hardware.accelerator import Accelerator
from vramledger.hardware.catalogue import accelerators
from vramledger.hardware.custom import check_gib

_NVLINK = ("NVSwitch", "NVLink", "NVLink bridge")


def select(
    *,
    vendor: str | None = None,
    min_gib: float | None = None,
    arch: str | None = None,
    nvlink: bool = False,
) -> tuple[Accelerator, ...]:
    """The whole cards that meet every given condition, smallest memory first within a vendor.

    Args:
        vendor: a vendor's name, case ignored.
        min_gib: GiB that programs must see at the pessimistic end.
        arch: an architecture's name, or its beginning: ``cdna`` means every CDNA.
        nvlink: only cards that NVLink joins, by bridge or switch.

    Raises:
        UnknownName: no card is of that vendor or architecture.
        BadInput: `min_gib` is no memory size.
    """
    cards = accelerators()
    if vendor is not None:
        wanted = vendor.casefold()
        cards = tuple(card for card in cards if card.vendor.casefold() == wanted)
        _found(cards, "vendor", vendor, {str(card.vendor) for card in accelerators()})
    if arch is not None:
        beginning = arch.casefold()
        known = {card.architecture for card in accelerators()}
        matching = {name for name in known if name.casefold().startswith(beginning)}
        _found(tuple(matching), "architecture", arch, known)
        cards = tuple(card for card in cards if card.architecture in matching)
    if min_gib is not None:
        check_gib(min_gib, "--min-gib")
        cards = tuple(card for card in cards if card.total.low >= min_gib)
    if nvlink:
        cards = tuple(card for card in cards if card.fabric_kind in _NVLINK)
    return cards


def _found(cards: tuple[object, ...], kind: str, name: str, known: set[str]) -> None:
    if not cards:
        raise UnknownName(kind, name, known, hint=f"Known are {', '.join(sorted(known))}.")
