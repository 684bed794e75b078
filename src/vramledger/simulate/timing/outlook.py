"""What a load sees on a prepared deployment: played through, with the closed form beside it."""

from typing import Final

from vramledger.engine.vllm.deployment import Deployment
from vramledger.frozen import frozen
from vramledger.simulate.timing.closed_loop import Load, Steady, steady
from vramledger.simulate.timing.coefficients import Coefficients
from vramledger.simulate.timing.long_run import play
from vramledger.simulate.timing.replay import Played
from vramledger.simulate.timing.room import Room, room_of
from vramledger.simulate.timing.step import Pricer
from vramledger.simulate.timing.work import Staging, Work, stages_of, work_of

_SOME_WAIT: Final = 0.01
_MOST_PLAYED: Final = 4096  # in flight; above it the closed form answers alone


@frozen
class Prepared:
    """A deployment whose loads can be asked for one after another."""

    deployment: Deployment
    work: Work
    room: Room


@frozen
class Outlook:
    """Seconds and rates. `played` is None where the load is too large to be played."""

    ttft: float
    tpot: float
    running: float  # requests in the engine, mean over time
    waiting: float  # requests that wait for room
    burst: float  # seconds of the mean TTFT that the opening burst takes
    tokens_per_s: float
    steady: Steady
    played: Played | None


def waits_for_room(found: Outlook, load: Load) -> bool:
    """Whether a share of the load that shows waits for room in the cache or among the sequences."""
    return found.waiting > _SOME_WAIT * load.concurrency


def prepare(deployment: Deployment, staging: Staging = stages_of) -> Prepared:
    """Work and room of a deployment; `staging` is `stages_of`, or what remembers what it said.

    Raises:
        BadInput: the cache cannot be laid out.
        CannotKnow: the card's or the model's figures are missing.
    """
    return Prepared(deployment, work_of(deployment, staging), room_of(deployment))


def closed_form(prepared: Prepared, load: Load, c: Coefficients) -> Steady:
    """The steady state in closed form."""
    held = _held(prepared.room, load, c)
    return steady(Pricer(prepared.work, c), load, max(1.0, min(held, prepared.room.sequences)))


def _held(room: Room, load: Load, c: Coefficients) -> float:
    """Requests that run at once: of even lengths by the fitted share of an answer, of recorded ones by their mean."""
    if load.recorded is not None:
        return room.feasible(load).mean
    return room.held(load.input_tokens, load.output_tokens * c.held_output)


def outlook(prepared: Prepared, load: Load, c: Coefficients) -> Outlook:
    """What the load sees, with one set of coefficients."""
    found = closed_form(prepared, load, c)
    if load.concurrency > _MOST_PLAYED:
        return _by_formula(load, found)
    capacity = prepared.room.capacity(load.input_tokens, load.output_tokens)
    delay = found.waits.front + found.waits.running_step
    played = play(Pricer(prepared.work, c), load, capacity, delay)
    return Outlook(
        ttft=played.ttft,
        tpot=played.tpot,
        running=played.running,
        waiting=played.waiting,
        burst=found.waits.burst,
        tokens_per_s=played.tokens_per_s,
        steady=found,
        played=played,
    )


def _by_formula(load: Load, found: Steady) -> Outlook:
    return Outlook(
        ttft=found.waits.total,
        tpot=found.tpot,
        running=found.running,
        waiting=load.concurrency - found.running,
        burst=found.waits.burst,
        tokens_per_s=found.decoding / found.tpot,
        steady=found,
        played=None,
    )
