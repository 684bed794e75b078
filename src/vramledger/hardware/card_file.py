"""A card as its file describes it: `cards/<vendor>/<name>.toml`, one file a card.

```toml
name = "T4"                       # the file's own name
vendor = "NVIDIA"
architecture = "Turing"
prints = ["Tesla T4"]             # what the vendor's tool calls it
[sources]
sheet = "https://..."             # short key -> where it is published
[total_gib]                       # what programs see: a seen range ...
low = 14.56
high = 14.75
basis = "measured"
from = "sheet"
# sibling = "L4"                  # ... or a card of the same generation to derive it from
[figures]
bandwidth_gb_s = { value = 320, from = "sheet" }
```

`tflops` (dense), `link` and `mig` are further tables of the same shape.
"""

import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from vramledger.errors import BadInput
from vramledger.evidence import Basis, Figure
from vramledger.frozen import frozen
from vramledger.hardware.accelerator import Accelerator, Vendor
from vramledger.hardware.reported import Sibling, from_sibling


@frozen
class CardFile:
    """The parsed file; figures are read on demand, names are there at once."""

    path: Path
    data: Mapping[str, Any]

    @property
    def name(self) -> str:
        return self.path.stem

    def names(self, key: str) -> tuple[str, ...]:
        """The list of names under `key`: "prints" or "aliases"."""
        return tuple(self.data.get(key, ()))

    def figure(self, key: str) -> Any:
        """The value of a figure, None where nobody publishes one."""
        entry = self.data.get("figures", {}).get(key)
        return None if entry is None else entry["value"]

    def source(self, key: str) -> str:
        """Where a source key points."""
        return str(self.data["sources"][key])


def read_card(path: Path) -> CardFile:
    """Parse one file.

    Raises:
        BadInput: the file is not TOML or lacks a table that every card has.
    """
    try:
        with path.open("rb") as stream:
            data = tomllib.load(stream)
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"The card file {path} is not TOML: {error}; mend that line.") from error
    missing = [key for key in ("vendor", "architecture", "sources", "total_gib") if key not in data]
    if missing:
        raise BadInput(f"The card file {path} lacks {', '.join(missing)}; every card states them.")
    return CardFile(path, data)


def build_card(card: CardFile, sibling_of: Callable[[str], CardFile]) -> Accelerator:
    """The accelerator that a file describes; `sibling_of` finds the file of a relative.

    Raises:
        BadInput: a key is missing or names a source that the file does not list.
    """
    try:
        return _build(card, sibling_of)
    except KeyError as error:
        raise BadInput(
            f"The card file {card.path} lacks {error.args[0]!r}, as a key or among its sources; "
            "add it."
        ) from error


def board_gib(card: CardFile) -> float:
    """What the board holds as its tool prints it, by its nominal size where nobody printed it."""
    mib = card.figure("nvidia_smi_mib")
    return float(card.figure("nominal_gb")) if mib is None else mib / 1024


def total_of(card: CardFile, sibling_of: Callable[[str], CardFile]) -> Figure:
    """The memory programs see, in GiB: a seen range, or derived from a relative."""
    table = card.data["total_gib"]
    if "sibling" not in table:
        low, high = float(table["low"]), float(table["high"])
        basis = Basis(table["basis"])
        return Figure((low + high) / 2, low, high, basis, card.source(table["from"]))
    relative = sibling_of(table["sibling"])
    if card.figure("nvidia_smi_mib") is None:
        per_nominal = board_gib(relative) / relative.figure("nominal_gb")
        board = card.figure("nominal_gb") * per_nominal
    else:
        board = board_gib(card)
    total = total_of(relative, sibling_of)
    return from_sibling(board, Sibling(relative.name, board_gib(relative), total))


def _build(card: CardFile, sibling_of: Callable[[str], CardFile]) -> Accelerator:
    data, link = card.data, card.data.get("link", {})
    capability = card.figure("compute_capability")
    return Accelerator(
        name=card.name,
        vendor=Vendor(data["vendor"]),
        architecture=data["architecture"],
        compute_capability=None if capability is None else _capability(capability),
        nominal_gb=float(card.figure("nominal_gb")),
        total=total_of(card, sibling_of),
        bandwidth_gb_s=card.figure("bandwidth_gb_s"),
        dense_tflops={kind: float(entry["value"]) for kind, entry in _tflops(card).items()},
        multiprocessors=card.figure("multiprocessors"),
        fabric_kind=link.get("kind", ""),
        fabric_group=link.get("group", 1),
        fabric_gb_s=link["gb_s"]["value"] if "gb_s" in link else None,
        pcie_gb_s=card.figure("pcie_gb_s"),
        form=data.get("form", ""),
        slots=card.figure("slots"),
        tdp_w=card.figure("tdp_w"),
        cooling=card.figure("cooling") or "",
        per_server=card.figure("per_server"),
        unified_memory=data.get("unified_memory", False),
        aliases=card.names("aliases"),
        prints=card.names("prints"),
        memory_type=data.get("memory_type", ""),
        pcie=data.get("pcie", ""),
        gfx_target=card.figure("gfx_target"),
        nvidia_smi_mib=card.figure("nvidia_smi_mib"),
        sources=_sources(card),
        notes=data.get("notes", ""),
    )


def _tflops(card: CardFile) -> Mapping[str, Any]:
    table: Mapping[str, Any] = card.data.get("tflops", {})
    return table


def _sources(card: CardFile) -> dict[str, str]:
    figures = card.data.get("figures", {}).items()
    sources = {key: card.source(entry["from"]) for key, entry in figures}
    sources |= {f"tflops.{key}": card.source(entry["from"]) for key, entry in _tflops(card).items()}
    speed = card.data.get("link", {}).get("gb_s")
    return sources if speed is None else sources | {"fabric_gb_s": card.source(speed["from"])}


def _capability(text: str) -> tuple[int, int]:
    major, _, minor = text.partition(".")
    return int(major), int(minor)
