"""Where the runs of a verdict come from, and what a simulation cannot know."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from vramledger.accept.verdict import Line, Said
from vramledger.record.document import Origin

if TYPE_CHECKING:
    from vramledger.plan.requirement import Contract
    from vramledger.record.run import Run

MIXED: Final = "mixed"
_NO_ALLOCATOR: Final = "a simulation allocates no GPU memory"
_NO_SERVICE: Final = "a simulation asks no service"
_NO_ANSWERS: Final = "a simulation answers nothing"


def origin_of(runs: "Iterable[Run]") -> str | None:
    """One word for the whole: that of all runs, `mixed` where they differ, None without a run."""
    found = {str(each.description.origin) for each in runs}
    return None if not found else found.pop() if len(found) == 1 else MIXED


def is_no_evidence(origin: str | None) -> bool:
    """Whether nobody may sign for a verdict of that origin."""
    return origin in (Origin.SIMULATED, Origin.REHEARSED, MIXED)


def notes_of(runs: "Iterable[Run]") -> Iterator[str]:
    """What the origin of the runs means, as sentences."""
    runs = tuple(runs)
    found = {each.path.name: str(each.description.origin) for each in runs}
    if origin_of(runs) == MIXED:
        said = ", ".join(f"{name} is {origin}" for name, origin in found.items())
        yield f"The runs are of mixed origin: {said}."
    for origin in dict.fromkeys(found.values()):
        if origin != Origin.MEASURED:
            yield f"Figures are {origin}, not measured on the server that is bought."
    if is_no_evidence(origin_of(runs)):
        yield "However the lines stand, this is no evidence of acceptance: only measured runs are."


def of_a_simulation(line: Line, contract: "Contract") -> Line:
    """A line that a simulation cannot know is not judgeable, and does not fail."""
    why = ""
    if line.name in contract.service_lines:
        why = _NO_SERVICE
    elif contract.memory_growth_gib_per_hour is not None and line.name == contract.server_lines[-1]:
        why = _NO_ALLOCATOR
    return _not_judgeable(line, why) if why else line


def of_no_answers(line: Line) -> Line:
    """A line of quality without evidence from elsewhere."""
    if line.said is Said.INCONCLUSIVE and line.value is None:
        return _not_judgeable(line, _NO_ANSWERS)
    return line


def _not_judgeable(line: Line, why: str) -> Line:
    return Line(line.name, Said.NOT_JUDGEABLE, line.unit, threshold=line.threshold, reason=why)
