"""A request as it will be sent: ready bytes, and when."""

from vramledger.frozen import frozen


@frozen
class PlannedRequest:
    """One attempt of one request.

    `due_s` counts from the start of the measured part; None where its turn decides, as in a closed loop or after the
    turn before. A later turn of a session is due `think_s` after its predecessor ended, but not before `due_s`.
    `exact` is whether the answer must have the length asked for: shorter ones are incomplete.
    """

    number: int
    row: int | None
    due_s: float | None
    body: bytes
    input_tokens: int | None
    output_tokens: int | None
    session: int | None = None
    turn: int | None = None
    think_s: float | None = None
    tenant: int | None = None
    attempt: int = 0
    cancel_after_s: float | None = None
    times_out: bool = (
        False  # whether leaving then is a time-out of ours rather than a planned cancellation
    )
    exact: bool = True
    warm_up: bool = False  # ahead of the measured part
