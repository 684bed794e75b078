"""CUDA graphs: what capture takes, and what versions from 0.18 estimate for it beforehand."""

from vramledger.engine.vllm.coefficients import coefficient
from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.runner import tries_graphs, uses_second_runner
from vramledger.evidence import Basis, Figure
from vramledger.hardware.accelerator import Vendor

_WIDTH = 4096  # hidden size that one unit of the slope stands for
_GRAPHS = 100  # graphs that the coefficients stand for
_DECODE_TOO = frozenset({"FULL_AND_PIECEWISE"})  # modes that capture decode batches a second time
_DECODE_ONLY = frozenset({"FULL_DECODE_ONLY"})
_SECOND_RUNNER = 2.0  # its trial extrapolates otherwise, and hardly any log shows the result


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
    tried = captures(deployment) and tries_graphs(deployment)
    if not deployment.estimate_cuda_graphs or not tried:
        return Figure.sharp(0.0, Basis.DERIVED, "this version deducts nothing for graphs")
    widen = _SECOND_RUNNER if uses_second_runner(deployment) else 1.0
    return _linear("graph_estimate", deployment, widen)


def graphs_captured(deployment: Deployment) -> int:
    """How many graphs capture makes: one a size, and one more a size that decodes alone."""
    sizes = deployment.cudagraph_capture_sizes.value
    rows = deployment.max_num_seqs.value
    if deployment.speculation is not None:
        rows *= 1 + deployment.speculation.tokens
    decode = sum(1 for size in sizes if size <= rows)
    if deployment.cudagraph_mode in _DECODE_ONLY:
        return decode
    return len(sizes) + (decode if deployment.cudagraph_mode in _DECODE_TOO else 0)


def _linear(term: str, deployment: Deployment, widen: float = 1.0) -> Figure:
    """A base, a share of layers x hidden and one of experts, and what joining ranks adds once.

    All but the last grow with the number of graphs; V0 captured as many in every observation.
    """
    text, layout = deployment.model.text, deployment.layout
    graphs = graphs_captured(deployment) / _GRAPHS if deployment.rules.v1 else 1.0
    width = text.layers / layout.pp * text.hidden / _WIDTH
    base = coefficient(term, "base")
    value = base.value + width * coefficient(term, "width").value
    if text.experts is not None:
        value += coefficient(term, "experts").value
    joined = coefficient(term, "joined").value if layout.tp > 1 else 0.0
    value = max(0.0, value * graphs + joined)
    spread = coefficient(term, "spread")
    below, above = (1 - spread.low) * widen, (spread.high - 1) * widen
    return Figure(
        value,
        value * max(0.0, 1 - below),
        value * (1 + above),
        Basis.CALIBRATED,
        f"by graphs, layers, hidden width and experts: {base.observations} observations of "
        f"{base.models} models",
    )


def captures(deployment: Deployment) -> bool:
    """Whether the engine captures graphs at all."""
    on_gpu = deployment.accelerator.vendor in {Vendor.NVIDIA, Vendor.AMD}
    eager = deployment.enforce_eager.value or deployment.cudagraph_mode == "NONE"
    return on_gpu and not eager
