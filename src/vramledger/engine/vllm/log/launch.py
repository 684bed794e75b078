"""The launch a log betrays: the arguments it repeats and the configuration it prints."""

import ast
import json
import re
import warnings
from collections.abc import Iterator
from typing import Final

from vramledger.engine.launch import Flag, Launch, Usage
from vramledger.engine.vllm.log.startup import StartupLog

# keys of the "with config:" record, in the spelling of the flag they resolve
_RESOLVED: Final = {
    "max_seq_len": "max-model-len",
    "tensor_parallel_size": "tensor-parallel-size",
    "pipeline_parallel_size": "pipeline-parallel-size",
    "dtype": "dtype",
    "quantization": "quantization",
    "enforce_eager": "enforce-eager",
    "kv_cache_dtype": "kv-cache-dtype",
}
_ITEM: Final = re.compile(r"(?P<key>\w+)=(?P<value>'[^']*'|\"[^\"]*\"|[^,() ]+)")
_LARGEST_RECORD: Final = 1 << 16
_SAYS_NOTHING: Final = frozenset({"None", "False", "auto"})
_NAMESPACE_KEYS: Final = frozenset(
    {
        "model", "tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size", "dtype",
        "max_model_len", "gpu_memory_utilization", "max_num_seqs", "max_num_batched_tokens",
        "kv_cache_dtype", "quantization", "enforce_eager", "block_size", "swap_space",
        "cpu_offload_gb", "num_gpu_blocks_override", "enable_chunked_prefill", "enable_lora",
        "max_loras", "max_lora_rank", "enable_prefix_caching", "kv_cache_memory_bytes",
        "enable_expert_parallel", "device",
    }
)  # fmt: skip


def launch_from_log(log: StartupLog, where: str) -> Launch:
    """What the log says was started; the model is None where no record names it.

    Given arguments win over the resolved configuration record, so that defaults stay defaults.
    """
    given: dict[str, str | None] = {}
    resolved: dict[str, str | None] = {}
    model: str | None = None
    serving = False
    for line in log.configuration:
        if "non-default args: {" in line.text:
            given.update(_from_dict(line.text))
            serving = True
        elif "args: Namespace(" in line.text:
            given.update(_from_namespace(line.text))
            serving = True
        else:
            found = dict(_items(line.text))
            model = model or found.get("model")
            resolved.update(
                (flag, found[key])
                for key, flag in _RESOLVED.items()
                if found.get(key, "None") not in _SAYS_NOTHING
            )
    for name in ("model-tag", "model"):
        named = given.pop(name, None)
        model = named or model
    merged = {**resolved, **given}
    return Launch(
        engine="vllm",
        model=model,
        flags=tuple(_flag(name, value) for name, value in merged.items()),
        version=log.version,
        usage=Usage.SERVE if serving else Usage.OFFLINE,
        environment={"VLLM_USE_V1": "0"} if log.v0 else {},
        where=where,
    )


def _flag(name: str, value: str | None) -> Flag:
    switch = value in ("True", "true", None)
    shown = None if switch and name == "enforce-eager" else value
    return Flag(name, shown, f"--{name}" if shown is None else f"--{name}={shown}")


def _from_dict(text: str) -> Iterator[tuple[str, str | None]]:
    record = text[text.index("non-default args: ") + len("non-default args: ") :]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the parser, about odd literals in a damaged log
            values = ast.literal_eval(record.strip()[:_LARGEST_RECORD])
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        yield from _from_pairs(record)
        return
    if isinstance(values, dict):
        for key, value in values.items():
            if value is not None and value is not False:
                yield str(key).replace("_", "-"), _text(value)


def _from_pairs(record: str) -> Iterator[tuple[str, str | None]]:
    """Scalar items of a dictionary that is not a plain literal, or has lost its commas."""
    for match in re.finditer(r"'(\w+)': (?:'([^']*)'|([\w.+-]+))", record[:_LARGEST_RECORD]):
        value = match[2] if match[2] is not None else match[3]
        if value not in ("None", "False"):
            yield match[1].replace("_", "-"), value


def _from_namespace(text: str) -> Iterator[tuple[str, str | None]]:
    """Arguments of a printed namespace that bear on memory; defaults are printed there too."""
    for key, value in _items(text):
        if key in _NAMESPACE_KEYS and value not in _SAYS_NOTHING:
            yield key.replace("_", "-"), value


def _items(text: str) -> Iterator[tuple[str, str]]:
    for match in _ITEM.finditer(text[:_LARGEST_RECORD]):
        value = match["value"].strip("'\"").removeprefix("torch.")
        yield match["key"], value


def _text(value: object) -> str | None:
    if value is True:
        return None
    return json.dumps(value) if isinstance(value, dict | list) else str(value)
