"""Arguments that the engine refuses: a length, a split, a type or a flag that cannot be for this model, card or version."""

from collections.abc import Mapping
from typing import Final

from vramledger.diagnose.startup.error import Facts, Said, number, plain, row, shortened
from vramledger.diagnose.told import Change

_MOST_GPUS: Final = 64
_MOST_HEADS: Final = 1024  # a larger count is one of columns or of the vocabulary


def _derived(groups: Mapping[str, str], _: Facts) -> Said:
    asked, most = int(number(groups["asked"]) or 0), int(number(groups["most"]) or 0)
    said = (f"{asked:,} tokens are asked for; the model's configuration says {most:,}.",)
    return Said(
        "max_model_len is longer than the model was made for.",
        said,
        Change(f"--max-model-len {most}", "max-model-len", str(most)),
    )


def divisor_below(count: int, size: int) -> int:
    """The largest split of at most `size` that divides `count`."""
    return next((n for n in range(min(size, _MOST_GPUS), 0, -1) if count % n == 0), 1)


def _heads(groups: Mapping[str, str], facts: Facts) -> Said:
    heads, size = int(number(groups["heads"]) or 0), int(number(groups["size"]) or 0)
    if heads <= 0 or size <= 0:
        return Said("The model cannot be split over so many GPUs.")
    fits = divisor_below(heads, size)
    legal = [str(n) for n in range(1, min(heads, _MOST_GPUS) + 1) if heads % n == 0]
    flag = "tp-size" if facts.engine == "sglang" else "tensor-parallel-size"
    what = f"{heads} heads" if heads <= _MOST_HEADS else f"A size of the model, {heads:,},"
    said = (
        f"{heads} / {size} is no whole number; {heads} can be split by {', '.join(legal)}.",
        f"{size - fits} of {size} GPUs would have nothing to do; more copies or pipeline stages can use them.",
    )
    return Said(
        f"{what} cannot be split evenly over {size} GPUs.",
        said,
        Change(f"--{flag} {fits}", flag, str(fits)),
    )


def _world(groups: Mapping[str, str], facts: Facts) -> Said:
    asked, there = int(number(groups["asked"]) or 0), int(number(groups["there"]) or 0)
    flag = "tp-size" if facts.engine == "sglang" else "tensor-parallel-size"
    said = (f"{asked} GPUs are asked for and {there} are visible to the process.",)
    change = (
        Change(f"--{flag} {there}", flag, str(there))
        if there
        else Change("give the container GPUs (--gpus all)")
    )
    return Said(
        "More GPUs are asked for than the process can see.",
        said,
        change,
        ("Whether the machine has more GPUs that CUDA_VISIBLE_DEVICES or the container hides.",),
    )


def _batch(groups: Mapping[str, str], _: Facts) -> Said:
    tokens, least = int(number(groups["tokens"]) or 0), int(number(groups["least"]) or 0)
    said = (f"max_num_batched_tokens is {tokens:,} and {groups['what']} {least:,}.",)
    return Said(
        f"The token budget of a step is smaller than {groups['what']}.",
        said,
        Change(f"--max-num-batched-tokens {least}", "max-num-batched-tokens", str(least)),
    )


def _rank(groups: Mapping[str, str], _: Facts) -> Said:
    asked, most = int(number(groups["asked"]) or 0), int(number(groups["most"]) or 0)
    legal = next((n for n in (8, 16, 32, 64, 128, 256, 320, 512) if n >= asked), asked)
    return Said(
        "An adapter has a larger rank than is allowed.",
        (f"The adapter's rank is {asked} and {most} are allowed.",),
        Change(f"--max-lora-rank {legal}", "max-lora-rank", str(legal)),
    )


def _unrecognized(groups: Mapping[str, str], facts: Facts) -> Said:
    words = shortened(groups["words"])
    version = f" {facts.version}" if facts.version else ""
    return Said(
        f"This version{version} has no such argument: {words}.",
        change=Change(f"leave out {words.split(' ')[0]}"),
    )


def _dtype(groups: Mapping[str, str], facts: Facts) -> Said:
    has, needs = groups.get("has") or "", groups.get("needs") or "8.0"
    if facts.engine == "sglang":
        change = Change("--dtype float16", "dtype", "float16")
    else:
        change = Change("--dtype half", "dtype", "half")
    said = (f"The card has compute capability {has}; bfloat16 needs {needs}.",) if has else ()
    return Said("The card has no bfloat16.", said, change)


def _capability(groups: Mapping[str, str], _: Facts) -> Said:
    least, has = groups.get("least"), groups.get("has")
    said = (
        (
            f"{groups['method']} needs compute capability {_capability_text(least)} and the card has {_capability_text(has)}.",
        )
        if least and has
        else ()
    )
    return Said(
        f"The card cannot run weights quantised as {groups['method']}.",
        said,
        Change(
            "take a checkpoint in another precision (such as GPTQ, AWQ or 16 bits) or a newer card"
        ),
    )


def _capability_text(text: str | None) -> str:
    """75 as 7.5, which is how cards are described."""
    value = (text or "").strip(". ")
    return f"{value[:-1]}.{value[-1]}" if value.isdigit() and len(value) > 1 else value


ROWS: Final = (
    row(
        "S20", "length-beyond-the-model",
        r"(?:max_model_len|context[_ ]length) \(?(?P<asked>\d+)\)? is (?:greater|larger) than the derived (?:max_model_len|context[_ ]length) \(?.*?(?P<most>\d{3,})",
        _derived,
        "ValueError: User-specified max_model_len (65536) is greater than the derived max_model_len (max_position_embeddings=32768 or model_max_length=None in model's config.json). This may lead to incorrect model outputs or CUDA errors.",
        "Value error, User-specified context_length (40000) is greater than the derived context_length (32768).",
        cues=("than the derived",), rank=0,
    ),
    row(
        "S21", "split-does-not-divide",
        r"(?:number of )?attention heads \(?(?P<heads>\d+)\)? must be (?:divisible|a multiple).*?tensor[- _]parallel(?:ism)?[- _]?size \(?(?P<size>\d+)\)?",
        _heads,
        "ValueError: Total number of attention heads (40) must be divisible by tensor parallel size (6).",
        cues=("attention heads",), rank=0,
    ),
    row(
        "S22", "split-does-not-divide",
        r"\b(?P<heads>\d+) is not divisible by (?P<size>\d+)\b",
        _heads,
        "AssertionError: 151936 is not divisible by 5",
        cues=("is not divisible by",), rank=1,
    ),
    row(
        "S23", "quantisation-does-not-split",
        r"(?:size is not aligned with the quantized weight shape|input_size_per_partition = \d+ is not divisible by|output_size_per_partition = \d+ is not divisible by|"
        r"not divisible by weight quantization block_[nk])",
        lambda _, facts: Said("A part of a quantised matrix is no whole number of quantisation groups at this split.", change=_half(facts)),
        "ValueError: The input size is not aligned with the quantized weight shape. This can be caused by too large tensor parallel size.",
        "ValueError: Weight output_size_per_partition = 96 is not divisible by min_thread_n = 64. Consider reducing tensor_parallel_size or running with --quantization gptq.",
        cues=("quantized weight shape", "size_per_partition", "quantization block_"), rank=0,
    ),
    row(
        "S24", "too-few-gpus",
        r"World size \((?P<asked>\d+)\) is larger than the number of available GPUs \((?P<there>\d+)\)|tp_size \(?(?P<asked2>\d+)\)? .*?(?:exceeds|larger than).*?(?P<there2>\d+) (?:available|visible)",
        lambda groups, facts: _world({"asked": groups.get("asked") or groups.get("asked2") or "", "there": groups.get("there") or groups.get("there2") or ""}, facts),
        "ValueError: World size (8) is larger than the number of available GPUs (4) in this node. If this is intentional and you are using: - ray, set '--distributed-executor-backend ray'.",
        cues=("world size (", "tp_size"), rank=0,
    ),
    row(
        "S25", "too-few-gpus",
        r"number of required GPUs exceeds the total number of available GPUs|CUDA error: invalid device ordinal|No available node types can fulfill resource request",
        plain("More GPUs are asked for than the process, or the Ray cluster, has.", "lower --tensor-parallel-size or --pipeline-parallel-size to what nvidia-smi -L lists"),
        "ValueError: The number of required GPUs exceeds the total number of available GPUs in the placement group.",
        "RuntimeError: CUDA error: invalid device ordinal",
        cues=("required gpus exceeds", "invalid device ordinal", "no available node types"), rank=0,
    ),
    row(
        "S26", "token-budget-too-small",
        r"max_num_batched_tokens \(?(?P<tokens>\d+)\)? (?:is smaller than|must be greater than or equal to|must be >=) (?P<what>max_model_len|max_num_seqs) \(?(?P<least>\d+)\)?",
        _batch,
        "ValueError: max_num_batched_tokens (2048) is smaller than max_model_len (32768). This effectively limits the maximum sequence length to max_num_batched_tokens and makes vLLM reject longer sequences.",
        cues=("max_num_batched_tokens",), rank=0,
    ),
    row(
        "S27", "lora-rank",
        r"LoRA rank (?P<asked>\d+) is greater than max_lora_rank (?P<most>\d+)",
        _rank,
        "ValueError: LoRA rank 64 is greater than max_lora_rank 16.",
        cues=("lora rank",), rank=0,
    ),
    row(
        "S28", "unknown-argument",
        r"error: unrecognized arguments?: (?P<words>.+)|error: invalid argument: (?P<words2>\S+)|unexpected argument '(?P<words3>[^']+)' found",
        lambda groups, facts: _unrecognized({"words": groups.get("words") or groups.get("words2") or groups.get("words3") or ""}, facts),
        "vllm: error: unrecognized arguments: --swap-space 4",
        "error: invalid argument: --flash-attn2",
        cues=("unrecognized argument", "invalid argument:", "unexpected argument"), rank=0,
    ),
    row(
        "S29", "invalid-value",
        r"error: argument (?P<flag>\S+?)(?:/\S+)?: (?:invalid choice|invalid \S+ value|expected one argument|invalid \w+): ?(?P<value>[^\s,(]*)",
        plain("The argument {flag} cannot have the value {value}.", "give {flag} one of the values that the message lists"),
        "api_server.py: error: argument --kv-cache-dtype: invalid choice: 'int4' (choose from 'auto', 'fp8', 'fp8_e4m3', 'fp8_e5m2')",
        cues=("error: argument",), rank=0,
    ),
    row(
        "S30", "no-bfloat16",
        r"Bfloat16 is only supported on GPUs with compute capability of at least (?P<needs>[\d.]+?)\.? (?:.*?compute capability (?P<has>\d+\.\d+))?",
        _dtype,
        "ValueError: Bfloat16 is only supported on GPUs with compute capability of at least 8.0. Your Tesla T4 GPU has compute capability 7.5. You can use float16 instead by explicitly setting the `dtype` flag in CLI, for example: --dtype=half.",
        cues=("bfloat16 is only supported", "bfloat16 is not supported"), rank=0,
    ),
    row(
        "S31", "quantisation-not-on-this-card",
        r"[Qq]uantization (?:method|scheme) ['\"]?(?P<method>[\w-]+)['\"]? is not supported (?:for|on|by) (?:the )?(?:current )?(?:GPU|device|platform)\w*(?:.*?[Mm]inimum capability: (?P<least>\d+)\.?.*?[Cc]urrent capability: (?P<has>\d+))?",
        _capability,
        "ValueError: The quantization method fp8 is not supported for the current GPU. Minimum capability: 89. Current capability: 75.",
        cues=("quantization method", "quantization scheme"), rank=0,
    ),
    row(
        "S32", "unknown-quantisation",
        r"Unknown quantization method: ?(?P<method>[\w-]+)|Quantization method specified in the model config \((?P<has>[\w-]+)\) does not match the quantization method specified in the `?quantization`? argument \((?P<asked>[\w-]+)\)|"
        r"Cannot find the config file for (?P<method2>[\w-]+)|quantization method .{0,40} is not (?:recognized|valid)",
        plain("The quantisation asked for is not that of the checkpoint, or not known to this version.", "leave out --quantization, so that the checkpoint says what it is"),
        "ValueError: Quantization method specified in the model config (compressed-tensors) does not match the quantization method specified in the `quantization` argument (awq).",
        "ValueError: Cannot find the config file for awq",
        cues=("quantization method", "cannot find the config file for"), rank=0,
    ),
    row(
        "S33", "attention-backend",
        r"FlashAttention only supports Ampere|head[_ ]?size \(?(?P<size>\d+)\)? (?:is )?not supported|No valid attention backend found|"
        r"(?P<backend>[\w.]+) (?:attention )?backend (?:is not supported|does not support)|Selected backend .{0,60}is not valid",
        plain("The attention backend cannot do what this model, card or cache type asks of it.", "leave out the attention backend and --kv-cache-dtype, so that the engine chooses"),
        "RuntimeError: FlashAttention only supports Ampere GPUs or newer.",
        "ValueError: No valid attention backend found for cuda with AttentionSelectorConfig(head_size=96, dtype=torch.bfloat16)",
        cues=("flashattention only", "head size", "head_size", "attention backend", "backend is not supported", "backend does not support", "selected backend"), rank=1,
    ),
    row(
        "S34", "fp8-cache-not-possible",
        r"fp8e4nv(?: data type)? (?:is )?not supported|(?:fp8|FP8) KV cache (?:is )?(?:only|not) supported|type fp8e4nv not supported",
        plain("This card has no arithmetic for the 8-bit type that is asked for.", "--kv-cache-dtype auto", "kv-cache-dtype", "auto"),
        "ValueError: type fp8e4nv not supported in this architecture. The supported fp8 dtypes are ('fp8e4b15', 'fp8e5')",
        cues=("fp8",), rank=0,
    ),
)  # fmt: skip


def _half(facts: Facts) -> Change:
    """Half the split, where it is known."""
    size = int(facts.setting("tensor-parallel-size") or facts.setting("tp_size") or 2)
    wanted = str(max(size // 2, 1))
    return Change(f"--tensor-parallel-size {wanted}", "tensor-parallel-size", wanted)
