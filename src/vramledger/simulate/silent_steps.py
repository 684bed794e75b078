"""In which steps between its first and its last token a request got none, as requests.parquet has it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa

from vramledger.frozen import frozen
from vramledger.simulate.figures import Figures

if TYPE_CHECKING:
    from vramledger.simulate.engines import Engine

    Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]


@frozen
class _Silences:
    """Arrays of one length, a row a pause."""

    request: "Array"
    begins: "Array"  # steps after the first token
    lasts: "Array"  # steps


def steps_told(figures: Figures, engines: "Sequence[Engine]") -> "Array":
    """Of each request whether it is known in which steps it got no token."""
    tells = np.array([engine.found.pauses is not None for engine in engines])
    found: Array = tells[figures.engine] | (figures.found["preemptions"] == 0)
    return found


def silent_steps(figures: Figures, engines: "Sequence[Engine]") -> pa.Array:
    """The column of that name: the pauses of each request in their order, null where there is none."""
    found = _together([_silences(figures, engine) for engine in engines])
    order = np.lexsort((found.begins, found.request))
    pairs = np.stack([found.begins[order], found.lasts[order]], axis=1).ravel()
    counts = np.bincount(found.request, minlength=len(figures.engine))
    offsets = np.concatenate(([0], np.cumsum(2 * counts)))
    return pa.ListArray.from_arrays(
        pa.array(offsets, pa.int32()), pa.array(pairs, pa.int64()), mask=pa.array(counts == 0)
    )


def _silences(figures: Figures, engine: "Engine") -> _Silences:
    pauses = engine.found.pauses
    if pauses is None:
        nobody = np.zeros(0, np.int64)
        return _Silences(nobody, nobody, nobody)
    length = pauses["next_step"] - pauses["last_step"] - 1
    pauses, length = pauses[length > 0], length[length > 0]
    request = engine.places[pauses["rank"]]
    first = figures.found["first_token_step"][request]
    return _Silences(request, pauses["last_step"] + 1 - first, length)


def _together(parts: Sequence[_Silences]) -> _Silences:
    return _Silences(
        np.concatenate([part.request for part in parts]),
        np.concatenate([part.begins for part in parts]),
        np.concatenate([part.lasts for part in parts]),
    )
