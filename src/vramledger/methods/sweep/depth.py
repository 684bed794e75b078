"""How thoroughly points are simulated: on which part of the requests, and what is looked for besides."""

from typing import TYPE_CHECKING, Final

from vramledger.frozen import frozen

if TYPE_CHECKING:
    from vramledger.simulate.offered import Offered


@frozen
class Depth:
    """`share` of the requests are simulated, the ones in a row that come fastest.

    With `bound`, points whose queue must grow by theory are not simulated; with `knee`, the highest load
    that keeps the contract is searched too, by some thirty further simulations. With `ends`, what keeps the
    contract at the expected step times is played again at their slow end.
    """

    share: float = 1.0
    bound: bool = False
    knee: bool = False
    ends: bool = False


FULL: Final = Depth()


def busiest(offered: "Offered", share: float) -> "Offered":
    """The requests in a row that come fastest, so many of all; the first of them comes at 0."""
    from dataclasses import fields, replace

    count = max(round(share * len(offered)), 1)
    if count >= len(offered):
        return offered
    spans = offered.due_ns[count - 1 :] - offered.due_ns[: len(offered) - count + 1]
    first = int(spans.argmin())
    last = first + count
    ends = offered.prefix_ends
    begins = int(ends[first - 1]) if first else 0
    rows = {
        field.name: getattr(offered, field.name)[first:last]
        for field in fields(offered)
        if field.name in _OF_A_ROW and getattr(offered, field.name) is not None
    }
    rows["due_ns"] = rows["due_ns"] - rows["due_ns"][0]
    rows["prefix_ends"] = ends[first:last] - begins
    return replace(offered, **rows, prefix=offered.prefix[begins : int(ends[last - 1])])


_OF_A_ROW: Final = frozenset(
    {
        "row",
        "due_ns",
        "input_tokens",
        "output_tokens",
        "session",
        "tenant",
        "cancel_after_ns",
        "times_out",
    }
)
