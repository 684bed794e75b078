"""Rules about pipeline stages and experts. Sources: ``config/model.py``, ``models/utils.py``."""

from vramledger.engine.vllm.layouts.placement import Placement
from vramledger.model.model import ModelKind


def stages(placement: Placement) -> str | None:
    """Every stage needs a layer, and the class must support stages."""
    pp, layers = placement.layout.pp, placement.model.text.layers
    if pp == 1:
        return None
    if placement.model.kind is not ModelKind.DECODER:
        return f"{placement.model.architecture} does not support pipeline parallelism; use 1 stage."
    if pp > layers:
        return f"{pp} pipeline stages are more than the model's {layers} layers; use fewer stages."
    return None


def experts(placement: Placement) -> str | None:
    """Expert parallelism needs experts, and each rank at least one."""
    layout, mixture = placement.layout, placement.model.text.experts
    if not layout.expert_parallel:
        return None
    if mixture is None:
        return "The model has no experts, so expert parallelism cannot be switched on."
    if layout.expert_ranks > mixture.count:
        return (
            f"{layout.expert_ranks} expert-parallel ranks are more than the {mixture.count} "
            "experts of a layer; use fewer."
        )
    return None
