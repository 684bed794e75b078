"""GPUs that a pod's containers ask the cluster for."""

from collections.abc import Iterator
from typing import Final

from vramledger.engine.manifests.document import Node

_RESOURCES: Final = ("nvidia.com/gpu", "amd.com/gpu", "gpu.intel.com/i915", "huawei.com/npu")


def gpus_of_container(node: Node) -> int | None:
    """GPUs of one container, None where it does not say."""
    for section in ("limits", "requests"):
        resources = node.get("resources", section)
        if resources is None or not resources.is_mapping:
            continue
        for key, value in resources.entries():
            if key in _RESOURCES and value.is_scalar and value.text().isdigit():
                return int(value.text())
    return None


def gpus_of_pod(template: Node | None) -> int:
    """GPUs of every container of a pod template, 0 where there is none or none says."""
    containers = template.get("spec", "containers") if template is not None else None
    if containers is None or not containers.is_list:
        return 0
    return sum(_counts(containers))


def _counts(containers: Node) -> Iterator[int]:
    for item in containers.items():
        yield (gpus_of_container(item) or 0) if item.is_mapping else 0
