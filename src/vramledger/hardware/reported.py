"""The memory a driver gives to programs, for cards of which only a relative was seen.

A driver keeps a part of the memory for itself, so programs see less than the board holds and
less than `nvidia-smi` prints. The part depends on the generation: between two cards of one
generation and kind of memory it is between *the same share* and *the same amount*. Both ends of
that rule make the band; to 0.2 % of the board it holds for every pair of discrete cards in the
catalogue where both are known.
"""

from typing import Final

from vramledger.evidence import Basis, Figure
from vramledger.frozen import frozen

# Drivers differ among themselves by this share of a board, either way: the median half-width of
# the seen ranges in the catalogue. No derived figure is narrower.
_DRIVER_SPREAD: Final = 0.001


@frozen
class Sibling:
    """A card of the same generation whose reported memory was seen, in GiB."""

    name: str
    board_gib: float  # what its board holds, as nvidia-smi prints it or by its nominal size
    total: Figure


def from_sibling(board_gib: float, sibling: Sibling) -> Figure:
    """What programs see of a board of `board_gib`, given how much `sibling` keeps."""
    low_share = board_gib * sibling.total.low / sibling.board_gib
    high_share = board_gib * sibling.total.high / sibling.board_gib
    low_amount = board_gib - (sibling.board_gib - sibling.total.low)
    high_amount = board_gib - (sibling.board_gib - sibling.total.high)
    spread = _DRIVER_SPREAD * board_gib
    middle = (low_share + high_share) / 2
    low = max(0.0, min(low_share, low_amount, middle - spread))
    high = min(board_gib, max(high_share, high_amount, middle + spread))
    source = (
        f"derived from {sibling.name}, which gives {sibling.total.value:.2f} of "
        f"{sibling.board_gib:.2f} GiB to programs: the same share, or the same amount kept"
    )
    return Figure((low + high) / 2, low, high, Basis.DERIVED, source)


def slice_memory(
    eighths: int, parent: Figure, seen: dict[int, float], profile: str, name: str
) -> Figure:
    """What programs see of a MIG slice nobody has printed, in GiB.

    A larger slice holds at least as much an eighth as any smaller one (true of every printed
    list), and never more than its share of the whole GPU.

    Args:
        eighths: memory slices it takes, of eight.
        parent: what programs see of the whole GPU.
        seen: for printed slices of this GPU, eighths -> GiB.
        profile: the profile's name, for the source.
        name: the whole GPU's name, for the source.
    """
    high = parent.high * eighths / 8
    smaller = [gib / parts for parts, gib in seen.items() if parts <= eighths]
    low = min(high, max(smaller, default=0.9 * parent.low / 8) * eighths)
    source = f"derived for {profile} from the other slices and {eighths}/8 of {name}"
    return Figure((low + high) / 2, low, high, Basis.DERIVED, source)
