"""Whether this machine has the sockets that a closed loop needs: one for each of its clients, all at once."""

import resource
from pathlib import Path
from typing import Final

from vramledger.errors import BadInput
from vramledger.trial.client.job import places_of

_PORTS: Final = Path("/proc/sys/net/ipv4/ip_local_port_range")
_OTHER_FILES: Final = 64  # that a worker has open beside its connections


def check_sockets(closed: int | None, workers: int) -> None:
    """Refuse a closed loop that could never have all its clients under way.

    Raises:
        BadInput: a process may not open so many files, or there are not so many ports to one address.
    """
    if closed is None:
        return
    most, ports = files_of_a_process(), ports_to_an_address()
    of_one = max(places_of(closed, part, workers) or 0 for part in range(workers))
    if of_one + _OTHER_FILES > most:
        raise BadInput(
            f"--closed {closed} needs {of_one:,} connections at a time in a process, and this machine lets one open {most:,} "
            "files (ulimit -Hn); raise that, give more --workers, or take fewer clients."
        )
    if ports is not None and closed > ports:
        raise BadInput(
            f"--closed {closed} needs as many ports, and this machine has {ports:,} to one address "
            f"({_PORTS}); take fewer clients, or spread them over machines."
        )


def files_of_a_process() -> int:
    """How many files a worker may have open; it takes all that it is allowed."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return 1 << 62 if hard == resource.RLIM_INFINITY else hard


def ports_to_an_address() -> int | None:
    """How many connections to one address there are ports for, None where the system does not say."""
    try:
        first, last = map(int, _PORTS.read_text().split())
    except (OSError, ValueError):
        return None
    return last - first + 1
