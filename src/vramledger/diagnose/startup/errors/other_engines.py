"""SGLang, TensorRT-LLM, TGI and LMDeploy: their own words for too little memory."""

from collections.abc import Mapping
from typing import Final

from vramledger.diagnose.startup.error import Facts, Said, number, plain, row
from vramledger.diagnose.told import Change

_STEP: Final = 0.05
_FRACTION: Final = "mem-fraction-static"


def _raise_fraction(groups: Mapping[str, str], facts: Facts) -> Said:
    """SGLang: weights take the whole static share, so that no token fits."""
    share = number(groups.get("share")) or facts.setting(_FRACTION)
    said = [
        "The static share has to hold the weights and the KV pool; nothing is left for the pool."
    ]
    if share is not None:
        said.append(f"The share is {share:g} of what was free before the weights.")
        wanted = f"{min(share + _STEP, 0.95):.2f}"
        if float(wanted) > share:
            return Said(
                "No memory is left for the KV pool.",
                tuple(said),
                Change(f"--{_FRACTION} {wanted}", _FRACTION, wanted),
            )
    size = int(facts.setting("tp_size") or 1) * 2
    return Said(
        "No memory is left for the KV pool.",
        tuple(said),
        Change(f"--tp-size {size}", "tp-size", str(size)),
    )


def _lower_fraction(_: Mapping[str, str], facts: Facts) -> Said:
    """SGLang: the static share leaves too little for graphs and activations."""
    share = facts.setting(_FRACTION)
    if share is None:
        return Said(
            "Weights and KV pool leave too little for CUDA graphs.",
            (),
            Change(f"--{_FRACTION} 0.80", _FRACTION, "0.80"),
            ("The share in effect; the log does not print it.",),
        )
    wanted = f"{max(share - _STEP, 0.1):.2f}"
    said = (
        f"{share:g} of the memory is static; what is left has to hold graphs, activations and logits.",
    )
    return Said(
        "Weights and KV pool leave too little for CUDA graphs.",
        said,
        Change(f"--{_FRACTION} {wanted}", _FRACTION, wanted),
    )


def _prefill(groups: Mapping[str, str], _: Facts) -> Said:
    """TGI: the largest prefill does not fit."""
    tokens = int(number(groups.get("tokens")) or 0)
    half = str(max(tokens // 2, 1))
    return Said(
        f"A prefill of {tokens:,} tokens does not fit beside the weights.",
        ("The warm-up runs the largest prefill that is allowed.",),
        Change(f"--max-batch-prefill-tokens {half}", "max-batch-prefill-tokens", half),
    )


ROWS: Final = (
    row(
        "S90", "nothing-left-for-the-cache",
        r"Not enough memory[.;,]? Please try (?:to )?increas(?:e|ing) --mem-fraction-static(?:.*?mem_fraction_static=(?P<share>[\d.]+))?|max_total_num_tokens=-?0\b|Loading (?:the )?model (?:used|uses) too much memory",
        _raise_fraction,
        "RuntimeError: Not enough memory. Please try increasing --mem-fraction-static. Current value: self.server_args.mem_fraction_static=0.85",
        cues=("--mem-fraction-static", "max_total_num_tokens=", "too much memory"), rank=0, memory=True,
    ),
    row(
        "S91", "graph-capture", r"Capture (?:cuda|CUDA) ?graphs? failed|CUDA graph capture failed",
        _lower_fraction,
        "Exception: Capture cuda graph failed: CUDA out of memory. Tried to allocate 1.20 GiB. Possible solutions: 1. set --mem-fraction-static to a smaller value (e.g., 0.8 or 0.7)",
        cues=("graph failed", "graphs failed", "graph capture failed"), rank=0, memory=True,
    ),
    row(
        "S92", "memory-unbalanced", r"memory capacity is unbalanced",
        plain("The GPUs of one server have unequal memory free: another process holds part of one of them.", "end the other process, or leave that GPU out with CUDA_VISIBLE_DEVICES"),
        "ValueError: The memory capacity is unbalanced. Some GPUs may be occupied by other processes. pre_model_load_memory=38.1, local_gpu_memory=78.9, local_gpu_memory * 0.9=71.0",
        cues=("capacity is unbalanced",), rank=0,
    ),
    row(
        "S93", "prefill-too-large", r"Not enough memory to handle (?P<tokens>[\d,]+) (?:total tokens with \d+ )?prefill tokens",
        _prefill,
        "RuntimeError: Not enough memory to handle 16384 prefill tokens. You need to decrease `--max-batch-prefill-tokens`",
        cues=("prefill tokens",), rank=0, memory=True,
    ),
    row(
        "S94", "one-request-does-not-fit",
        r"`?max_total_tokens`? must be <= .*?max_batch_total_tokens.*?Given: (?P<asked>\d+) and (?P<there>\d+)|Cannot infer `max_batch_total_tokens`|model.{0,30}(?:max_total_tokens|max_batch_total_tokens).{0,40}(?:exceeds|too large)",
        lambda groups, _: Said(
            "One request of max_total_tokens does not fit into the KV cache.",
            (f"{groups['asked']} tokens are asked for and {groups['there']} fit.",) if groups.get("there") else (),
            Change(f"--max-total-tokens {groups['there']}", "max-total-tokens", groups["there"]) if groups.get("there") else Change("lower --max-total-tokens"),
        ),
        'Error: ArgumentValidation("`max_total_tokens` must be <= `max_batch_total_tokens`. Given: 32768 and 21600")',
        cues=("max_total_tokens", "max_batch_total_tokens"), rank=0, memory=True,
    ),
    row(
        "S95", "cache-too-small",
        r"(?:[Ii]nsufficient|[Nn]ot enough|No enough) (?:GPU )?memory (?:to allocate|for|available for)(?: the)?(?: paged)? ?(?:KV|kv|k/v)[- _]?cache|max[_ ]tokens in paged (?:KV|kv) cache.{0,40}(?:too small|insufficient)|kv cache.{0,60}too small to hold|"
        r"Impossible to fit (?:any|even one) sequence|free_gpu_memory_fraction.{0,60}(?:too (?:small|low|large|high)|out of range)",
        plain("The KV cache is too small for one sequence of the length that is allowed.", "lower max_seq_len, or raise kv_cache_config.free_gpu_memory_fraction"),
        "[TensorRT-LLM][ERROR] Insufficient memory for KV cache: max tokens in paged KV cache (512) is too small to hold one sequence of 4096 tokens",
        "RuntimeError: Impossible to fit any sequence in kvCache",
        cues=("kv cache", "kv-cache", "kvcache", "impossible to fit", "free_gpu_memory_fraction"), rank=1, memory=True,
    ),
    row(
        "S96", "engine-of-another-card", r"engine plan file is (?:generated on an incompatible device|not compatible)|incompatible device, expecting compute (?P<needs>[\d.]+) got compute (?P<has>[\d.]+)|Failed to deserialize cuda engine",
        plain("The engine file was built for another card or another version of TensorRT.", "build the engine again on this card with this version"),
        "[TRT] [E] 6: The engine plan file is generated on an incompatible device, expecting compute 8.9 got compute 8.0, please rebuild.",
        cues=("engine plan file", "incompatible device", "deserialize cuda engine"), rank=0,
    ),
    row(
        "S97", "capacity-tight", r"No enough memory\. Update max_prefill_token_num ?= ?(?P<tokens>\d+)|No enough gpu memory for runtime",
        lambda groups, _: Said(
            "The memory left beside the cache is too small for a prefill of the usual size.",
            (f"The largest prefill was lowered to {groups['tokens']} tokens.",) if groups.get("tokens") else (),
            Change("--cache-max-entry-count 0.7", "cache-max-entry-count", "0.7"),
        ),
        "RuntimeError: No enough gpu memory for runtime.",
        cues=("no enough memory", "no enough gpu memory"), rank=0, memory=True, any_level=True, severity="warning",
    ),
    row(
        "S98", "request-larger-than-the-cache", r"cache out of memory, no request can be admitted",
        plain("The request at the head of the queue is larger than the whole KV cache, and is failed.", "--session-len lower than what the cache holds"),
        "[TM][ERROR] cache out of memory, no request can be admitted; failing head-of-line request",
        cues=("no request can be admitted",), rank=0, memory=True, any_level=True,
    ),
    row(
        "S99", "requests-lose-their-cache",
        r"is preempted by PreemptionMode|KV cache pool is full\. Retract requests|Preemptions: (?P<times_count>[1-9]\d*)|failed to find free space in the KV cache",
        lambda _, facts: Said(
            "Running requests lose their cache to others, and are computed again: the KV cache is full while it serves.",
            change=Change(f"--max-num-seqs {int(seqs) // 2}", "max-num-seqs", str(int(seqs) // 2)) if (seqs := facts.setting("max-num-seqs") or 0) >= 2 else Change("lower the requests at once (--max-num-seqs, --max-running-requests), or give the cache more memory"),
            unseen=("Whether it is often: vram diagnose --metrics or a trial counts them.",),
        ),
        "WARNING 12-01 19:08:14 [scheduler.py:1754] Sequence group cmpl-0 is preempted by PreemptionMode.RECOMPUTE mode because there is not enough KV cache space.",
        "[2026-01-02 10:00:00] KV cache pool is full. Retract requests. #retracted_reqs: 3, #new_tokens_gained: 912",
        cues=("preemptionmode", "retract requests", "preemptions:", "free space in the kv cache"), rank=2, memory=True, any_level=True, severity="warning",
    ),
)  # fmt: skip
