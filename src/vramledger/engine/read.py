"""From what a person has, a command, script, manifest or unit, to a `Launch`."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from vramledger.engine.invocation import Invocation, find_invocations
from vramledger.engine.launch import COMMAND, HIDDEN, Argument, Launch, opening
from vramledger.engine.manifests import read_manifest
from vramledger.engine.manifests.found import Found
from vramledger.engine.paste import repair
from vramledger.engine.programs import PROGRAMS, VLLM, title_of
from vramledger.engine.shell import Command, read_commands
from vramledger.engine.vllm.command import parse
from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.named_file import read_text

_FILE_ENDINGS: Final = frozenset({".yaml", ".yml", ".json", ".sh", ".service", ".container"})
_LARGEST_FILE: Final = 1 << 19
_LONGEST_PATH: Final = 4096
_SECRET: Final = re.compile(r"TOKEN|KEY|SECRET|PASSW|CREDENTIAL", re.IGNORECASE)
_SECRET_OPTIONS: Final = frozenset({"--api-key", "--hf-token"})
_CONFIG: Final = "--config"
_PINNED: Final = "vllm=="


@frozen
class _Source:
    """A text with its name for messages, the folder it lies in and the part that was asked for."""

    text: str
    where: str
    folder: Path
    part: str | None = None
    path: Path | None = None


def read_launch(text_or_path: str, *, version: str | None = None) -> Launch:
    """The launch behind a command text or a file: script, compose file, manifest, values, unit.

    ``FILE#NAME`` picks one of several engines in a file. `version` wins over a version the text
    states, and decides which flags are known.

    Raises:
        BadInput: no engine is started, several are, or the text cannot be read.
        UnknownName: an unknown flag or version.
    """
    source = _source(text_or_path)
    found = _find(source)
    chosen = _choose(found, source)
    launch = _launch(chosen, source)
    if launch.engine != VLLM:
        from vramledger.engine import others

        return others.parse(launch)
    if any(word.text.startswith(_CONFIG) for word in launch.arguments):
        from vramledger.engine.vllm.config_file import expand_config

        launch = expand_config(launch, source.folder)
    return parse(launch, version)


def _source(text_or_path: str) -> _Source:
    name, _, part = text_or_path.partition("#")
    for candidate, wanted in ((text_or_path, None), (name, part or None)):
        path = _existing(candidate)
        if path is not None:
            text = _read_file(path)
            return _Source(text, str(path), path.parent, wanted, path)
    if not text_or_path.strip():
        raise BadInput("The launch command is empty; give a command such as 'vllm serve MODEL'.")
    return _Source(text_or_path, COMMAND, Path())


def _existing(text: str) -> Path | None:
    if "\n" in text or not 0 < len(text) < _LONGEST_PATH or "\0" in text:
        return None
    return Path(text) if os.path.lexists(text) else None


def _read_file(path: Path) -> str:
    """The text of a regular file of at most 512 KiB."""
    text = read_text(path, _LARGEST_FILE, "a file that starts an engine")
    if not text.strip():
        raise BadInput(f"{path} is empty; name the file that starts the engine.")
    return text


def _find(source: _Source) -> Sequence[Found]:
    """Every engine start in the text."""
    manifest = read_manifest(source.text, source.where, source.path)
    if manifest is not None:
        return manifest
    fixed = repair(source.text)
    commands = read_commands(fixed.text, source.where)
    invocations = find_invocations(commands, source.where)
    pinned = _pinned_version(commands)
    return [
        Found(
            str(index + 1),
            replace(item, version=item.version or pinned),
            source.where,
            fixed.notes,
        )
        for index, item in enumerate(invocations)
    ]


def _pinned_version(commands: Sequence[Command]) -> str | None:
    """The version of a ``vllm==0.9.2`` anywhere in the text."""
    for command in commands:
        for word in command.words:
            _, mark, version = word.text.partition(_PINNED)
            if mark and version:
                return version.split(",")[0].split(";")[0].strip("\"'")
    return None


def _choose(found: Sequence[Found], source: _Source) -> Found:
    """The one engine start that is meant."""
    if not found:
        raise BadInput(_nothing(source))
    if source.part is not None:
        named = [item for item in found if item.name == source.part]
        if not named:
            names = ", ".join(item.name for item in found)
            raise BadInput(
                f"{opening(source.where)} has no engine named {source.part!r}; it has {names}."
            )
        return named[0]
    different = {(item.invocation.program.engine, item.invocation.arguments) for item in found}
    if len(different) > 1:
        names = ", ".join(item.name for item in found)
        how = (
            f"name one as {source.where}#{found[0].name}"
            if source.path is not None
            else "give the command of one"
        )
        raise BadInput(f"{opening(source.where)} starts {len(found)} engines ({names}); {how}.")
    return found[0]


def _untold_version(item: Invocation) -> tuple[str, ...]:
    """A note where a vLLM image's name does not say which version it holds."""
    if item.image is None or item.version is not None or item.program.engine != VLLM:
        return ()
    return (f"The image {item.image} does not say which vLLM version it holds.",)


def _visible(environment: Mapping[str, str]) -> int | None:
    """GPUs that ``CUDA_VISIBLE_DEVICES`` leaves, None where it says nothing."""
    text = environment.get("CUDA_VISIBLE_DEVICES") or environment.get("HIP_VISIBLE_DEVICES") or ""
    return len([device for device in text.split(",") if device.strip()]) or None


def _scrubbed(arguments: Sequence[Argument]) -> tuple[Argument, ...]:
    """The arguments with credentials' values replaced."""
    words: list[Argument] = []
    hide_next = False
    for word in arguments:
        option, attached, _value = word.text.partition("=")
        secret = option.replace("_", "-") in _SECRET_OPTIONS
        if hide_next and not word.text.startswith("-"):
            words.append(Argument(HIDDEN))
        elif secret and attached:
            words.append(Argument(f"{option}={HIDDEN}"))
        else:
            words.append(word)
        hide_next = secret and not attached
    return tuple(words)


def without_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that are no credentials: none of those may reach a record or a log."""
    return {name: value for name, value in environment.items() if not _SECRET.search(name)}


def _nothing(source: _Source) -> str:
    text = source.text.strip()
    first = text.split()[0] if text else ""
    if source.path is None and len(text.split()) == 1:
        if Path(text).suffix in _FILE_ENDINGS:
            return f"There is no file {text!r}; check its path."
        return (
            f"{text!r} is neither a file nor a command that starts an engine; for a model write "
            f"'vllm serve {text}'."
        )
    known = ", ".join(title_of(program.engine) for program in PROGRAMS)
    return (
        f"{opening(source.where)} starts no engine that is known ({known}); it begins with {first!r}, give "
        "a command such as 'vllm serve MODEL' or the file that holds it."
    )


def _launch(found: Found, source: _Source) -> Launch:
    item: Invocation = found.invocation
    return Launch(
        engine=item.program.engine,
        model=None,
        version=item.version,
        environment=without_secrets(item.environment),
        where=found.where or source.where,
        image=item.image,
        arguments=_scrubbed(item.arguments),
        notes=(*found.notes, *_untold_version(item)),
        gpus=item.gpus or _visible(item.environment),
    )
