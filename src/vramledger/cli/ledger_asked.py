"""The options of ``vram ledger`` as given, and which question each has a part in."""

from typing import Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.units import parse_count

ACCOUNT: Final = ""  # the question that no option names
QUESTIONS: Final = (
    "solve", "vs", "tables", "layouts", "beside", "baseline", "from_log", "from_metrics",
)  # fmt: skip
_FLAGS: Final = {"tables": "--table"}
_PARTS: Final[dict[str, frozenset[str]]] = {
    "concurrent": frozenset({"solve", "tables", "beside"}),
    "request_tokens": frozenset({ACCOUNT, "solve", "tables", "layouts", "beside"}),
    "max_loss": frozenset({"baseline"}),
}


@frozen
class Asked:
    """The options as given; None where they are not."""

    launch: str | None = None
    gpu: str | None = None
    engine_version: str | None = None
    total_gib: float | None = None
    used_gib: float | None = None
    model: str | None = None
    request_tokens: str | None = None
    concurrent: int | None = None
    solve: str | None = None
    vs: str | None = None
    tables: tuple[str, ...] = ()
    layouts: int | None = None
    beside: str | None = None
    baseline: str | None = None
    max_loss: str | None = None
    from_log: str | None = None
    from_metrics: str | None = None
    calibration: str | None = None

    @property
    def requests(self) -> int:
        """Requests to hold."""
        return 1 if self.concurrent is None else self.concurrent

    @property
    def tokens(self) -> int | None:
        """Length of a request, None for the full one.

        Raises:
            BadInput: no count of at least 1.
        """
        if self.request_tokens is None:
            return None
        tokens = parse_count(self.request_tokens, "--request-tokens")
        if tokens < 1:
            raise BadInput(f"--request-tokens is {tokens}; it must be at least 1.")
        return tokens


def question(asked: Asked) -> str:
    """The one question the options ask, a name of `QUESTIONS`, or `ACCOUNT`.

    Raises:
        BadInput: two questions at once, or an option that the question does not use.
    """
    chosen = [name for name in QUESTIONS if getattr(asked, name) not in (None, ())]
    if len(chosen) > 1:
        flags = " and ".join(_flag(name) for name in chosen)
        raise BadInput(f"{flags} ask different questions; ask one at a time.")
    found = chosen[0] if chosen else ACCOUNT
    if asked.requests < 1:
        raise BadInput(f"--concurrent is {asked.concurrent}; it must be at least 1.")
    for option, users in _PARTS.items():
        if getattr(asked, option) is not None and found not in users:
            raise BadInput(_unused(option, found, users))
    return found


def _unused(option: str, found: str, users: frozenset[str]) -> str:
    named = [_flag(name) for name in QUESTIONS if name in users]
    only = named[0] if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}"
    place = f"with {_flag(found)}" if found else "in the account of a launch"
    return f"{_flag(option)} has no part {place}; it goes with {only}. Leave it out."


def _flag(name: str) -> str:
    return _FLAGS.get(name, "--" + name.replace("_", "-"))
