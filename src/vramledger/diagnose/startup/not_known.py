"""A log that ends in nothing that is known."""

from typing import Final

from vramledger.diagnose.startup.diagnosed import UNKNOWN, Diagnosed
from vramledger.diagnose.startup.error import Facts
from vramledger.diagnose.startup.nearest import nearest_error
from vramledger.diagnose.startup.phases import BEGINNING
from vramledger.diagnose.startup.quoted import quoted
from vramledger.diagnose.startup.scan import Scan
from vramledger.diagnose.told import Change, Told
from vramledger.errors import ExitCode

_ERROR: Final = "S100"
_UNFINISHED: Final = "S101"


def not_known(scan: Scan, facts: Facts, where: str) -> Diagnosed:
    """A log that ends in nothing that is known: its last error, and what would be needed."""
    start = scan.last
    supports = [f"Line {line.number}: {quoted(line.text)}" for line in start.last_errors[-3:]]
    change, unseen = None, ["Whether it failed or was still starting."]
    if start.last_errors:
        last = start.last_errors[-1]
        near = nearest_error(last.text)
        message = (
            f"The log ends in an error that is not known, while {start.phase}: {quoted(last.text)}"
        )
        unseen = ["What this error means; it is not in the list of known errors."]
        if near is not None:
            supports.append(
                f"The nearest known error is {near.id} ({near.cause.replace('-', ' ')}), which it may not be: {quoted(near.samples[0])}"
            )
    elif scan.engine is None and start.phase == BEGINNING:
        message = "No line of the log is known: neither an engine's start nor an error."
        change = Change(
            "give the log from the engine's first line on (docker logs NAME, kubectl logs --previous POD, journalctl -u UNIT)"
        )
    else:
        message = f"The log ends while the engine is {start.phase}; it has neither an error nor a server that is ready."
        change = Change(
            "give the rest of the log; if there is none, look for a kill: dmesg, kubectl describe pod, docker inspect"
        )
    told = Told(
        _ERROR if start.last_errors else _UNFINISHED,
        "warning",
        UNKNOWN,
        message,
        0.2,
        0.2,
        tuple(supports),
        (),
        tuple(unseen),
        change,
        rests_on="the end of the log, which is not known",
    )
    return Diagnosed(
        where,
        scan,
        facts.version,
        (told,),
        ExitCode.CANNOT_KNOW,
        "unknown",
        "Why it did not start is not known.",
    )
