"""What the GPUs of a point cost an hour."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from vramledger.frozen import frozen
from vramledger.methods.sweep.row import Row


@frozen
class Prices:
    """Money per GPU and hour, by the card's name; `currency` is empty where none was written."""

    per_hour: Mapping[str, float]
    currency: str = ""

    def of(self, row: Row) -> float | None:
        """Of all GPUs of a point; None where its card has no price."""
        each, gpus = self.per_hour.get(row.columns.get("gpu") or ""), row.columns.get("gpus")
        return None if each is None or gpus is None else each * gpus


UNPRICED: Final = Prices(MappingProxyType({}))
