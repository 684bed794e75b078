"""A server that was looked at while nobody recorded a request: what its pages tell in place of a client.

Arrivals are what ended plus what the number of requests in the server rose by: with running and waiting requests $n$ and ended ones
$c$ a second, arrivals are $c + dn/dt$.
"""

from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from vramledger.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vramledger.diagnose.evidence import Evidence
    from vramledger.diagnose.seen.windows import Windows
    from vramledger.record.document import Description

    Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

KEY: Final = "look"  # of run.json
FEWEST: Final = 10  # pages, below which a server is not called healthy


@frozen
class Look:
    """A look, as its record has it: whose, and for how long it was meant to last."""

    server: str
    for_s: float


def look_of(description: "Description") -> Look | None:
    """The look that a run is; None where it is none, or says so in a way that nobody here wrote."""
    found = (description.model_extra or {}).get(KEY)
    if not isinstance(found, dict):
        return None
    server, for_s = found.get("server"), found.get("for_s")
    if not isinstance(server, str) or not isinstance(for_s, (int, float)):
        return None
    return Look(server, float(for_s))


def as_a_client_would(series: "Mapping[str, Floats]", windows: "Windows") -> "dict[str, Floats]":
    """Arrivals, ends and requests under way, a second and by window, of the server's own counters; empty where those were not seen."""
    ended, inside = (
        series.get("requests_finished_per_s"),
        _sum(series.get("running"), series.get("waiting")),
    )
    found: dict[str, Floats] = {}
    if inside is not None:
        found["in_flight"] = inside
    if ended is not None:
        found["completions_per_s"] = ended
    if ended is not None and inside is not None and len(windows) > 2:
        arrived = ended + np.gradient(inside, windows.middles_s)
        found["arrivals_per_s"] = np.where(np.isfinite(arrived), np.maximum(arrived, 0.0), np.nan)
    return {name: values for name, values in found.items() if np.isfinite(values).any()}


def idle(evidence: "Evidence") -> bool:
    """Whether no request ran or waited at any moment that was seen, and no token was made between."""
    moments = evidence.moments
    if moments is None:
        return False
    there = np.nansum(moments.running) + np.nansum(moments.waiting)
    made = np.nansum(evidence.of("generation_tokens_per_s"))
    return bool(there == 0 and made == 0)


def _sum(one: "Floats | None", other: "Floats | None") -> "Floats | None":
    if one is None or other is None:
        return one
    found: Floats = one + other
    return found
