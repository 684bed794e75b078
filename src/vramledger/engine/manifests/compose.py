"""Docker Compose files: ``services`` with an image, a command and an environment."""

import shlex
from typing import Final

from vramledger.engine.container import Container, gpus_granted
from vramledger.engine.invocation import in_container
from vramledger.engine.launch import Argument
from vramledger.engine.manifests.containers import interpolate, texts
from vramledger.engine.manifests.document import Node
from vramledger.engine.manifests.found import Found
from vramledger.engine.shell import read_commands

_DEVICES: Final = ("deploy", "resources", "reservations", "devices")


def recognises(documents: tuple[Node, ...]) -> bool:
    """Whether a document has services and is no Kubernetes object."""
    return any(
        d.is_mapping and (d.get("services") is not None) and d.get("kind") is None
        for d in documents
    )


def read(documents: tuple[Node, ...]) -> tuple[Found, ...]:
    """Engine starts of every service."""
    found: list[Found] = []
    for document in documents:
        services = document.get("services")
        if services is None:
            continue
        for name, service in services.entries():
            found += _read_service(name, service)
    return tuple(found)


def _read_service(name: str, service: Node) -> list[Found]:
    image = service.get("image")
    container = Container(
        image=interpolate(image.text()).text if image else "",
        words=tuple(_words(service.get("command"), service.where)),
        environment=_environment(service.get("environment")),
        entrypoint=_entrypoint(service.get("entrypoint")),
        gpus=_gpus(service),
    )
    where = f"{service.where}, service {name}"
    return [Found(name, item, where) for item in in_container(container, {}, where)]


def _words(node: Node | None, where: str) -> list[Argument]:
    """A command as a list or as one string."""
    if node is None:
        return []
    if node.is_list:
        return [interpolate(item.text()) for item in node.items()]
    commands = read_commands(interpolate(node.text()).text, where)
    return [word for command in commands for word in command.words]


def _entrypoint(node: Node | None) -> str | None:
    if node is None:
        return None
    return shlex.join(texts(node)) if node.is_list else node.text()


def _environment(node: Node | None) -> dict[str, str]:
    """``NAME: value`` or ``- NAME=value``; names without a value come from the host."""
    if node is None:
        return {}
    if node.is_list:
        pairs = [item.text().partition("=") for item in node.items()]
        given = [(name, value) for name, mark, value in pairs if mark]
    else:
        given = [(key, value.text()) for key, value in node.entries() if not value.is_null]
    words = {name: interpolate(value) for name, value in given}
    return {name: word.text for name, word in words.items() if not word.unknown}


def _gpus(service: Node) -> int | None:
    """GPUs that the service reserves; None where it reserves all or says nothing."""
    plain = service.get("gpus")
    if plain is not None and plain.is_scalar:
        return gpus_granted(plain.text())
    devices = service.get(*_DEVICES)
    if devices is None or not devices.is_list:
        return None
    for device in devices.items():
        ids = device.get("device_ids")
        if ids is not None:
            return len(ids.items())
        count = device.get("count")
        if count is not None and count.text().isdigit():
            return int(count.text())
    return None
