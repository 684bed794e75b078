"""The engines that can be asked, in the order in which their signs are looked for."""

from typing import Final

from vramledger.trial.server.engines import llama_cpp, others, sglang, vllm
from vramledger.trial.server.engines.reader import EngineReader

READERS: Final[tuple[EngineReader, ...]] = (
    vllm.READER,
    sglang.READER,
    llama_cpp.READER,
    others.TGI,
    others.TENSORRT_LLM,
    others.LMDEPLOY,
    others.DYNAMO,
    others.OLLAMA,
)
BY_ENGINE: Final = {reader.engine: reader for reader in READERS}


def by_owner(owner: str | None) -> EngineReader | None:
    """The engine that writes this into its list of models."""
    return next((reader for reader in READERS if owner and owner.casefold() in reader.owners), None)
