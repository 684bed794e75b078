"""One repetition, read from its directory."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from vramledger.frozen import frozen
from vramledger.methods.measured.contract import all_gaps, served_of
from vramledger.methods.repeated.turns import Turn
from vramledger.record.run import read_run
from vramledger.trial.conduct.latencies import NAMES, measured
from vramledger.trial.conduct.summary import Summary, summarise

if TYPE_CHECKING:
    import numpy as np

    from vramledger.record.document import Description
    from vramledger.simulate.judged import Served

    Floats = np.ndarray[Any, np.dtype[np.float64]]

ITL: Final = "itl_s"
LATENCIES: Final = (*NAMES, ITL)


@frozen
class OneRun:
    """A repetition that was closed. `values` are the seconds of each latency, in the order in which requests were due.

    Latencies of requests are of all that were offered, failures infinite; ITL is that of requests that ended as asked.
    `ok` is 1 or 0 for every request.
    """

    turn: Turn
    folder: Path
    summary: Summary
    served: "Served"
    values: "dict[str, Floats]"
    ok: "Floats"

    @property
    def about(self) -> "Description":
        """Its run.json."""
        return self.summary.description


def read_one(turn: Turn, folder: Path) -> OneRun:
    """A closed repetition.

    Raises:
        BadInput: it is no closed trial, or damaged.
    """
    import numpy as np

    run = read_run(folder)
    found = served_of(measured(run), all_gaps(run))
    due = run.requests.numbers("due_s", "row")
    order = np.argsort(due["due_s"][~np.isnan(due["row"])], kind="stable")
    values = {name: found.latency[name][order] for name in NAMES}
    return OneRun(
        turn,
        folder,
        summarise(run),
        found,
        values | {ITL: found.gaps.seconds},
        found.ok[order].astype(np.float64),
    )


def pooled(runs: "tuple[OneRun, ...]") -> "Served":
    """The requests of several runs as those of one, as long as all of them."""
    from dataclasses import replace

    import numpy as np

    from vramledger.simulate.output_gaps import Gaps

    parts = [one.served for one in runs]

    def joined(name: str) -> "np.ndarray[Any, np.dtype[Any]]":
        return np.concatenate([getattr(each, name) for each in parts])

    seconds = np.concatenate([each.gaps.seconds for each in parts])
    return replace(
        parts[0],
        input_tokens=joined("input_tokens"),
        output_tokens=joined("output_tokens"),
        ok=joined("ok"),
        cancelled=joined("cancelled"),
        stayed=joined("stayed"),
        latency={name: np.concatenate([each.latency[name] for each in parts]) for name in NAMES},
        gaps=Gaps(seconds, np.ones(len(seconds))),
        span_s=sum(each.span_s for each in parts),
    )


def complaints(runs: "tuple[OneRun, ...]") -> Iterator[str]:
    """Why runs of one server are not repetitions of one another, or decide nothing, as sentences."""
    from vramledger.trial.server.differences import changes

    for one in runs:
        yield from (f"{one.turn.name}: {why}" for why in one.summary.inconclusive)
    first, *others = runs
    for one in others:
        if one.about.workload_sha256 != first.about.workload_sha256:
            yield f"{one.turn.name} sent another workload than {first.turn.name}; repeat with one workload."
        if _contract(one) != _contract(first):
            yield f"{one.turn.name} was made for another contract than {first.turn.name}; repeat with one plan."
        for each in changes(first.about.in_effect, one.about.in_effect, both_seen=True):
            yield (
                f"The server was another in {one.turn.name} than in {first.turn.name}: {each.title or f'--{each.name}'} was "
                f"{each.one} and is {each.other}."
            )


def _contract(one: OneRun) -> Any:
    return one.summary.trial.get("contract")
