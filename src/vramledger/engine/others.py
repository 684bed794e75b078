"""Engines we recognise but do not account for: model and layout, read from their own flags."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from vramledger.engine.launch import Argument, Flag, Launch
from vramledger.frozen import frozen


@frozen
class Dialect:
    """How one engine names what every engine has; vLLM's long flag names are the values."""

    flags: dict[str, str]
    positional_model: bool = False


_TENSOR: Final = "tensor-parallel-size"
_PIPELINE: Final = "pipeline-parallel-size"
_DATA: Final = "data-parallel-size"
_LENGTH: Final = "max-model-len"
_SEQUENCES: Final = "max-num-seqs"
_MEMORY: Final = "gpu-memory-utilization"
_CACHE: Final = "kv-cache-dtype"

DIALECTS: Final = {
    "sglang": Dialect(
        {
            "--model-path": "model", "--model": "model",
            "--tp": _TENSOR, "--tp-size": _TENSOR, "--tensor-parallel-size": _TENSOR,
            "--pp-size": _PIPELINE, "--pipeline-parallel-size": _PIPELINE,
            "--dp": _DATA, "--dp-size": _DATA, "--data-parallel-size": _DATA,
            "--context-length": _LENGTH, "--max-running-requests": _SEQUENCES,
            "--mem-fraction-static": _MEMORY, "--kv-cache-dtype": _CACHE,
        },
        positional_model=True,
    ),
    "tensorrt-llm": Dialect(
        {
            "--model": "model", "--tp_size": _TENSOR, "--pp_size": _PIPELINE,
            "--max_seq_len": _LENGTH, "--max_batch_size": _SEQUENCES,
            "--kv_cache_free_gpu_memory_fraction": _MEMORY, "--kv_cache_dtype": _CACHE,
        },
        positional_model=True,
    ),
    "llama.cpp": Dialect(
        {
            "-m": "model", "--model": "model", "-hf": "model", "--hf-repo": "model",
            "-c": _LENGTH, "--ctx-size": _LENGTH, "-np": _SEQUENCES, "--parallel": _SEQUENCES,
            "-ctk": _CACHE, "--cache-type-k": _CACHE,
        },
    ),
    "ollama": Dialect({}, positional_model=True),
    "tgi": Dialect(
        {
            "--model-id": "model", "--num-shard": _TENSOR, "--max-total-tokens": _LENGTH,
            "--cuda-memory-fraction": _MEMORY, "--kv-cache-dtype": _CACHE,
            "--max-concurrent-requests": _SEQUENCES,
        },
    ),
    "lmdeploy": Dialect(
        {
            "--tp": _TENSOR, "--dp": _DATA, "--session-len": _LENGTH,
            "--max-batch-size": _SEQUENCES, "--cache-max-entry-count": _MEMORY,
        },
        positional_model=True,
    ),
    "aphrodite": Dialect(
        {
            "--model": "model", "-tp": _TENSOR, "--tensor-parallel-size": _TENSOR,
            "-pp": _PIPELINE, "--pipeline-parallel-size": _PIPELINE,
            "--max-model-len": _LENGTH, "--max-num-seqs": _SEQUENCES,
            "-gmu": _MEMORY, "--gpu-memory-utilization": _MEMORY, "--kv-cache-dtype": _CACHE,
        },
        positional_model=True,
    ),
    "mlc": Dialect({"--model": "model"}, positional_model=True),
}  # fmt: skip


def parse(launch: Launch) -> Launch:
    """The launch with its flags and model, as far as its engine's words are known.

    Flags with a counterpart in vLLM carry that name; others keep their own without dashes.
    """
    dialect = DIALECTS.get(launch.engine, Dialect({}))
    flags, words = _read(launch.arguments, dialect)
    named = [flag.value for flag in flags if flag.name == "model" and flag.value]
    model = named[-1] if named else None
    if model is None and dialect.positional_model and words:
        model = words[0].text
    if model is None:
        model = launch.environment.get("MODEL_ID")
    return replace(launch, flags=tuple(flags), model=model)


def _read(arguments: Sequence[Argument], dialect: Dialect) -> tuple[list[Flag], list[Argument]]:
    """Flags with the words that follow them, and the words before any flag."""
    flags: list[Flag] = []
    words: list[Argument] = []
    index = 0
    while index < len(arguments):
        word = arguments[index]
        index += 1
        if not _is_option(word.text):
            words.append(word)
            continue
        option, attached, value = word.text.partition("=")
        name = dialect.flags.get(option, option.lstrip("-").replace("_", "-"))
        unknown = word.unknown
        if not attached and index < len(arguments) and not _is_option(arguments[index].text):
            value, unknown = arguments[index].text, arguments[index].unknown
            index += 1
            attached = "="
        flags.append(Flag(name, value if attached else None, option, (), unknown))
    return flags, words


def _is_option(text: str) -> bool:
    return len(text) > 1 and text[0] == "-" and not text[1:].replace(".", "", 1).isdigit()
