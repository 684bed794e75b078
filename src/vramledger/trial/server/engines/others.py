"""Engines that tell little: TGI's /info, and those of which only the version is asked."""

from typing import Any, Final

from vramledger.trial.server.asking import Asker, Refused
from vramledger.trial.server.engines.reader import EngineReader, text, whole
from vramledger.trial.server.facts import Seen

# https://github.com/huggingface/text-generation-inference/blob/main/router/src/lib.rs, `Info`
_TGI: Final = (
    "max_concurrent_requests", "max_input_tokens", "max_input_length", "max_total_tokens",
    "max_batch_total_tokens", "max_batch_prefill_tokens", "max_waiting_tokens",
    "waiting_served_ratio", "max_batch_size",
)  # fmt: skip


def read_tgi(ask: Asker) -> tuple[Seen, ...]:
    """From /info."""
    found = ask.json("/info")
    if isinstance(found, Refused):
        return ()
    arguments: dict[str, Any] = {
        name.replace("_", "-"): found[name] for name in _TGI if found.get(name) is not None
    }
    if text(found.get("model_dtype")):
        arguments["dtype"] = found["model_dtype"]
    return (
        Seen(
            engine_version=text(found.get("version")),
            model=text(found.get("model_id")),
            model_revision=text(found.get("model_sha")),
            arguments=arguments,
            kv_tokens=whole(found.get("max_batch_total_tokens")),
        ),
    )


def read_version(ask: Asker) -> tuple[Seen, ...]:
    """From /version, where it is a JSON object with a version."""
    found = ask.json("/version")
    return () if isinstance(found, Refused) else (Seen(engine_version=text(found.get("version"))),)


TGI: Final = EngineReader("tgi", ("tgi",), read_tgi, signs=(("/info", "model_id"),))
TENSORRT_LLM: Final = EngineReader(
    "tensorrt-llm",
    ("tensorrt_llm", "tensorrt-llm"),
    read_version,
    metrics=("/prometheus/metrics",),  # its /metrics is JSON, and reading empties it
)
LMDEPLOY: Final = EngineReader("lmdeploy", ("lmdeploy",), read_version)
DYNAMO: Final = EngineReader("dynamo", ("nvidia", "dynamo"), read_version)
OLLAMA: Final = EngineReader("ollama", ("library", "ollama"), read_version)
