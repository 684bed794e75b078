"""The requests as rows of numbers, in the order of arrival."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.simulate.request import Arrival

if TYPE_CHECKING:
    Integers: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
    Rows: TypeAlias = np.ndarray[Any, np.dtype[np.void]]

NEVER: Final = -1  # stands for a time that does not come

ASKED: Final = np.dtype(
    [
        ("arrival_ns", np.int64),
        ("cancel_after_ns", np.int64),  # NEVER for a client that waits
        ("salt", np.int64),
        ("prefix_start", np.int64),  # where its identities begin in `Load.prefix`
        ("input_tokens", np.int32),
        ("output_tokens", np.int32),
        ("prefix_length", np.int32),  # identities, each of `Load.pieces` blocks
        ("priority", np.int32),
        ("times_out", np.bool_),
    ],
    align=True,
)


@frozen
class Load:
    """Requests with `ASKED` fields, sorted by arrival; the row of a request is its rank.

    `prefix` holds the identities of all requests one after another; each names `pieces` of the
    engine's blocks, as `keys.spread_prefix` spreads them.
    """

    asked: "Rows"
    prefix: "Integers"
    pieces: int = 1

    @property
    def shares_prefixes(self) -> bool:
        """Whether any request names blocks that others may have."""
        return bool(len(self.prefix))


def load_of(arrivals: Sequence[Arrival]) -> Load:
    """The rows of requests given in any order; equal times keep the order given."""
    ordered = sorted(arrivals, key=lambda arrival: arrival.arrival_ns)
    lengths = np.array([len(one.prefix) for one in ordered], np.int64)
    asked = np.zeros(len(ordered), ASKED)
    asked["prefix_start"] = np.cumsum(lengths) - lengths
    asked["prefix_length"] = lengths
    for name in ("arrival_ns", "input_tokens", "output_tokens", "salt", "priority", "times_out"):
        asked[name] = [getattr(one, name) for one in ordered]
    asked["cancel_after_ns"] = [
        NEVER if one.cancel_after_ns is None else one.cancel_after_ns for one in ordered
    ]
    prefix = np.array([name for one in ordered for name in one.prefix], np.int64)
    return Load(asked, prefix)


def load_of_columns(
    arrival_ns: "Integers", input_tokens: "Integers", output_tokens: "Integers"
) -> Load:
    """The rows of requests that share no prefixes and stay to the end, from columns in any order."""
    order = np.argsort(arrival_ns, kind="stable")
    asked = np.zeros(len(order), ASKED)
    asked["cancel_after_ns"] = NEVER
    asked["arrival_ns"] = arrival_ns[order]
    asked["input_tokens"] = input_tokens[order]
    asked["output_tokens"] = output_tokens[order]
    return Load(asked, np.zeros(0, np.int64))


def refuse_nonsense(load: Load) -> None:
    """Raises `BadInput` for rows that mean nothing."""
    asked = load.asked
    if not len(asked):
        return
    if (np.diff(asked["arrival_ns"]) < 0).any() or asked["arrival_ns"][0] < 0:
        raise BadInput(
            "The requests are not in the order of their arrivals from 0 on; sort them and count times from the first."
        )
    empty = np.flatnonzero((asked["input_tokens"] < 1) | (asked["output_tokens"] < 1))
    if len(empty):
        row = asked[empty[0]]
        raise BadInput(
            f"Request {empty[0]} has {row['input_tokens']} input and {row['output_tokens']} output tokens, but needs at least one of each."
        )
    if (asked["cancel_after_ns"] < NEVER).any():
        raise BadInput("A request is cancelled before it arrives; give 0 ns or more.")
