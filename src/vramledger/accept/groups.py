"""Requests by tenant and by class of length: a figure over mostly short answers hides the long ones."""

from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING, Any, Final

from vramledger.accept.lines.about import About
from vramledger.accept.verdict import Group
from vramledger.simulate.judged import good_requests

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    Marks = np.ndarray[Any, np.dtype[np.bool_]]

_EDGES: Final = {
    "input": (0, 1024, 4096, 16_384, 65_536),
    "output": (0, 128, 512, 2048, 8192),
}  # tokens: longer than one, up to the next
_FIGURES: Final = (("ttft_s", 0.5), ("ttft_s", 0.95), ("tpot_s", 0.95), ("e2e_s", 0.95))
_MOST_TENANTS: Final = 50  # with the most requests; more make no table


def groups(about: About) -> tuple[Group, ...]:
    """Tenants where there are several, then classes of input and of output; classes without a request are left out."""
    good = good_requests(about.scenario.contract, about.offered.served)
    found = [
        *_tenants(about),
        *(named for what in _EDGES for named in _classes(about, what)),
    ]
    return tuple(_group(about, of, name, marks, good) for of, name, marks in found)


def _tenants(about: About) -> "Iterator[tuple[str, str, Marks]]":
    import numpy as np

    tenant = about.offered.found.columns["tenant"]
    numbers, counts = np.unique(tenant[~np.isnan(tenant)], return_counts=True)
    if len(numbers) < 2:
        return
    for place in np.argsort(-counts, kind="stable")[:_MOST_TENANTS]:
        yield "tenant", f"{numbers[place]:.0f}", tenant == numbers[place]


def _classes(about: About, what: str) -> "Iterator[tuple[str, str, Marks]]":
    served = about.offered.served
    tokens = served.input_tokens if what == "input" else served.output_tokens
    for least, most in pairwise((*_EDGES[what], inf)):
        marks = (tokens > least) & (tokens <= most)
        if marks.any():
            name = f"over {least:,}" if most == inf else f"{least + 1:,} to {most:,}"
            yield what, name, marks


def _group(about: About, of: str, name: str, marks: "Marks", good: "Marks") -> Group:
    served = about.offered.served
    return Group(
        of=of,
        name=name,
        offered=int(marks.sum()),
        ok=int((served.ok & marks).sum()),
        good=int((good & marks).sum()),
        figures=tuple(
            (f"{latency} p{share * 100:g}", served.at(served.latency[latency][marks], share))
            for latency, share in _FIGURES
        ),
    )
