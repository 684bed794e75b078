"""What is left of a plan whose shape is wrong in places, so that the rest can still be checked."""

from copy import deepcopy
from typing import Any, Final

from pydantic import ValidationError

from vramledger.plan.document import PlanPart
from vramledger.plan.problems import paths
from vramledger.yaml_text import KeyPath, YamlText

# Stand-ins for what a plan cannot do without; nothing is said about them.
_STAND_INS: Final = {"name": "plan", "model": "", "workload": {}}
_CARDS: Final = ("gpus", "prices", "hardware")  # the last names cards for the others
_TOGETHER: Final = ("input_tokens", "output_tokens")
_ROUNDS: Final = 8


def sound_part(text: YamlText) -> PlanPart | None:
    """The plan without the keys that cannot be read; None where too little is left."""
    value = deepcopy(text.value)
    for _ in range(_ROUNDS):
        try:
            return PlanPart.model_validate(value)
        except ValidationError as error:
            for path in paths(error, YamlText(value, text.lines, text.name)):
                _leave_out(value, path)
    return None


def _leave_out(value: dict[Any, Any], path: KeyPath) -> None:
    """Drop a key, or the whole list it is in, so that the places of others stay true."""
    if path[:1] == ("hardware",):
        for key in _CARDS:
            value.pop(key, None)
        return
    if len(path) == 3 and path[0] == "scenarios" and path[2] == "kind":
        _put(value, path, "throughput")  # the kind that takes any threshold
        return
    kept = _whole(path)
    if len(kept) == 1 and kept[0] in _STAND_INS:
        value[kept[0]] = _STAND_INS[str(kept[0])]
    elif kept:
        _drop(value, kept)


def _whole(path: KeyPath) -> KeyPath:
    """The key to drop with all that is below it: lists, lengths and limits say something as a whole."""
    for index, key in enumerate(path):
        if isinstance(key, int):
            return path[:index]
        if key in _TOGETHER or "contract" in path[max(0, index - 1) : index]:
            return path[: index + 1]
    return path


def _put(value: Any, path: KeyPath, new: Any) -> None:
    owner = _owner(value, path)
    if isinstance(owner, dict):
        owner[path[-1]] = new


def _drop(value: Any, path: KeyPath) -> None:
    owner = _owner(value, path)
    if isinstance(owner, dict):
        owner.pop(path[-1], None)


def _owner(value: Any, path: KeyPath) -> Any:
    for key in path[:-1]:
        value = value.get(key) if isinstance(value, dict) else None
    return value
