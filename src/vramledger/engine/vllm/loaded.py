"""What a model's weights take once vLLM has loaded them on one GPU, beside what its files hold."""

from vramledger.engine.launch import Launch
from vramledger.engine.vllm.kept import Kept, kept
from vramledger.engine.vllm.resolve import resolve
from vramledger.engine.vllm.weights import rank_weights
from vramledger.errors import VramError
from vramledger.frozen import frozen
from vramledger.hardware.accelerator import Accelerator
from vramledger.model.model import Model


@frozen
class Loaded:
    """Resident bytes of all weights on one GPU of unlimited memory, TP 1.

    `bytes` is None where that engine does not load the model; `notes` then say why, else by which
    rule the bytes differ from those of the files.
    """

    bytes: int | None
    engine: str  # "vLLM 0.33"
    accelerator: str
    notes: tuple[str, ...]
    kept: Kept = Kept()  # what it keeps for sequences and tokens in types of its own


def loaded(model: Model, accelerator: Accelerator, version: str | None = None) -> Loaded:
    """Repacking, padding, casts and position tables of the engine's loader, nothing else."""
    try:
        deployment = resolve(Launch("vllm", model.id), model, accelerator, version=version)
        weights = rank_weights(deployment, 0)
    except VramError as error:
        return Loaded(None, "vLLM", accelerator.name, (str(error),))
    said = (deployment.version_note,) if version and deployment.version_note else ()
    return Loaded(
        weights.model,
        f"vLLM {deployment.version}",
        accelerator.name,
        (*said, *weights.notes),
        kept(deployment),
    )
