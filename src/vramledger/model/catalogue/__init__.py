"""Well-known models by name, offline: our own TOML of figures, one file a model.

``models/ORG--NAME.toml`` holds ``id``, ``source``, ``architecture`` and the table ``config``: the
figures an architecture's builder reads, under the names a configuration gives them; ``none`` lists
keys that are null there (TOML has no null, and some classes tell it from absence). An entry with
``like = "other id"`` starts from that model's figures and overrides some. ``aliases.toml`` lists
names that share every figure with a model of the catalogue.

Lists of layer names are kept short: ``{0..61}`` and ``{0,3,5..7}`` in a string stand for one
string a number. In a list of tables ``times = 5`` repeats one.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen

_ROOT: Final = Path(__file__).parent
_RANGE: Final = r"\{(\d+(?:\.\.\d+)?(?:,\d+(?:\.\.\d+)?)*)\}"
LISTS_WITH_RANGES: Final = frozenset(
    {"ignore", "modules_to_not_convert", "exclude_modules", "targets"}
)


@frozen
class Figures:
    """What one file of the catalogue says."""

    source: str
    config: dict[str, Any]


@frozen
class Entry:
    """One model of the catalogue, under the name it was asked for."""

    id: str
    source: str
    config: Mapping[str, Any]
    same_as: str | None  # the entry whose figures these are, where the name is an alias


def ids() -> tuple[str, ...]:
    """Every model that has a file of its own, sorted."""
    return tuple(sorted(_id_of(path.name) for path in (_ROOT / "models").glob("*.toml")))


@cache
def aliases() -> Mapping[str, str]:
    """Names that stand for a model of the catalogue, with the id whose figures they share."""
    table = tomllib.loads((_ROOT / "aliases.toml").read_text(encoding="utf-8"))
    return {alias: target for target, names in table.items() for alias in names}


def known_names() -> tuple[str, ...]:
    """Every id and alias."""
    return (*ids(), *aliases())


def find(name: str) -> Entry | None:
    """The entry behind an id or alias; case does not matter, nor the organisation if one is meant.

    Of copies that share their figures, the name of the entry's own publisher is meant.

    Raises:
        BadInput: the name without an organisation means models that differ.
    """
    target = _match(name, ids())
    if target is not None:
        return _entry(target, target)
    alias = _match(name, aliases(), aliases())
    return _entry(alias, aliases()[alias]) if alias is not None else None


def _match(
    name: str, known: Iterable[str], targets: Mapping[str, str] = MappingProxyType({})
) -> str | None:
    folded = name.casefold()
    by_tail = []
    for candidate in known:
        full = candidate.casefold()
        if full == folded:
            return candidate
        if full.rpartition("/")[2] == folded:
            by_tail.append(candidate)
    if len(by_tail) > 1 and len({targets.get(found, found) for found in by_tail}) > 1:
        raise BadInput(
            f"{name!r} means several models: {', '.join(sorted(by_tail))}; "
            "write the organisation too."
        )
    own = (found for found in by_tail if _publisher(found) == _publisher(targets.get(found, "")))
    return next(own, by_tail[0] if by_tail else None)


def _publisher(name: str) -> str:
    return name.partition("/")[0]


def parse(text: str) -> Figures:
    """The figures in the text of one entry."""
    content = tomllib.loads(text)
    config = content["config"]
    if "like" in content:
        config = _merge(_read(content["like"]).config, config)
    config = expand(config)
    for path in content.get("none", ()):
        _set_none(config, path.split("."))
    return Figures(content["source"], config)


def _entry(name: str, target: str) -> Entry:
    figures = _read(target)
    return Entry(name, figures.source, figures.config, target if name != target else None)


def _read(model_id: str) -> Figures:
    path = _ROOT / "models" / f"{model_id.replace('/', '--')}.toml"
    return parse(path.read_text(encoding="utf-8"))


def _set_none(config: dict[str, Any], path: Sequence[str]) -> None:
    for key in path[:-1]:
        config = config[key]
    config[path[-1]] = None


def _id_of(file_name: str) -> str:
    return file_name.removesuffix(".toml").replace("--", "/", 1)


def _merge(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in changes.items():
        before = merged.get(key)
        if key != "quantization_config" and isinstance(before, dict):
            merged[key] = _merge(before, value)
        else:
            merged[key] = value
    return merged


def expand(config: Mapping[str, Any]) -> dict[str, Any]:
    """The figures with the ranges in lists and tables of layer names written out."""
    return {key: _expand_value(key, value) for key, value in config.items()}


def _expand_value(key: str, value: Any) -> Any:
    if key in LISTS_WITH_RANGES and isinstance(value, list):
        return [name for item in value for name in expand_ranges(item)]
    if key == "quantized_layers" and isinstance(value, dict):
        return {name: entry for item, entry in value.items() for name in expand_ranges(item)}
    if isinstance(value, list):
        return [copy for item in value for copy in _repeated(item)]
    return expand(value) if isinstance(value, dict) else value


def _repeated(item: Any) -> list[Any]:
    """A table as often as its ``times`` says, anything else once."""
    if not isinstance(item, dict) or "times" not in item:
        return [item]
    return [{key: value for key, value in item.items() if key != "times"}] * item["times"]


def expand_ranges(text: str) -> list[str]:
    """``a.{0..2}`` -> ``a.0, a.1, a.2``; several ranges in one string give every combination."""
    match = re.search(_RANGE, text)
    if match is None:
        return [text]
    tails = expand_ranges(text[match.end() :])
    head = text[: match.start()]
    return [f"{head}{number}{tail}" for number in _numbers(match[1]) for tail in tails]


def _numbers(ranges: str) -> Iterable[int]:
    for part in ranges.split(","):
        first, _, last = part.partition("..")
        yield from range(int(first), int(last or first) + 1)
