"""What was asked for against what is in effect: one sentence for each difference."""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.units import parse_count

if TYPE_CHECKING:
    from vramledger.record.document import Deployment

_DEFAULTS: Final = frozenset({"auto", "none", "null", ""})
_TOLERANCE: Final = 1e-6  # of numbers that went through text


@frozen
class Change:
    """One thing that two deployments tell differently; `title` is None for an argument of the engine."""

    name: str
    title: str | None
    one: Any
    other: Any


def differences(asked: "Deployment", in_effect: "Deployment") -> tuple[str, ...]:
    """Sentences, in the order of run.json; what either side does not tell is not compared."""
    return tuple(map(_said, changes(asked, in_effect)))


def changes(
    one: "Deployment", other: "Deployment", *, both_seen: bool = False
) -> tuple[Change, ...]:
    """In the order of run.json; what either side does not tell is not compared.

    A default that was asked for, such as auto, may be anything in effect; where `both_seen` it is a value like others.
    """
    found = [
        Change(name, title, wanted, got)
        for name, title, same in FIELDS
        if (wanted := getattr(one, name)) is not None
        and (got := getattr(other, name)) is not None
        and not same(wanted, got)
    ]
    same_value = same_setting if both_seen else _same_value
    return (*found, *_arguments(one.arguments or {}, other.arguments or {}, same_value))


def _said(found: Change) -> str:
    if found.title is None:
        return f"--{found.name} was asked for as {found.one}, and in effect it is {found.other} (arguments.{found.name})."
    return f"The {found.title} asked for is {found.one}, and in effect it is {found.other} ({found.name})."


def _arguments(
    asked: Mapping[str, Any], got: Mapping[str, Any], same_value: Callable[[Any, Any], bool]
) -> Iterator[Change]:
    in_effect = {folded(name): value for name, value in got.items()}
    for name, wanted in asked.items():
        value = in_effect.get(folded(name))
        if value is not None and not same_value(wanted, value):
            yield Change(name, None, wanted, value)


def folded(name: str) -> str:
    """An argument's name, the same however it is spelled."""
    return name.casefold().replace("_", "-").lstrip("-")


def _same_value(wanted: Any, got: Any) -> bool:
    """A default asked for may have become anything."""
    return str(wanted).strip().casefold() in _DEFAULTS or same_setting(wanted, got)


def same_setting(wanted: Any, got: Any) -> bool:
    """Numbers, counts such as 32k and switches by value, whether they are text or not."""
    one, other = str(wanted).strip(), str(got).strip()
    if one.casefold() == other.casefold():
        return True
    first, second = _number(one), _number(other)
    if first is None or second is None:
        return False
    return abs(first - second) <= _TOLERANCE * max(1.0, abs(first))


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        pass
    try:
        return float(parse_count(text, text))
    except BadInput:
        return None


def _same_text(wanted: str, got: str) -> bool:
    return wanted.casefold() == got.casefold()


def same_version(wanted: str, got: str) -> bool:
    """A version may be asked for in fewer parts than it has."""
    return (got.lstrip("v") + ".").startswith(wanted.lstrip("v") + ".")


def _same_model(wanted: str, got: str) -> bool:
    """A path or a repository by its last part, since servers name a model as they were told to."""
    return _last(wanted) == _last(got)


def _last(name: str) -> str:
    return name.rstrip("/").rpartition("/")[2].casefold()


FIELDS: Final[tuple[tuple[str, str, Callable[[str, str], bool]], ...]] = (
    ("engine", "engine", _same_text),
    ("engine_version", "engine's version", same_version),
    ("model", "model", _same_model),
    ("model_revision", "revision of the model", _same_text),
    ("weights_sha256", "hash of the weights", _same_text),
    ("chat_template", "chat template", _same_text),
    ("gpu", "GPU", _same_text),
    ("driver", "GPU driver", _same_text),
)
