"""A trial of a plan: what kind it is, how long it takes, what it decides, and the words that run it."""

from collections.abc import Mapping
from dataclasses import field
from typing import Final

from vramledger.errors import BadInput, UnknownName
from vramledger.frozen import frozen
from vramledger.units import plain

WARM_UP_S: Final = 180.0  # after which a warm-up begins no further round
CLOSING_S: Final = 30.0
RESTART_S: Final = 300.0  # assumed where nothing else is said
STEP_S: Final = 60.0  # that each step of a ramp sends
SHADOW_S: Final = 900.0  # most of a comparison, where nothing else is said
SOAK_RAMP_S: Final = 600.0  # after which a ramp of a soak begins no further step
SEGMENTS: Final = 24  # of a soak
BETWEEN_S: Final = 60.0  # most between two segments, warm-up and rest of the server together
REPEATS: Final = 3
_MOST_REPEATS: Final = 1000
IDLE_S: Final = 30.0  # most wait for an idle server before a step
READY: Final = "ready"
RAMP: Final = "ramp"
SOAK: Final = "soak"
REPEAT: Final = "repeat"
SHADOW: Final = "shadow"


@frozen
class Item:
    """One entry of a plan of trials.

    `send_s` is how long it sends load, None where the kind itself knows when to end; `takes_s` is the longest it takes, with warm-up, drain and
    closing. `decides` are the lines of the contract it decides, `SCENARIO: LINE`. `settings` are the server's arguments that differ from
    the plan's: another server has to be started for them. `times` is how often a repetition is made; `against` is what the answers of
    the server are compared with, another server's address or a file that ``vram trial shadow --record`` wrote.
    """

    name: str
    kind: str
    takes_s: float
    scenario: str | None = None
    send_s: float | None = None
    drain_s: float | None = None
    decides: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    fresh: bool = False  # whether it wants a server that was just started
    times: int | None = None
    against: str | None = None


@frozen
class Kind:
    """A kind of trial. `verb` is that of ``vram trial`` which runs it; `must_send` whether it takes a length of time to send.

    `usual_s` is that time where nothing else is said and the kind has one of its own. `resumes` is whether what was cut off can go on.
    """

    name: str
    verb: str
    does: str
    of_scenario: bool = True
    must_send: bool = True
    options: tuple[str, ...] = ()
    usual_s: float | None = None
    resumes: bool = True


KINDS: Final = (
    Kind(READY, "warm", "waits until the server is ready", of_scenario=False, must_send=False, resumes=False),
    Kind("run", "run", "sends a scenario at its own times"),
    Kind("cold", "run", "the same without a warm-up, on an empty cache", options=("--cold",)),
    Kind("variation", "run", "the same with one argument of the server changed"),
    Kind(RAMP, "ramp", "raises the load until a threshold says stop", usual_s=1800.0),
    Kind(SOAK, "soak", "hours in the rhythm of production, tested for growth", usual_s=7200.0),
    Kind(REPEAT, "repeat", "sends a scenario several times, to tell what differs from run to run"),
    Kind(SHADOW, "shadow", "compares its answers with those of another precision", of_scenario=False, must_send=False, resumes=False),
)  # fmt: skip
BY_NAME: Final = {kind.name: kind for kind in KINDS}


def kind_named(name: str, where: str = "") -> Kind:
    """The kind of that name.

    Raises:
        UnknownName: there is none.
    """
    if name not in BY_NAME:
        raise UnknownName("kind of trial", name, BY_NAME, where)
    return BY_NAME[name]


def longest_s(kind: Kind, send_s: float, drain_s: float, times: int = 1) -> float:
    """The longest that a trial takes which sends for so long, so many times; a soak begins nothing that would end later."""
    warm = 0.0 if kind.name == "cold" else WARM_UP_S
    if kind.name == SOAK:
        step_s = warm + IDLE_S + drain_s + CLOSING_S  # that begins at the last moment
        return 3 * (SOAK_RAMP_S + step_s) + send_s + SEGMENTS * BETWEEN_S + drain_s + CLOSING_S
    idle = IDLE_S if kind.name == RAMP else 0.0  # before its last step
    return times * (warm + idle + send_s + drain_s + CLOSING_S)


def checked(item: Item, where: str) -> Item:
    """The item itself.

    Raises:
        BadInput: something in it means nothing.
        UnknownName: a kind that is none.
    """
    kind = kind_named(item.kind, where)
    if kind.of_scenario and item.scenario is None:
        raise BadInput(f"{where} is of kind {kind.name} and names no scenario; give it one.")
    if kind.must_send and not (item.send_s is not None and item.send_s > 0):
        raise BadInput(
            f"{where} is of kind {kind.name} and has no send_s; give it seconds above 0."
        )
    if item.takes_s < (item.send_s or 0):
        raise BadInput(
            f"{where} sends for {plain(item.send_s or 0)} s and is said to take {plain(item.takes_s)} s; takes_s holds "
            "warm-up, drain and closing too."
        )
    if kind.name == "variation" and not item.settings:
        raise BadInput(f"{where} is a variation and changes nothing; give it settings.")
    if kind.name == REPEAT:
        check_times(item.times, where)
    if kind.name == SHADOW and not item.against:
        raise BadInput(
            f"{where} compares with nothing; give it against: the address of another server, or a file that vram trial shadow "
            "--record wrote."
        )
    return item


def check_times(times: int | None, where: str) -> None:
    """Refuse a number of repetitions that tells nothing.

    Raises:
        BadInput: fewer than two, or far too many.
    """
    if times is None or not 2 <= times <= _MOST_REPEATS:
        said = "no number of times" if times is None else f"{times:,} times"
        raise BadInput(f"{where} repeats {said}; give it times from 2 to {_MOST_REPEATS:,}.")
