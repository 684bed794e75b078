"""The arguments of ``vllm serve`` and of the API server module, as vLLM's own parser reads them."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from vramledger.engine.launch import Argument, Flag, Launch, opening, remedy_for_unknown
from vramledger.engine.vllm.flags import Arity, FlagMatch, FlagTable, Kind, flag_table
from vramledger.engine.vllm.versions import rules_for
from vramledger.errors import BadInput
from vramledger.units import parse_count

_SUFFIXED: Final = re.compile(r"\d+(?:\.\d+)?[kKmMgGtT]\Z")
_BOOLEAN_WORDS: Final = frozenset({"true", "false"})


@dataclass(slots=True)
class _Parsed:
    """What has been read so far; dotted flags are merged and added last, as vLLM does."""

    flags: list[Flag] = field(default_factory=list)
    positionals: list[Argument] = field(default_factory=list)
    dotted: dict[str, dict[str, Any]] = field(default_factory=dict)


def parse(launch: Launch, version: str | None = None) -> Launch:
    """The launch with `flags` and `model` read from its `arguments` for that version.

    `version` wins over the one the launch states.

    Raises:
        UnknownName: no known version, or no release has such a flag.
        BadInput: a value is missing, a word belongs to no flag, an abbreviation is ambiguous.
    """
    stated = version or launch.version
    release = rules_for(stated).release
    parsed = _read(launch.arguments, flag_table(release), launch.where)
    for name, values in parsed.dotted.items():
        parsed.flags.append(Flag(name, json.dumps(values), f"--{name}.*"))
    model = _model(parsed, launch.where)
    return replace(launch, version=stated, flags=tuple(parsed.flags), model=model)


def _model(parsed: _Parsed, where: str) -> str | None:
    if len(parsed.positionals) > 1:
        extra = parsed.positionals[1].text
        raise BadInput(
            f"{opening(where)} has the word {extra!r}, which belongs to no flag; a model is already given "
            f"({parsed.positionals[0].text}), so drop the word or add its flag."
        )
    if parsed.positionals:
        word = parsed.positionals[0]
        _refuse_unknown("the model", word.text, word.unknown, where)
        return word.text
    named = [flag for flag in parsed.flags if flag.name == "model"]
    if not named:
        return None
    _refuse_unknown("--model", str(named[-1].value), named[-1].unknown, where)
    return named[-1].value


def _refuse_unknown(what: str, text: str, unknown: Sequence[str], where: str) -> None:
    if unknown:
        raise BadInput(
            f"{opening(where)} gives {what} as {text!r}, and the value of {unknown[0]} is not given; "
            f"{remedy_for_unknown(where)}."
        )


def _read(arguments: Sequence[Argument], table: FlagTable, where: str) -> _Parsed:
    parsed = _Parsed()
    index = 0
    only_positionals = False
    while index < len(arguments):
        word = arguments[index]
        index += 1
        if word.text == "--" and not only_positionals:
            only_positionals = True
        elif only_positionals or not is_option(word.text):
            _add_positional(parsed, word)
        else:
            index = _read_option(parsed, arguments, index, table, where)
    return parsed


def _add_positional(parsed: _Parsed, word: Argument) -> None:
    """A bare word: the model, or ``true`` after a switch that takes no value."""
    last = parsed.flags[-1] if parsed.flags else None
    if (
        word.text.casefold() in _BOOLEAN_WORDS
        and last is not None
        and last.value in (None, "false")
    ):
        parsed.flags[-1] = replace(
            last,
            value=word.text.casefold(),
            refused=f"{last.written} takes no value, and {word.text!r} follows it",
        )
        return
    parsed.positionals.append(word)


def is_option(text: str) -> bool:
    """Whether argparse takes the word for an option: a dash, but no number and no blank."""
    if len(text) < 2 or text[0] != "-" or " " in text.partition("=")[0]:
        return False
    return not text[1:].replace(".", "", 1).isdigit()


def _read_option(
    parsed: _Parsed, arguments: Sequence[Argument], index: int, table: FlagTable, where: str
) -> int:
    """Read the option at ``index - 1`` and its values; the index of the next word."""
    word = arguments[index - 1]
    option, attached, value = word.text.partition("=")
    if option.startswith("-O"):
        return _read_level(parsed, arguments, index, table, where)
    if "." in option:
        return _read_dotted(parsed, arguments, index, table, where)
    match = table.find(option, where)
    if attached:
        parsed.flags.append(_attached(match, word, option, value))
        return index
    return _read_values(parsed, arguments, index, match, where)


def _attached(match: FlagMatch, word: Argument, option: str, value: str) -> Flag:
    """``--flag=value``."""
    spec = match.spec
    if spec.arity is not Arity.NONE:
        refused = match.refused or _suffix_problem(match, option, value)
        return Flag(spec.name, value, option, (value,), word.unknown, refused)
    refused = match.refused or f"{option} takes no value, and {value!r} is attached to it"
    meant = (value.casefold() in {"true", "1"}) != match.negated
    return Flag(spec.name, str(meant).lower(), option, (), word.unknown, refused)


def _read_values(
    parsed: _Parsed, arguments: Sequence[Argument], index: int, match: FlagMatch, where: str
) -> int:
    spec, written = match.spec, arguments[index - 1].text
    if spec.arity is Arity.NONE:
        value = "false" if match.negated else None
        parsed.flags.append(Flag(spec.name, value, written, refused=match.refused))
        return index
    end = index
    most = len(arguments) if spec.arity is Arity.MANY else index + 1
    while end < min(most, len(arguments)) and not is_option(arguments[end].text):
        end += 1
    values = arguments[index:end]
    if not values and spec.arity is not Arity.OPTIONAL:
        raise BadInput(f"{written} in {where} needs a value after it.")
    texts = tuple(value.text for value in values)
    unknown = tuple(name for value in values for name in value.unknown)
    joined = " ".join(texts) if texts else None
    refused = match.refused or _suffix_problem(match, written, texts[0] if texts else "")
    parsed.flags.append(Flag(spec.name, joined, written, texts, unknown, refused))
    return end


def _suffix_problem(match: FlagMatch, written: str, text: str) -> str:
    """Why a release that reads whole numbers only refuses ``32k``."""
    if match.spec.kind is not Kind.INTEGER or not _SUFFIXED.match(text):
        return ""
    return f"{written} takes a whole number in this version, and {text!r} has a suffix"


def _read_level(
    parsed: _Parsed, arguments: Sequence[Argument], index: int, table: FlagTable, where: str
) -> int:
    """``-O3``, ``-O 3``, ``-O=3``, ``-O.level=3`` and, in old releases, ``-O '{...}'``."""
    written = arguments[index - 1].text
    rest = written[2:].removeprefix("=")
    if not rest:
        rest, index = _value_at(arguments, index, "-O", where), index + 1
    elif rest.startswith("."):
        head, attached, value = rest.partition("=")
        if not attached:
            value, index = _value_at(arguments, index, written, where), index + 1
        _merge(parsed, "compilation-config", head[1:], value)
        return index
    if rest.isdigit() and not table.knows("--optimization-level"):
        parsed.flags.append(Flag("compilation-config", json.dumps({"level": int(rest)}), written))
    else:
        name = "optimization-level" if rest.isdigit() else "compilation-config"
        parsed.flags.append(Flag(name, rest, written, (rest,)))
    return index


def _read_dotted(
    parsed: _Parsed, arguments: Sequence[Argument], index: int, table: FlagTable, where: str
) -> int:
    """``--compilation-config.cudagraph_mode FULL``: one key of a JSON flag."""
    option, attached, value = arguments[index - 1].text.partition("=")
    name, _, keys = option.partition(".")
    match = table.find(name, where)
    if not attached:
        value, index = _value_at(arguments, index, option, where), index + 1
    if keys.endswith("+"):
        _merge(parsed, match.spec.name, keys[:-1], json.dumps(value.split(",")))
    else:
        _merge(parsed, match.spec.name, keys, value)
    return index


def _value_at(arguments: Sequence[Argument], index: int, option: str, where: str) -> str:
    """The word at `index`, which must be there because `option` needs it."""
    if index >= len(arguments):
        raise BadInput(f"{option} in {where} needs a value after it.")
    return arguments[index].text


def _merge(parsed: _Parsed, name: str, keys: str, text: str) -> None:
    target = parsed.dotted.setdefault(name, {})
    *parents, last = keys.split(".")
    for key in parents:
        child = target.setdefault(key, {})
        target = child if isinstance(child, dict) else target
    value = _json_or_text(text)
    old = target.get(last)
    target[last] = old + value if isinstance(old, list) and isinstance(value, list) else value


def _json_or_text(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        return parse_count(text, "a value")
    except BadInput:
        return text


def config_words(settings: Mapping[str, Any], table: FlagTable) -> tuple[Argument, ...]:
    """The words vLLM makes of a ``--config`` file's settings."""
    words: list[str] = []
    for key, value in settings.items():
        option = f"--{key}"
        if isinstance(value, bool):
            words += [option] if value else [f"--no-{key}"] if table.knows(f"--no-{key}") else []
        elif isinstance(value, list):
            words += [option, *(str(item) for item in value)] if value else []
        elif isinstance(value, dict):
            words += [option, json.dumps(value)]
        elif value is not None:
            words += [option, str(value)]
    return tuple(Argument(word) for word in words)
