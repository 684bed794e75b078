"""Objects whose pods form one engine over several machines: how many GPUs the whole group is granted.

Adding a kind of object is one function and one row.
"""

from collections.abc import Callable
from typing import Final

from vramledger.engine.manifests.document import Node
from vramledger.engine.manifests.pod_gpus import gpus_of_pod


def gpus_of_group(document: Node) -> int | None:
    """GPUs of all pods of the group, None where the object's pods are not counted as one."""
    kind = document.get("kind")
    counted = _KINDS.get(kind.text()) if kind is not None and kind.is_scalar else None
    return (counted(document) or None) if counted else None


def _leader_and_workers(document: Node) -> int:
    """``size`` pods a group: a leader, which is as the workers where it has no template."""
    template = document.get("spec", "leaderWorkerTemplate")
    worker = gpus_of_pod(template.get("workerTemplate")) if template is not None else 0
    leader = template.get("leaderTemplate") if template is not None else None
    first = gpus_of_pod(leader) if leader is not None else worker
    return first + (_whole(template, "size") - 1) * worker


def _stateful(document: Node) -> int:
    """Pods with names of their own, as many as there are replicas."""
    pods = _whole(document, "spec", "replicas")
    return pods * gpus_of_pod(document.get("spec", "template"))


def _ray(document: Node) -> int:
    """The head and every group of workers of a Ray cluster, or of the one inside a service or job."""
    spec = document.get("spec", "rayClusterConfig") or document.get("spec", "rayClusterSpec")
    cluster = spec or document.get("spec")
    if cluster is None:
        return 0
    total = gpus_of_pod(cluster.get("headGroupSpec", "template"))
    workers = cluster.get("workerGroupSpecs")
    for group in workers.items() if workers is not None and workers.is_list else ():
        total += _whole(group, "replicas") * gpus_of_pod(group.get("template"))
    return total


def _whole(node: Node | None, *names: str) -> int:
    """The whole number there, 1 where there is none."""
    value = node.get(*names) if node is not None else None
    text = value.text() if value is not None and value.is_scalar else ""
    return max(1, int(text)) if text.isdecimal() and len(text) < _LONGEST else 1


_LONGEST: Final = 10  # digits of a count of pods
_KINDS: Final[dict[str, Callable[[Node], int]]] = {
    "LeaderWorkerSet": _leader_and_workers,
    "StatefulSet": _stateful,
    "RayCluster": _ray,
    "RayService": _ray,
    "RayJob": _ray,
}
