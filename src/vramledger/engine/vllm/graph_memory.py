"""CUDA graphs: what capture takes, and what versions from 0.18 estimate for it beforehand."""

from vramledger.engine.vllm.coefficients import coefficient
from vramledger.engine.vllm.deployment import Deployment
from vramledger.evidence import Basis, Figure
from vramledger.hardware.accelerator import Vendor

_WIDTH = 4096  # hidden size that one unit of the slope stands for


def graph_memory(deployment: Deployment) -> Figure:
    """GiB that capture takes, in the budget or outside it."""
    if not captures(deployment):
        return Figure.sharp(0.0, Basis.DERIVED, "no CUDA graphs are captured")
    return _linear("graphs_v1" if deployment.rules.v1 else "graphs_v0", deployment)


def graph_estimate(deployment: Deployment) -> Figure:
    """GiB that the engine deducts from the budget for graphs; zero before 0.20 or when off.

    It measures a trial capture, which is not what capture takes later: with tensor parallelism the
    first trial may also pay for communicators.
    """
    if not deployment.estimate_cuda_graphs or not captures(deployment):
        return Figure.sharp(0.0, Basis.DERIVED, "this version deducts nothing for graphs")
    return _linear("graph_estimate", deployment)


def _linear(term: str, deployment: Deployment) -> Figure:
    """A base, a share of layers x hidden that every rank pays and one that ranks divide, experts."""
    text, layout = deployment.model.text, deployment.layout
    width = text.layers / layout.pp * text.hidden / _WIDTH
    base = coefficient(term, "base")
    value = base.value + width * (
        coefficient(term, "width").value + coefficient(term, "split").value / layout.tp
    )
    if text.experts is not None:
        value += coefficient(term, "experts").value
    return Figure(
        value,
        max(0.0, value - (base.value - base.low)),
        value + (base.high - base.value),
        Basis.CALIBRATED,
        f"by layers, hidden width and experts: {base.observations} observations of "
        f"{base.models} models",
    )


def captures(deployment: Deployment) -> bool:
    """Whether the engine captures graphs at all."""
    on_gpu = deployment.accelerator.vendor in {Vendor.NVIDIA, Vendor.AMD}
    return on_gpu and not deployment.enforce_eager.value
