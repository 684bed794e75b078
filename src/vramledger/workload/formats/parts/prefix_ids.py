"""Lists of prefix ids in records."""

from collections.abc import Hashable, Sequence
from typing import Any

from vramledger.workload.raw import RowProblem


def prefix_ids(value: Any, name: str) -> Sequence[Hashable] | None:
    """A list of whole numbers or texts, None where the field is absent.

    Raises:
        RowProblem: something else.
    """
    if value is None:
        return None
    if not isinstance(value, list):
        raise RowProblem(f"{name} is not a list")
    if not {type(each) for each in value} <= {int, str}:
        raise RowProblem(f"{name} holds something that is no id")
    return value
