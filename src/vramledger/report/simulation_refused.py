"""A warning where the engine refuses so many requests that the other figures speak of the rest alone."""

from typing import TYPE_CHECKING, Final

from vramledger.report.number import share

if TYPE_CHECKING:
    from vramledger.simulate.run import Simulation

NO_THEORY: Final = (
    "\ntheory      left out, with the safe load: it is for the mean request of the workload, and many of those are "
    "refused"
)
_MANY: Final = 0.01  # of the requests; fewer are told by the note on them


def many_refused(simulation: "Simulation") -> bool:
    """Whether a reader must know it before any figure."""
    requests = simulation.main.answers.requests
    return requests["rejected"] > _MANY * requests["offered"]


def refused_warning(simulation: "Simulation") -> str:
    """One line, empty where few are refused or none."""
    if not many_refused(simulation):
        return ""
    requests = simulation.main.answers.requests
    part = share(requests["rejected"] / requests["offered"])
    return (
        f"WARNING     {part} of the requests are rejected, because their prompts leave no room below max_model_len "
        f"({simulation.main.settings.max_model_len:,} tokens): the load is that of the others, and inf stands where a "
        "percentile falls among requests that get no answer"
    )
