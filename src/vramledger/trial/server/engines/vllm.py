"""vLLM: /version always, /server_info in its development mode, the cache configuration on its metrics page.

https://github.com/vllm-project/vllm/tree/main/vllm/entrypoints/serve
"""

from collections.abc import Mapping
from math import isfinite
from typing import Any, Final

from vramledger.trial.server.asking import Asker, Refused
from vramledger.trial.server.engines.reader import EngineReader, text
from vramledger.trial.server.facts import Seen

_INFO: Final = "/server_info?config_format=json"
# parts of the configuration that /server_info shows, with the flags that set them
_FLAGS: Final[Mapping[str, tuple[str, ...]]] = {
    "model_config": ("max_model_len", "dtype", "quantization", "enforce_eager", "seed"),
    "cache_config": (
        "block_size", "gpu_memory_utilization", "cache_dtype", "enable_prefix_caching",
        "kv_cache_memory_bytes", "num_gpu_blocks_override", "cpu_offload_gb",
    ),
    "parallel_config": (
        "tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size",
        "enable_expert_parallel",
    ),
    "scheduler_config": (
        "max_num_seqs", "max_num_batched_tokens", "async_scheduling", "policy",
        "max_num_partial_prefills",
    ),
}  # fmt: skip
_RENAMED: Final = {"cache_dtype": "kv-cache-dtype", "policy": "scheduling-policy"}


def read(ask: Asker) -> tuple[Seen, ...]:
    """From the server's addresses; the metrics page is read for every engine alike."""
    return (_version(ask), _info(ask), _tokenizer(ask))


def from_cache_config(labels: Mapping[str, str]) -> Seen:
    """From the labels of `cache_config_info`, which are texts."""
    found = {name: labels[name] for name in _FLAGS["cache_config"] if name in labels}
    return Seen(
        arguments={flag(name): typed(value) for name, value in found.items() if value != "None"}
    )


def flag(name: str) -> str:
    """A configuration's field as the flag that sets it."""
    return _RENAMED.get(name, name.replace("_", "-"))


def typed(value: str) -> Any:
    """A label's text as what it was."""
    if value in ("True", "False"):
        return value == "True"
    for kind in (int, float):
        try:
            found = kind(value)
        except ValueError:
            continue
        return found if isfinite(found) else value
    return value


def _version(ask: Asker) -> Seen:
    found = ask.json("/version")
    return Seen() if isinstance(found, Refused) else Seen(engine_version=text(found.get("version")))


def _info(ask: Asker) -> Seen:
    found = ask.json(_INFO)
    config = {} if isinstance(found, Refused) else found.get("vllm_config")
    if not isinstance(config, Mapping):
        return Seen()  # older versions answer with one long text
    arguments: dict[str, Any] = {}
    for part, names in _FLAGS.items():
        values = config.get(part)
        if isinstance(values, Mapping):
            arguments |= {flag(n): values[n] for n in names if _plain(values.get(n))}
    model = config.get("model_config")
    model = model if isinstance(model, Mapping) else {}
    drafts = config.get("speculative_config", False)
    return Seen(
        model=text(model.get("model")),
        model_revision=text(model.get("revision")),
        arguments=arguments,
        speculative=None if drafts is False else drafts is not None,
    )


def _tokenizer(ask: Asker) -> Seen:
    """With --enable-tokenizer-info-endpoint."""
    found = ask.json("/tokenizer_info")
    return (
        Seen()
        if isinstance(found, Refused)
        else Seen(chat_template=text(found.get("chat_template")))
    )


def _plain(value: object) -> bool:
    return isinstance(value, str | int | float | bool)


READER: Final = EngineReader(
    "vllm",
    ("vllm",),
    read,
    resets=("/reset_prefix_cache",),
    reset_hint="start vLLM with VLLM_SERVER_DEV_MODE=1 to have /reset_prefix_cache",
)
