"""The lines that carry memory figures, one row each. A new wording is one more row.

Named groups are readings; their names end in the unit. Patterns are searched, not matched, so
whatever precedes a message does not matter.
"""

import re
from typing import Final

from vramledger.frozen import frozen


@frozen
class Pattern:
    """One kind of line. `cue` is a plain substring tested first, for speed."""

    name: str
    cue: str
    regex: re.Pattern[str]


def _row(name: str, cue: str, regex: str) -> Pattern:
    return Pattern(name, cue, re.compile(regex))


PATTERNS: Final = (
    _row("version", "engine (v", r"Initializing an?(?: V\d)? LLM engine \(v(?P<version>[\w.+-]+)\)"),
    _row("server version", "server version", r"vLLM (?:API )?server version (?P<version>\d[\w.+-]+)"),
    _row("banner", "  version ", r"█\s+version (?P<version>\d[\w.+-]+)"),
    # 0.4 .. 0.7: "GB" is written, GiB is meant
    _row("weights (V0)", "oading model weights took",
         r"[Ll]oading model weights took (?P<weights_gib>[\d.]+) Gi?B\b"),
    _row("weights", "odel loading took",
         r"[Mm]odel loading took (?P<weights_gib>[\d.]+) Gi?B(?: memory)?\b"),
    _row("blocks (V0)", " blocks: ",
         r"# (?!CPU)\w+ blocks: (?P<num_blocks>\d+)(?:, # CPU blocks: (?P<cpu_blocks>\d+))?"),
    _row("budget (V0)", "gpu_memory_utilization (",
         r"total_gpu_memory \((?P<total_gib>[\d.]+)GiB\) x gpu_memory_utilization "
         r"\((?P<utilization>[\d.]+)\) = (?P<budget_gib>[\d.]+)GiB"),
    _row("parts (V0)", "model weights take",
         r"model weights take (?P<profile_weights_gib>[\d.]+)GiB; non_torch_memory takes "
         r"(?P<non_torch_gib>-?[\d.]+)GiB; PyTorch activation peak memory takes "
         r"(?P<activation_gib>-?[\d.]+)GiB; the rest of the memory reserved for KV Cache is "
         r"(?P<kv_cache_gib>-?[\d.]+)GiB"),
    _row("available KV", "vailable KV cache memory:",
         r"Available KV cache memory: (?P<kv_cache_gib>-?[\d.]+) GiB"),
    _row("KV tokens", "KV cache size:",
         r"\b[A-Z]+(?: \+ host)? KV cache size: (?P<kv_tokens>[\d,]+) tokens"),
    _row("concurrency", "aximum concurrency for",
         r"Maximum concurrency for (?P<concurrency_at_tokens>[\d,]+) tokens per request: "
         r"(?P<max_concurrency>[\d.]+)x"),
    _row("graphs", "raph capturing finished",
         r"Graph capturing finished in \d+ secs?(?:, took (?P<cuda_graph_gib>-?[\d.]+) GiB)?"),
    _row("graph estimate", "Estimated CUDA graph memory",
         r"Estimated CUDA graph memory: (?P<cuda_graph_estimate_gib>[\d.]+) GiB total"),
    _row("graph comparison", "CUDA graph pool memory",
         r"CUDA graph pool memory: (?P<cuda_graph_gib>-?[\d.]+) GiB \(actual\), "
         r"(?P<cuda_graph_estimate_gib>-?[\d.]+) GiB \(estimated\)"),
    _row("advice", "Actual usage is",
         r"Free memory on device(?: \S+)? \((?P<free_gib>[\d.]+)/(?P<total_gib>[\d.]+) GiB\) on "
         r"startup\.? Desired GPU memory utilization is \((?P<utilization>[\d.]+), "
         r"(?P<budget_gib>[\d.]+) GiB\)\. Actual usage is (?:(?P<profile_weights_gib>[\d.]+) GiB for "
         r"weight|(?P<consumed_gib>[\d.]+) GiB for consumed memory \(weights \+ non-torch\)), "
         r"(?P<activation_gib>[\d.]+) GiB for peak activation,(?: (?P<non_torch_gib>-?[\d.]+) GiB for "
         r"non-torch memory,)? and (?P<cuda_graph_gib>-?[\d.]+) GiB for CUDAGraph memory"),
    _row("advice in use", "urrent kv cache memory in use",
         r"Current kv cache memory in use is (?:(?P<kv_in_use_gib>[\d.]+) GiB|(?P<kv_cache_bytes>\d+) "
         r"bytes)"),
    _row("explicit KV bytes", "specified by kv_cache_memory_bytes",
         r"Initial free memory (?P<free_gib>[\d.]+) GiB, reserved (?P<kv_cache_gib>[\d.]+) GiB memory "
         r"for KV Cache"),
    _row("explicit KV bytes (CPU)", "Explicitly set (",
         r"Explicitly set \((?P<kv_cache_gib>[\d.]+)/(?P<total_gib>[\d.]+)\) GiB for KV cache"),
    _row("automatic KV (CPU)", "Auto set (",
         r"Auto set \((?P<kv_cache_gib>[\d.]+)/(?P<total_gib>[\d.]+)\) GiB for KV cache on node \d+, "
         r"with (?P<budget_gib>[\d.]+) GiB requested memory for the worker\. "
         r"(?P<consumed_gib>[\d.]+) GiB memory was consumed"),
    _row("length", "Using max model len", r"Using max model len (?P<max_model_len_tokens>\d+)"),
    _row("auto-fit", "Auto-fit max_model_len",
         r"Auto-fit max_model_len: (?:reduced from \d+ to (?P<fitted_tokens>\d+) to fit|full model "
         r"context length (?P<max_model_len_tokens>\d+) fits) in available KV cache memory "
         r"\((?P<kv_cache_gib>[\d.]+) GiB"),
    _row("block size", "block size to",
         r"(?:Setting|Forcing) kv cache block size to (?P<block_size_tokens>\d+)"),
    _row("hybrid block size", "attention block size to",
         r"Setting attention block size to (?P<block_size_tokens>\d+) tokens"),
    _row("padded layers", "padding layers",
         r"Add (?P<padding_layers>\d+) padding layers, may waste at most (?P<padding_percent>[\d.]+)%"),
    _row("batch tokens", "hunked prefill is enabled with",
         r"Chunked prefill is enabled with max_num_batched_tokens=(?P<max_num_batched_tokens>\d+)"),
    _row("override", "Overriding num_gpu_blocks",
         r"Overriding num_gpu_blocks=\d+ with num_gpu_blocks_override=(?P<num_blocks>\d+)"),
    _row("blocks (DP)", "after num_gpu_blocks is",
         r"after num_gpu_blocks is: (?P<num_blocks>\d+)"),
)  # fmt: skip

ERRORS: Final = (
    _row("not enough free memory", "on startup is less than",
         r"(?:Free|Available) memory on (?:device(?: \S+)?|node \d+) \((?P<free_gib>[\d.]+)/"
         r"(?P<total_gib>[\d.]+) GiB\) on startup is less than desired \w+ memory utilization "
         r"\((?P<utilization>[\d.]+), (?P<budget_gib>[\d.]+) GiB\)"),
    _row("one request does not fit", "To serve at least one request",
         r"To serve at least one request with the model'?s?'?s? max seq len "
         r"\((?P<max_model_len_tokens>\d+)\), \(?(?P<needed_gib>[\d.]+) GiB KV cache is needed, which is "
         r"larger than the available KV cache memory \((?P<kv_cache_gib>-?[\d.]+) GiB\)"
         r"(?:.*?estimated maximum model length is (?P<largest_len_tokens>\d+))?"),
    _row("one request does not fit (V0)", "is larger than the maximum number of tokens",
         r"max seq len \((?P<max_model_len_tokens>\d+)\) is larger than the maximum number of tokens "
         r"that can be stored in KV cache \((?P<kv_tokens>\d+)\)"),
    _row("nothing left for the cache", "No available memory for the cache blocks",
         r"No available memory for the cache blocks"),
    _row("another process let go of memory", "Error in memory profiling",
         r"Error in memory profiling"),
    _row("weights do not fit", "Failed to load model", r"Failed to load model - not enough GPU memory"),
    _row("out of memory in the sampler", "when warming up",
         r"CUDA out of memory occurred when warming up (?:sampler|pooler) with (?P<rows>\d+) dummy"),
    _row("more sequences than state blocks", "exceeds available Mamba cache blocks",
         r"max_num_seqs \((?P<max_num_seqs>\d+)\) exceeds available Mamba cache blocks "
         r"\((?P<num_blocks>\d+)\)"),
    _row("out of memory", "CUDA out of memory. Tried to allocate",
         r"CUDA out of memory\. Tried to allocate (?P<asked>[\d.]+) (?P<asked_unit>[KMG]iB)"),
    _row("auto-fit found no length", "Cannot auto-fit max_model_len",
         r"Cannot auto-fit max_model_len: not enough GPU memory"),
)  # fmt: skip
