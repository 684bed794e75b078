"""Kubernetes objects: every ``containers`` list, wherever the kind of object keeps it.

That covers Pod, Deployment, StatefulSet, DaemonSet, Job, CronJob, LeaderWorkerSet, List, and
custom resources with a pod template inside.
"""

import shlex
from collections.abc import Iterator
from dataclasses import replace

from vramledger.engine.container import Container
from vramledger.engine.invocation import in_container
from vramledger.engine.manifests.containers import pod_word, texts
from vramledger.engine.manifests.document import Node
from vramledger.engine.manifests.found import Found
from vramledger.engine.manifests.groups import gpus_of_group
from vramledger.engine.manifests.pod_gpus import gpus_of_container
from vramledger.frozen import frozen


@frozen
class _Pod:
    """A container and the name of the object that holds it."""

    owner: str
    container: Node


def recognises(documents: tuple[Node, ...]) -> bool:
    """Whether a document names its kind."""
    return any(d.is_mapping and d.get("kind") is not None for d in documents)


def read(documents: tuple[Node, ...]) -> tuple[Found, ...]:
    """Engine starts of every container."""
    found: list[Found] = []
    for document in documents:
        if not document.is_mapping:
            continue
        name = document.get("metadata", "name")
        owner = name.text() if name is not None and name.is_scalar else ""
        starts = [start for pod in _pods(document, owner)
                  for start in read_container(pod.container, pod.owner)]  # fmt: skip
        granted = gpus_of_group(document)
        found += [_granted(start, granted) for start in starts] if granted else starts
    return tuple(found)


def _granted(start: Found, gpus: int) -> Found:
    return replace(start, invocation=replace(start.invocation, gpus=gpus))


def _pods(node: Node, owner: str) -> Iterator[_Pod]:
    """Every container below a node."""
    if node.is_list:
        for item in node.items():
            yield from _pods(item, _owner(item, owner))
    elif node.is_mapping:
        for key, child in node.entries():
            if key == "containers" and child.is_list:
                yield from (_Pod(owner, item) for item in child.items() if item.is_mapping)
            else:
                yield from _pods(child, owner)


def _owner(node: Node, owner: str) -> str:
    """The name of an object inside a list of objects."""
    name = node.get("metadata", "name") if node.is_mapping else None
    return name.text() if name is not None and name.is_scalar else owner


def read_container(node: Node, owner: str) -> list[Found]:
    """Engine starts of one container of a pod."""
    label = node.get("name")
    name = "/".join(part for part in (owner, label.text() if label else "") if part)
    environment = read_environment(node.get("env"))
    image = node.get("image")
    command = texts(node.get("command"))
    container = Container(
        image=image.text() if image is not None and image.is_scalar else "",
        words=tuple(pod_word(word, environment) for word in texts(node.get("args"))),
        environment=environment,
        entrypoint=shlex.join(pod_word(word, environment).text for word in command) or None,
        gpus=gpus_of_container(node),
    )
    where = f"{node.where}, container {name}" if name else node.place
    return [Found(name or "container", item, where) for item in in_container(container, {}, where)]


def read_environment(node: Node | None) -> dict[str, str]:
    """Variables with a value of their own; references to secrets and fields stay unknown."""
    if node is None or not node.is_list:
        return {}
    environment: dict[str, str] = {}
    for item in node.items():
        name, value = item.get("name"), item.get("value")
        if name is not None and value is not None and value.is_scalar:
            word = pod_word(value.text(), environment)
            if not word.unknown:
                environment[name.text()] = word.text
    return environment
