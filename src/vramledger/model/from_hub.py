"""Models on the hub, and the copies of them that other programs downloaded to this machine."""

from dataclasses import replace

from vramledger.errors import BadInput, CannotKnow
from vramledger.model.checkpoint import Checkpoint, assemble
from vramledger.model.config import parse_config
from vramledger.model.files import HUB_PREFIX
from vramledger.model.files.caches import find_hub_snapshot, find_modelscope
from vramledger.model.files.hub import (
    HubFiles,
    HubReference,
    client,
    is_offline,
    parse_reference,
    read_hub,
)
from vramledger.model.from_files import load_directory, with_separate_quantization
from vramledger.model.model import Model


def load_from_hub(text: str) -> Model:
    """The model behind ``hf:org/name[@revision]``, or a local copy when the hub cannot be asked.

    Raises:
        BadInput: no such model, no access, or a damaged file.
        CannotKnow: it is in no local cache and the hub cannot be asked.
    """
    reference = parse_reference(text)
    if is_offline():
        local = load_downloaded(reference.repo, reference.revision, "HF_HUB_OFFLINE is set")
        if local is None:
            raise CannotKnow(
                f"HF_HUB_OFFLINE is set and {reference.id} is in no local cache; unset it, or give "
                "a directory with config.json."
            )
        return local
    try:
        files = read_hub(reference, client())
    except CannotKnow:
        local = load_downloaded(reference.repo, reference.revision, "the hub cannot be reached")
        if local is None:
            raise
        return local
    return assemble(_hub_checkpoint(reference, files))


def _hub_checkpoint(reference: HubReference, files: HubFiles) -> Checkpoint:
    where = f"{HUB_PREFIX}{reference.id}, config.json"
    if files.config is None and files.weights is None:
        raise BadInput(
            f"{reference.id} on the hub has neither config.json nor safetensors weights; download "
            "a GGUF file and give its path."
        )
    config = parse_config(files.config, where) if files.config is not None else None
    if config is not None and files.separate_quantization is not None:
        section = parse_config(files.separate_quantization, f"{where}, hf_quant_config.json")
        config = with_separate_quantization(config, section)
    return Checkpoint(reference.id, config, files.weights)


def load_downloaded(repo: str, revision: str | None, why: str) -> Model | None:
    """The model as another program downloaded it, with a note saying so."""
    folder = find_hub_snapshot(repo, revision) or find_modelscope(repo)
    if folder is None:
        return None
    model = load_directory(folder, repo)
    return replace(model, notes=(*model.notes, f"Read from {folder}, as {why}."))
