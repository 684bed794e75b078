"""What is wrong with a plan, each problem as one sentence with file, line, key and remedy."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from vramledger.errors import BadInput, nearest
from vramledger.frozen import frozen
from vramledger.plan.percentiles import PATTERN
from vramledger.units import plain
from vramledger.yaml_text import Key, KeyPath, YamlText

if TYPE_CHECKING:
    from pydantic import ValidationError

_KINDS: Final = {
    "string_type": "text",
    "bool_type": "true or false",
    "int_type": "a whole number",
    "float_type": "a number",
    "dict_type": "a mapping of keys",
    "list_type": "a list",
    "model_type": "a mapping of keys",
    "model_attributes_type": "a mapping of keys",
    "finite_number": "a finite number",
}
_BOUNDS: Final = {
    "greater_than": ("gt", "more than"),
    "greater_than_equal": ("ge", "at least"),
    "less_than": ("lt", "less than"),
    "less_than_equal": ("le", "at most"),
}
_SHAPES: Final = {
    r"^([01]\d|2[0-3]):[0-5]\d$": "a time of day such as 06:00",
    r"^([01]\d|2[0-3]):[0-5]\d-([01]\d|2[0-3]):[0-5]\d$": "hours such as 09:00-18:00",
    r"^\d{1,2}\.\d$": 'a compute capability in quotes, such as "9.0"',
}
_ALSO_ALLOWED: Final = {"headroom": ("a share from 0 to below 1",)}
_PERCENTILE_KEYS: Final = (
    PATTERN,
    PATTERN.replace("^(", "^(input_min|input_max|output_min|output_max|"),
)


class PlanProblems(BadInput):
    """A plan that cannot be used; `problems` holds every sentence, the message the first."""

    def __init__(self, problems: Iterable[str], name: str) -> None:
        self.problems = tuple(problems)
        more = len(self.problems) - 1
        rest = f" And {more} more; vram plan check {name} lists them." if more else ""
        super().__init__(self.problems[0] + rest)


class NotStated(BadInput):
    """Something a plan leaves out; no news where a key beside it could not be read."""


def sentences(error: "ValidationError", text: YamlText) -> tuple[str, ...]:
    """One sentence for each of pydantic's findings, in the order of the file."""
    found: dict[tuple[int, str], None] = {}
    for detail in error.errors(include_url=False):
        problem = _problem(detail, text)
        line = text.line(problem.path)
        say = _SENTENCES.get(problem.kind, _wrong_kind)
        found[line, f"{text.name} line {line}: {say(problem)}"] = None
    return tuple(sentence for _, sentence in sorted(found))


def paths(error: "ValidationError", text: YamlText) -> tuple[KeyPath, ...]:
    """Where pydantic's findings are in the file; a missing key's path ends with that key."""
    return tuple(_problem(detail, text).path for detail in error.errors(include_url=False))


def in_order(problems: Iterable[str], text: YamlText) -> tuple[str, ...]:
    """Every problem once, in the order of the lines it names."""
    line = re.compile(rf"{re.escape(text.name)} line (\d+)")

    def number(problem: str) -> int:
        match = line.search(problem)
        return int(match[1]) if match else 0

    return tuple(sorted(dict.fromkeys(problems), key=number))


def dotted(path: KeyPath) -> str:
    """``scenarios.daily.contract.ttft_s[0]``."""
    joined = ""
    for key in path:
        joined += f"[{key}]" if isinstance(key, int) else f".{key}" if joined else str(key)
    return joined


@frozen
class _Problem:
    """One finding of pydantic, placed in the file."""

    kind: str
    path: KeyPath  # of the file
    given: Any
    context: Mapping[str, Any]
    text: YamlText

    @property
    def key(self) -> str:
        return dotted(self.path) or "the plan"

    @property
    def owner(self) -> str:
        return dotted(self.path[:-1]) or "the plan"


def _problem(detail: Any, text: YamlText) -> _Problem:
    """Pydantic's location also holds names of alternatives; only keys of the file are kept."""
    path: list[Key] = []
    value = text.value
    for step in detail["loc"]:
        if _has(value, step):
            value = value[step]
            path.append(step)
        elif detail["type"] == "missing" and step is detail["loc"][-1]:
            path.append(step)
    return _Problem(detail["type"], tuple(path), detail.get("input"), detail.get("ctx", {}), text)


def _has(value: Any, step: Key) -> bool:
    if isinstance(value, Mapping):
        return step in value
    return isinstance(value, list) and isinstance(step, int) and step < len(value)


def _unknown_key(problem: _Problem) -> str:
    key = str(problem.path[-1])
    known = allowed_keys(problem.path[:-1], problem.text.value)
    close = nearest(key, known, count=1)
    meant = f" The nearest is {close[0]!r}." if close else ""
    return f"{problem.owner} has no key {key!r}; allowed are {', '.join(known)}.{meant}"


def _missing(problem: _Problem) -> str:
    return f"{problem.owner} lacks the key {problem.path[-1]!r}; add it."


def _not_a_choice(problem: _Problem) -> str:
    expected = str(problem.context["expected"])
    choices = re.findall(r"'([^']*)'", expected)
    close = nearest(str(problem.given), choices, count=1)
    meant = f" The nearest is {close[0]!r}." if close else ""
    allowed = ", ".join([*choices, *_ALSO_ALLOWED.get(str(problem.path[-1]), ())])
    return f"{problem.key} is {_shown(problem.given)}; allowed are {allowed}.{meant}"


def _out_of_range(problem: _Problem) -> str:
    name, words = _BOUNDS[problem.kind]
    bound = problem.context[name]
    return f"{problem.key} is {_shown(problem.given)}; it must be {words} {plain(bound)}."


def _wrong_pattern(problem: _Problem) -> str:
    pattern = problem.context["pattern"]
    if pattern in _PERCENTILE_KEYS:
        also = "" if pattern == PATTERN else ", input_min, input_max, output_min, output_max"
        return (
            f"{problem.owner} has the key {_shown(problem.given)}; allowed are p50, p95, p99.9 "
            f"and the like, min, max{also}."
        )
    wanted = _SHAPES.get(pattern, f"text of the form {pattern}")
    return f"{problem.key} is {_shown(problem.given)}; it must be {wanted}."


def _empty(problem: _Problem) -> str:
    return f"{problem.key} is empty; give at least one value or leave the key out."


def _wrong_kind(problem: _Problem) -> str:
    wanted = _KINDS.get(problem.kind, "another kind of value")
    number = isinstance(problem.given, int | float) and problem.kind == "string_type"
    hint = " Put it in quotes." if number else ""
    return f"{problem.key} is {_shown(problem.given)}; it must be {wanted}.{hint}"


def allowed_keys(path: KeyPath, value: Any) -> tuple[str, ...]:
    """The keys that the mapping at `path` of the file may have, from the plan's own types."""
    from vramledger.plan.document import PlanPart
    from vramledger.plan.shape import keys_at

    return keys_at(PlanPart, path, value)


def _shown(given: Any) -> str:
    if isinstance(given, Mapping):
        return "a mapping"
    if isinstance(given, list):
        return "a list"
    if given is None:
        return "empty"
    if isinstance(given, float):
        return plain(given)
    written = str(given).lower() if isinstance(given, bool) else repr(given)
    return written if len(written) <= 60 else written[:57] + "..."


_SENTENCES: Final[Mapping[str, Callable[[_Problem], str]]] = {
    "extra_forbidden": _unknown_key,
    "missing": _missing,
    "literal_error": _not_a_choice,
    "string_pattern_mismatch": _wrong_pattern,
    "too_short": _empty,
    "string_too_short": _empty,
    **dict.fromkeys(_BOUNDS, _out_of_range),
}
