"""The kinds of faults by name."""

from collections.abc import Iterable
from typing import Final

from vramledger.errors import UnknownName
from vramledger.rehearse.faults.error import Error
from vramledger.rehearse.faults.fault import Fault
from vramledger.rehearse.faults.garbage import Garbage
from vramledger.rehearse.faults.no_metrics import NoMetrics
from vramledger.rehearse.faults.no_usage import NoUsage
from vramledger.rehearse.faults.reject import Reject
from vramledger.rehearse.faults.reset import Reset
from vramledger.rehearse.faults.restart import Restart
from vramledger.rehearse.faults.role_early import RoleEarly
from vramledger.rehearse.faults.slow_drip import SlowDrip
from vramledger.rehearse.faults.stall import Stall
from vramledger.rehearse.faults.tokens_per_chunk import TokensPerChunk

FAULTS: Final[dict[str, type[Fault]]] = {
    "error": Error,
    "reject": Reject,
    "reset": Reset,
    "stall": Stall,
    "garbage": Garbage,
    "restart": Restart,
    "role-early": RoleEarly,
    "tokens-per-chunk": TokensPerChunk,
    "no-usage": NoUsage,
    "no-metrics": NoMetrics,
    "slow-drip": SlowDrip,
}


def faults_of(options: Iterable[str]) -> tuple[Fault, ...]:
    """The faults of ``--fault`` options, in their order.

    Raises:
        UnknownName: no such kind.
        BadInput: what stands behind its name means nothing.
    """
    return tuple(_fault(option) for option in options)


def _fault(option: str) -> Fault:
    name, at, argument = option.partition("@")
    if not at:
        name, _, argument = option.partition(":")
    if name not in FAULTS:
        raise UnknownName("fault", name, FAULTS, "--fault")
    return FAULTS[name].of(argument)
