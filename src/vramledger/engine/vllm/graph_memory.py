"""CUDA graphs: what capture takes, and what versions from 0.18 estimate for it beforehand."""

from vramledger.engine.vllm.coefficients import coefficient
from vramledger.engine.vllm.deployment import Deployment
from vramledger.evidence import Basis, Figure
from vramledger.hardware.accelerator import Vendor

_WIDTH = 4096  # hidden size that one unit of the slope stands for


def graph_memory(deployment: Deployment) -> Figure:
    """GiB that capture takes: a base, a share per layer and hidden width, more with experts."""
    if not captures(deployment):
        return Figure.sharp(0.0, Basis.DERIVED, "no CUDA graphs are captured")
    text, layout = deployment.model.text, deployment.layout
    width = text.layers / layout.pp * text.hidden / _WIDTH / layout.tp
    base, slope = coefficient("graphs", "base"), coefficient("graphs", "per_width")
    experts = coefficient("graphs", "experts").value if text.experts is not None else 0.0
    value = base.value + slope.value * width + experts
    return Figure(
        value,
        max(0.0, value - (base.value - base.low)),
        value + (base.high - base.value),
        Basis.CALIBRATED,
        f"graph memory by layers, width and experts: {base.observations} observations",
    )


def graph_estimate(deployment: Deployment) -> Figure:
    """GiB that the engine deducts from the budget for graphs; zero before 0.20 or when off."""
    if not deployment.estimate_cuda_graphs or not captures(deployment):
        return Figure.sharp(0.0, Basis.DERIVED, "this version deducts nothing for graphs")
    actual = graph_memory(deployment)
    ratio = coefficient("graph_estimate", "tp" if deployment.layout.tp > 1 else "one")
    return Figure(
        actual.value * ratio.value,
        actual.value * ratio.low,
        actual.value * ratio.high,
        Basis.CALIBRATED,
        f"the engine's estimate, {ratio.low:.2f} to {ratio.high:.2f} of the memory captured",
    )


def captures(deployment: Deployment) -> bool:
    """Whether the engine captures graphs at all."""
    on_gpu = deployment.accelerator.vendor in {Vendor.NVIDIA, Vendor.AMD}
    return on_gpu and not deployment.enforce_eager.value
