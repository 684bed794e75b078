"""One argument of the server changed at a time: the limits of the scheduler, each at half and at twice what it is."""

from collections.abc import Iterator, Mapping

from vramledger.errors import BadInput, CannotKnow
from vramledger.methods.sweep.base import Base
from vramledger.methods.sweep.point import point_of
from vramledger.methods.sweep.settings import BUDGET, SEQUENCES, changed
from vramledger.simulate.run import NotServed, Simulation, ready_for


def variations(found: Simulation) -> tuple[Mapping[str, str], ...]:
    """Settings that differ from those of a simulation in one argument, where the deployment starts with them."""
    return tuple(each for each in _settings(found) if _starts(found, each))


def _settings(found: Simulation) -> Iterator[dict[str, str]]:
    settings = found.main.settings
    for name, value in ((SEQUENCES, settings.max_num_seqs), (BUDGET, settings.token_budget)):
        for other in (value // 2, value * 2):
            yield {name: str(other)}


def _starts(found: Simulation, settings: Mapping[str, str]) -> bool:
    """Whether the ledger has room for it, and the engine takes it."""
    try:
        question = changed(Base(found.question), point_of(dict(settings)))
        return not isinstance(ready_for(question), NotServed)
    except (BadInput, CannotKnow):  # a limit that this engine refuses is no trial
        return False
