"""What is wrong with a load by its options and its file alone, said before any server is asked."""

from pathlib import Path

from vramledger.errors import BadInput
from vramledger.workload.operators.prepared import Part
from vramledger.workload.store import Stored, read_metadata


def refuse_load(part: Part, closed: int | None, duration_s: float | None) -> None:
    """Refuse a load that no server could be sent.

    Raises:
        BadInput: no workload, nothing in it, or an option out of range.
        UnknownName: no scenario of that name.
        CannotKnow: the workload does not have the scenario.
    """
    from vramledger.workload.operators.slice_ import refuse_scenario

    refuse_sending(part, closed, duration_s)
    stored = refuse_empty(part.workload)
    if part.scenario is not None:
        refuse_scenario(stored, part.scenario)


def refuse_sending(part: Part, closed: int | None, duration_s: float | None) -> None:
    """Refuse a way of sending that means nothing.

    Raises:
        BadInput: no clients, no time, or two rates at once.
    """
    if closed is not None and closed < 1:
        raise BadInput(f"--closed {closed} is no number of clients; take 1 or more.")
    if duration_s is not None and not duration_s > 0:
        raise BadInput(f"--for {duration_s:g} s is no time; take more than 0 seconds.")
    if closed is not None and part.rate_scale != 1:
        raise BadInput(
            "--closed sends as fast as answers come and --rate-scale sets a rate; give one of them."
        )


def refuse_empty(path: Path) -> Stored:
    """What a workload says of itself, where it holds requests.

    Raises:
        BadInput: it cannot be read, or holds none.
    """
    stored = read_metadata(path)
    if not stored.rows:
        raise BadInput(f"{path} holds no request; import logs that do, or choose another slice.")
    return stored
