"""What the engine makes of a run's arguments: which values are its own defaults, and how large a KV pool it then has."""

from collections.abc import Callable, Iterable
from math import log
from typing import Any, Final

from vramledger.compare.fields import ARGUMENT, same
from vramledger.compare.told import Told
from vramledger.errors import VramError
from vramledger.frozen import frozen

_ENGINE: Final = "vllm"
_LAYOUT: Final = {
    "--tensor-parallel-size": "tp",
    "--pipeline-parallel-size": "pp",
    "--data-parallel-size": "dp",
}
_CLOSE: Final = 0.1  # of the logarithm of a ratio of pools


@frozen
class PoolPrediction:
    """B's KV pool over A's: by the ledger, and as it was seen."""

    predicted: float
    seen: float

    @property
    def agree(self) -> bool:
        """Whether the ledger explains what was seen."""
        return abs(log(self.seen / self.predicted)) <= _CLOSE


def explained(name: str, a: Told, b: Told, without: Iterable[str]) -> bool:
    """Whether both values of an argument are what the engine makes of the other arguments by itself.

    `without` names arguments that are known to follow already, and so do not explain anything.
    """
    left_out = {name, *without}
    return all(_is_default(name, told, left_out) for told in (a, b))


def _is_default(name: str, told: Told, left_out: set[str]) -> bool:
    if told.given is not None and name in told.given:
        return False
    if name not in told.settings:
        return True
    return _guarded(lambda: _value(told, name, left_out), told.settings[name], name)


def default_is(name: str, told: Told, value: Any) -> bool:
    """Whether a side that does not tell an argument has this value of it by the engine's own default."""
    return _guarded(lambda: _value(told, name, {name}), value, name)


def _guarded(find: Callable[[], Any], value: Any, name: str) -> bool:
    try:
        found = find()
    except VramError:
        return False
    return found is not None and same(name, found, value)


def _value(told: Told, name: str, left_out: set[str]) -> Any:
    """What the engine makes of an argument; None where we do not know it."""
    deployment = _case(told, left_out).deployment()
    if name in _LAYOUT:
        return getattr(deployment.layout, _LAYOUT[name])
    found = getattr(deployment, name.removeprefix(ARGUMENT).replace("-", "_"), None)
    return getattr(found, "value", None)


def same_cache(a: Told, b: Told) -> bool:
    """Whether two names of the KV cache's type come to one (auto is the model's own)."""
    try:
        pools = [_case(told, set()).ledger().pool for told in (a, b)]
    except VramError:
        return False
    types = [None if pool is None else pool.layout.cache_dtype for pool in pools]
    return types[0] is not None and types[0] == types[1]


def pool_prediction(a: Told, b: Told, seen: float) -> PoolPrediction | None:
    """What the ledger says of the ratio of the two pools; None where it cannot account for either side."""
    try:
        before, after = (_case(told, set()).ledger().tokens for told in (a, b))
        ratio = float(getattr(after, "value", 0.0)) / float(getattr(before, "value", 0.0))
    except (VramError, ZeroDivisionError):
        return None
    return PoolPrediction(ratio, seen) if ratio > 0 and seen > 0 else None


def _case(told: Told, left_out: set[str]) -> Any:
    """The launch on its card, without the arguments that are to be resolved.

    Raises:
        VramError: the engine, the model or the card is none that we account for, or nobody told it.
    """
    from vramledger.calibrate.run_deployment import flags_of, release
    from vramledger.engine.launch import Launch
    from vramledger.errors import CannotKnow
    from vramledger.ledger.case import Case
    from vramledger.ledger.question import accelerator_for, model_of

    settings = told.settings
    model, gpu = settings.get("model"), settings.get("gpu")
    if settings.get("engine") != _ENGINE or model is None or gpu is None:
        raise CannotKnow("This run does not tell what a ledger needs.")
    kept = {
        name.removeprefix(ARGUMENT): value
        for name, value in told.arguments.items()
        if name not in left_out
    }
    version = settings.get("engine_version")
    launch = Launch(_ENGINE, model, tuple(flags_of(kept)))
    return Case(launch, model_of(launch), accelerator_for(gpu), release(version and str(version)))
