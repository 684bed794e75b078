"""Why loaded weights differ from stored ones, one sentence a rule that applies."""

from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.resident import mxfp4
from vramledger.model.model import Model
from vramledger.model.quantization.encoding import Family, Tiled
from vramledger.units import format_bytes


def loading_notes(
    model: Model, deployment: Deployment, *, rotary: int, absorbed: int, buffers: int
) -> tuple[str, ...]:
    """The rules at work on one rank; sizes in bytes."""
    notes = (
        _cast(model, deployment),
        _mxfp4(model, deployment),
        f"Rotary position tables take {format_bytes(rotary)} on every rank." if rotary else "",
        f"Latent attention keeps 16-bit copies of quantised projections, {format_bytes(absorbed)}."
        if absorbed
        else "",
        f"Loading also allocates {format_bytes(buffers)} of work space." if buffers else "",
    )
    return tuple(note for note in notes if note)


def _cast(model: Model, deployment: Deployment) -> str:
    served = deployment.dtype.value
    if model.dtype.nbytes == served.nbytes:
        return ""
    return f"Weights stored as {model.dtype} are loaded as {served}."


def _mxfp4(model: Model, deployment: Deployment) -> str:
    holds = any(
        isinstance(tensor.encoding, Tiled) and tensor.encoding.family is Family.MXFP4
        for tensor in model.tensors
    )
    if not holds:
        return ""
    kernel = mxfp4.kernel_for(deployment)
    return f"MXFP4 experts are laid out for the {kernel.value} kernel, which pads them."
