"""What a server says of itself over time, whether it was measured or simulated: requests running and waiting, use of its KV cache."""

from typing import TYPE_CHECKING, Any, Final

from vramledger.record.samples import SERVER, STEPS
from vramledger.trial.conduct.watch import SERVER as TARGET
from vramledger.trial.sampling.history import History, read_histories

if TYPE_CHECKING:
    import numpy as np

    from vramledger.record.run import Run

    Floats = np.ndarray[Any, np.dtype[np.float64]]

MOST_MOMENTS: Final = 20_000
EVERY_S: Final = 0.25  # as a page is read
OF: Final = ("running", "waiting", "kv_usage")


def levels_told(run: "Run", name: str) -> tuple[History, ...]:
    """One history an engine, on the same moments; nothing where nobody tells.

    Of a simulation it is what the step under way says, looked at as often as a page would be read, and 0 where no step is under way.

    Raises:
        BadInput: a table is damaged.
    """
    if STEPS.name in run.tables:
        return _of_steps(run, name)
    return read_histories(run, name, TARGET) if SERVER.name in run.tables else ()


def _of_steps(run: "Run", name: str) -> tuple[History, ...]:
    import numpy as np

    found = run.table(STEPS).numbers("engine", "start_s", "end_s", name)
    if not len(found["engine"]):
        return ()
    begin, end = float(found["start_s"].min()), float(found["end_s"].max())
    moments = int(min(max((end - begin) / EVERY_S, 1), MOST_MOMENTS)) + 1
    t_s = np.linspace(begin, end, moments)
    return tuple(
        History(name, f'{{"engine":"{engine:.0f}"}}', t_s, _at(t_s, {key: each[found["engine"] == engine] for key, each in found.items()}, name))
        for engine in np.unique(found["engine"])
    )  # fmt: skip


def _at(t_s: "Floats", of: "dict[str, Floats]", name: str) -> "Floats":
    import numpy as np

    place = np.searchsorted(of["start_s"], t_s, side="right") - 1
    under_way = (place >= 0) & (t_s <= of["end_s"][np.maximum(place, 0)])
    values: Floats = np.where(under_way, of[name][np.maximum(place, 0)], 0.0)
    return values
