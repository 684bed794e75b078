"""What the readiness gate found, and how it stands in run.json."""

from typing import TYPE_CHECKING, Any, Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.trial.server.facts import ServerFacts

if TYPE_CHECKING:
    from vramledger.record.document import Description

KEY: Final = "readiness"  # of run.json


@frozen
class Stage:
    """A moment on the way: `t_s` after the first look, memory in use by GPU, None where it was not to be had."""

    name: str
    t_s: float
    used_bytes: dict[str, int] | None
    why_not: str = ""


@frozen
class Readiness:
    """`ready` is whether the server answered requests at a steady pace in time. `round_s` is the mean time of a request, round by round.

    `first_s` is how long the first request took. `why` says what was missing where it is not ready.
    """

    ready: bool
    waited_s: float
    stages: tuple[Stage, ...]
    first_s: float | None
    round_s: tuple[float, ...]
    facts: ServerFacts | None
    why: str
    unseen: tuple[str, ...]


def to_json(found: Readiness) -> dict[str, Any]:
    """As it stands in run.json."""
    return {
        "ready": found.ready,
        "why": found.why,
        "waited_s": found.waited_s,
        "first_s": found.first_s,
        "round_s": list(found.round_s),
        "stages": [
            {"name": e.name, "t_s": e.t_s, "used_bytes": e.used_bytes, "why_not": e.why_not}
            for e in found.stages
        ],
        "unseen": list(found.unseen),
    }


def readiness_of(about: "Description") -> Readiness | None:
    """What a run's description tells of a gate; None where it is the run of something else.

    Raises:
        BadInput: it is no sound one.
    """
    told = (about.model_extra or {}).get(KEY)
    if told is None:
        return None
    try:
        return Readiness(
            ready=bool(told["ready"]),
            waited_s=float(told["waited_s"]),
            stages=tuple(_stage(each) for each in told["stages"]),
            first_s=None if told["first_s"] is None else float(told["first_s"]),
            round_s=tuple(float(each) for each in told["round_s"]),
            facts=None,
            why=str(told["why"]),
            unseen=tuple(str(each) for each in told["unseen"]),
        )
    except (TypeError, KeyError, ValueError, AttributeError):
        raise BadInput(
            f"The run {about.name!r}: {KEY} in its run.json is damaged; use an unchanged copy."
        ) from None


def _stage(told: Any) -> Stage:
    used = told["used_bytes"]
    by_gpu = None if used is None else {str(name): int(value) for name, value in used.items()}
    return Stage(str(told["name"]), float(told["t_s"]), by_gpu, str(told["why_not"]))
