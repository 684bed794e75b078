"""``docker run`` and its kin: options, image and the words handed to the container."""

from collections.abc import Sequence
from typing import Final

from vramledger.engine.launch import Argument, opening
from vramledger.engine.wrappers import options, program_name
from vramledger.errors import BadInput
from vramledger.frozen import frozen

RUNTIMES: Final = frozenset({"docker", "podman", "nerdctl", "docker.io"})
_RUN: Final = frozenset({"run", "create"})
_GLOBAL_VALUED: Final = options("-H --host -c --context --config -n --namespace")
_SWITCHES: Final = options(
    "--rm --init --privileged --read-only --detach --interactive --tty --no-healthcheck --quiet "
    "--oom-kill-disable --publish-all --sig-proxy --disable-content-trust --use-api-socket "
    "--replace --rmi --env-host --no-hosts --no-hostname --http-proxy --tls-verify"
)
_SHORT_SWITCHES: Final = frozenset("ditPq")


@frozen
class Container:
    """What a container is started with. `gpus` is None where the options grant all or none."""

    image: str
    words: tuple[Argument, ...]  # after the image
    environment: dict[str, str]
    entrypoint: str | None
    gpus: int | None


def read_container(words: Sequence[Argument], where: str) -> Container | None:
    """The container a ``docker run`` starts, None when the words are no such command.

    Raises:
        BadInput: the options never come to an image.
    """
    if not words or program_name(words[0]) not in RUNTIMES:
        return None
    index = 1
    while index < len(words) and words[index].text.startswith("-"):
        index += 2 if words[index].text in _GLOBAL_VALUED else 1
    if index < len(words) and words[index].text == "container":
        index += 1
    if index >= len(words) or words[index].text not in _RUN:
        return None
    return _read_options(words, index + 1, where)


def _read_options(words: Sequence[Argument], index: int, where: str) -> Container:
    environment: dict[str, str] = {}
    entrypoint: str | None = None
    gpus: int | None = None
    while index < len(words) and words[index].text.startswith("-"):
        option, attached, value = words[index].text.partition("=")
        index += 1
        if _is_switch(option):
            continue
        if option.startswith("-") and not option.startswith("--") and len(option) > 2:
            value, attached, option = words[index - 1].text[2:], "=", option[:2]
        if not attached:
            value = words[index].text if index < len(words) else ""
            index += 1
        if option in ("-e", "--env"):
            name, given, text = value.partition("=")
            if given and not words[index - 1].unknown:
                environment[name] = text
        elif option == "--entrypoint":
            entrypoint = value
        elif option == "--gpus":
            gpus = gpus_granted(value)
    if index >= len(words):
        raise BadInput(
            f"{opening(where)} has a container command without an image; name the image."
        )
    image = words[index].text
    return Container(image, tuple(words[index + 1 :]), environment, entrypoint, gpus)


def _is_switch(option: str) -> bool:
    if option.startswith("--"):
        return option in _SWITCHES
    return len(option) > 1 and set(option[1:]) <= _SHORT_SWITCHES


def gpus_granted(value: str) -> int | None:
    """GPUs of ``--gpus``: ``2``, ``device=0,1``; None for ``all`` or what cannot be read."""
    text = value.strip("\"'")
    if text.isdigit():
        return int(text)
    devices = text.partition("device=")[2].strip("\"'")
    return len([d for d in devices.split(",") if d]) or None
