"""vLLM's own refusals for want of memory: its sentences name what is needed and what is there."""

from collections.abc import Mapping
from dataclasses import replace
from math import ceil, floor
from typing import Final

from vramledger.diagnose.startup.error import Facts, Said, number, plain, row
from vramledger.diagnose.startup.more_room import MOST_SHARE, fewer_batch_tokens, more_share
from vramledger.diagnose.startup.one_request import one_request, one_request_by_tokens
from vramledger.diagnose.told import Change
from vramledger.units import GIB

_BYTES: Final = 1e6  # no card has so many GiB
_ROOM_GIB: Final = 0.25  # beside what was missing, so that a cache of some use is left


def _free_memory(groups: Mapping[str, str], facts: Facts) -> Said:
    """Less is free at the start than the utilization asks for."""
    free, total, share, asked = (
        number(groups.get(name)) for name in ("free_gib", "total_gib", "share", "asked_gib")
    )
    if free is None or not total or share is None or asked is None:
        return Said("Less memory is free at the start than the utilization asks for.")
    fits = floor(100 * free / total) / 100
    taken = total - free
    where = "of the machine's memory is" if "node" in groups.get("where", "") else "of this GPU is"
    said: tuple[str, ...] = (
        f"Utilization {share:g} of {total:g} GiB asks for {asked:g} GiB; {free:g} GiB are free, so {max(asked - free, 0):.2f} GiB are missing.",
        f"{taken:.2f} GiB {where} taken by others before the engine begins (driver, other processes, an earlier server that has not ended).",
    )
    if facts.setting("kv-cache-memory-bytes"):
        said += ("The check is made even though --kv-cache-memory-bytes sets the cache by hand.",)
    change = (
        Change(f"--gpu-memory-utilization {fits:.2f}", "gpu-memory-utilization", f"{fits:.2f}")
        if fits > 0
        else None
    )
    unseen = (
        "Which process holds the memory; nvidia-smi or vram probe would say. If it need not be there, end it and leave the utilization.",
    )
    return Said(
        "Less memory is free at the start than the utilization asks for.", said, change, unseen
    )


def _no_cache(_: Mapping[str, str], facts: Facts) -> Said:
    """Weights and activations leave nothing."""
    left = facts.reading("kv_cache_gib")
    said = []
    for name, text in (
        ("weights_gib", "weights"),
        ("activation_gib", "the activation peak"),
        ("budget_gib", "the budget"),
    ):
        value = facts.reading(name)
        if value is not None:
            said.append(f"{value:.2f} GiB are {text}.")
    if left is None:
        unseen = ("How much is missing: the log has no 'Available KV cache memory' line.",)
        change = more_share(facts, 1.0) or fewer_batch_tokens(facts)
        return Said(
            "Weights and activations alone take the whole budget, so that nothing is left for the KV cache.",
            tuple(said),
            change,
            unseen,
        )
    missing = _ROOM_GIB - left
    said.append(
        f"{left:.2f} GiB were left for the cache, so at least {-left:.2f} GiB are missing."
        if left < 0
        else f"{left:.2f} GiB were left for the cache."
    )
    change = more_share(facts, missing) or fewer_batch_tokens(facts)
    return Said(
        "Weights and activations alone take the whole budget, so that nothing is left for the KV cache.",
        tuple(said),
        change,
    )


def _profiling(groups: Mapping[str, str], _: Facts) -> Said:
    before, now = _as_gib(groups.get("before_gib")), _as_gib(groups.get("now_gib"))
    said: tuple[str, ...] = ()
    if before is not None and now is not None:
        used = groups.get("kind", "").lower() == "used"
        gone = before - now if used else now - before
        what = "in use" if used else "free"
        said = (
            f"{before:.2f} GiB were {what} at the start and {now:.2f} GiB after the profile run: {max(gone, 0):.2f} GiB were let go meanwhile by somebody else.",
        )
    return Said(
        "Another process let go of GPU memory while the engine measured its own, so that the measurement is void.",
        said,
        Change(
            "start the same command again once the other process has ended or settled; start servers of one GPU one after the other"
        ),
    )


def _as_gib(text: str | None) -> float | None:
    """Old versions print bytes without a unit."""
    found = number(text)
    return found / GIB if found is not None and found >= _BYTES else found


def _held(groups: Mapping[str, str], _: Facts) -> Said:
    """What a weight server holds is more than the budget: the utilization from which the budget covers it."""
    held, share, asked = (number(groups.get(name)) for name in ("held_gib", "share", "asked_gib"))
    message = "Weights that another process holds on this GPU take more than the budget."
    less = Change(
        "have the weight server hold less on this GPU (a smaller precision, a larger split)"
    )
    if held is None or not share or not asked:
        unseen = ("How much is held, and of how much: the line does not say.",)
        return Said(message, (), Change("raise --gpu-memory-utilization, or have the weight server hold less"), unseen)  # fmt: skip
    total = asked / share
    said = f"{held:g} GiB are held and utilization {share:g} of {total:.2f} GiB allows {asked:g} GiB: {held - asked:.2f} GiB are missing before anything is left for the KV cache."
    wanted = ceil(100 * (held + _ROOM_GIB) / total) / 100
    if wanted > MOST_SHARE:
        return Said(message, (said, f"Utilization {wanted:.2f} would be needed, which leaves nothing for what is allocated later."), less)  # fmt: skip
    return Said(message, (said,), Change(f"--gpu-memory-utilization {wanted:.2f}", "gpu-memory-utilization", f"{wanted:.2f}"))  # fmt: skip


def _not_one_token(groups: Mapping[str, str], facts: Facts) -> Said:
    """The length was left to the engine, and none fits."""
    found = _no_cache(groups, facts)
    return replace(
        found,
        message="The engine was to choose the length by itself, and not even one token fits into what weights and activations leave.",
    )


def _sampler(groups: Mapping[str, str], facts: Facts) -> Said:
    rows = int(number(groups.get("rows")) or 0)
    wanted = str(max(rows // 2, 1))
    total = facts.reading("total_gib")
    said = [
        f"The warm-up samples {rows} rows at once, each a row of logits over the whole vocabulary in 32 bits, more than once."
    ]
    if total:
        said.append(f"The card has {total:.2f} GiB, and the budget was taken already.")
    return Said(
        f"The {groups['what']} ran out of memory while warming up with {rows} requests.",
        tuple(said),
        Change(f"--max-num-seqs {wanted}", "max-num-seqs", wanted),
    )


def _state_blocks(groups: Mapping[str, str], _: Facts) -> Said:
    asked, there = int(number(groups["asked"]) or 0), int(number(groups["blocks"]) or 0)
    said = (
        f"Each running sequence keeps one block of recurrent state: {asked} sequences are allowed and {there} blocks are there.",
    )
    return Said(
        "The model keeps recurrent state, and there are fewer blocks for it than sequences.",
        said,
        Change(f"--max-num-seqs {there}", "max-num-seqs", str(there)) if there else None,
    )


def _swap(groups: Mapping[str, str], _: Facts) -> Said:
    swap, ram = number(groups.get("swap_gib")), number(groups.get("host_gib"))
    said = (
        (f"{swap:g} GiB of {ram:g} GiB of host memory are asked for; more than 70 % is refused.",)
        if swap and ram
        else ()
    )
    return Said(
        "The swap space asked for is too large for the host's memory.",
        said,
        Change("--swap-space 0", "swap-space", "0"),
    )


ROWS: Final = (
    row(
        "S01", "one-request-does-not-fit",
        r"max(?:imum)? seq(?:uence)? len(?:gth)? \((?P<len_tokens>[\d,]+)\),? ?\(?(?P<needed_gib>[\d.]+) Gi?B (?:of )?KV cache (?:is|are) needed,?"
        r".*?available KV cache memory \((?P<there_gib>-?[\d.]+) Gi?B\)(?:.*?estimated maximum model length is (?P<largest_tokens>[\d,]+))?",
        one_request,
        "ValueError: To serve at least one request with the model's max seq len (131072), (16.0 GiB KV cache is needed, which is larger than the available KV cache memory (3.84 GiB). Based on the available memory, the estimated maximum model length is 31456.",
        "ValueError: To serve at least one request with the models's max seq len (131072), (24.00 GiB KV cache is needed, which is larger than the available KV cache memory (9.97 GiB). Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.",
        cues=("kv cache is needed", "kv cache are needed", "kv cache memory is needed"), rank=0, memory=True,
    ),
    row(
        "S02", "one-request-does-not-fit",
        r"max seq len \((?P<len_tokens>\d+)\) is larger than the maximum number of tokens that can be stored in (?:the )?KV cache \((?P<kv_tokens>\d+)\)",
        one_request_by_tokens,
        "ValueError: The model's max seq len (32768) is larger than the maximum number of tokens that can be stored in KV cache (21872). Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.",
        cues=("is larger than the maximum number of tokens",), rank=0, memory=True,
    ),
    row(
        "S03", "memory-not-free-at-start",
        r"(?:Free|Available) memory on (?P<where>device(?: \S+)?|node \d+) \((?P<free_gib>[\d.]+)/(?P<total_gib>[\d.]+) Gi?B\) on startup is less than "
        r"(?:the )?desired \w+ memory utilization \((?P<share>[\d.]+), (?P<asked_gib>[\d.]+) Gi?B\)",
        _free_memory,
        "ValueError: Free memory on device cuda:0 (9.21/79.11 GiB) on startup is less than desired GPU memory utilization (0.92, 72.78 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes.",
        cues=("on startup is less than",), rank=0, memory=True,
    ),
    row(
        "S04", "held-weights-over-budget",
        r"Externally held weights on device(?: \S+)? \((?P<held_gib>[\d.]+) Gi?B\).*?utilization \((?P<share>[\d.]+), (?P<asked_gib>[\d.]+) Gi?B\)|Externally held weights on device|less than the engine's budget after excluding",
        _held,
        "ValueError: Externally held weights on device cuda:0 (70.12 GiB) exceed the desired GPU memory utilization (0.85, 67.24 GiB).",
        cues=("externally held weights", "budget after excluding"), rank=0, memory=True,
    ),
    row(
        "S05", "memory-changed-while-profiling",
        r"Error in memory profiling(?:.*?[Ii]nitial (?P<kind>used|free) memory (?P<before_gib>[\d.]+)(?: Gi?B)?.*?(?:current|currently used) (?:free )?memory:? (?P<now_gib>[\d.]+))?|not properly cleaned up before initializing",
        _profiling,
        "AssertionError: Error in memory profiling. Initial free memory 70.12 GiB, current free memory 75.30 GiB. This happens when other processes sharing the same container release GPU memory while vLLM is profiling during initialization.",
        cues=("error in memory profiling", "not properly cleaned up"), rank=0,
    ),
    row(
        "S06", "nothing-left-for-the-cache",
        r"No available memory for the cache blocks",
        _no_cache,
        "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.",
        cues=("no available memory for the cache",), rank=0, memory=True,
    ),
    row(
        "S07", "no-length-fits", r"Cannot auto-fit max_model_len",
        _not_one_token,
        "ValueError: Cannot auto-fit max_model_len: not enough GPU memory available to serve even a single token.",
        cues=("cannot auto-fit",), rank=0, memory=True,
    ),
    row(
        "S09", "sampler-out-of-memory",
        r"out of memory occurred when warming up (?P<what>sampler|pooler) with (?P<rows>\d+) dummy",
        _sampler,
        "RuntimeError: CUDA out of memory occurred when warming up sampler with 1024 dummy requests. Please try lowering `max_num_seqs` or `gpu_memory_utilization` when initializing the engine.",
        cues=("when warming up",), rank=0, memory=True,
    ),
    row(
        "S10", "more-sequences-than-state-blocks",
        r"max_num_seqs \((?P<asked>\d+)\) exceeds (?:the )?available Mamba cache blocks \((?P<blocks>\d+)\)",
        _state_blocks,
        "ValueError: max_num_seqs (1024) exceeds available Mamba cache blocks (312). Each decode sequence requires one Mamba cache block.",
        cues=("mamba cache blocks",), rank=0, memory=True,
    ),
    row(
        "S11", "swap-space-too-large",
        r"Too large swap space\.? ?(?:(?P<swap_gib>[\d.]+) Gi?B out of the (?P<host_gib>[\d.]+) Gi?B)?",
        _swap,
        "ValueError: Too large swap space. 16.00 GiB out of the 15.60 GiB total CPU memory is allocated for the swap space.",
        cues=("too large swap space",), rank=0,
    ),
    row(
        "S12", "multimodal-reserve",
        r"frontend multimodal GPU decoding reserves (?P<reserved_gib>[\d.]+) Gi?B",
        plain("The decoding of images and videos on the GPU reserves {reserved_gib} GiB, which the KV cache would need.", "--limit-mm-per-prompt '{{\"image\": 1, \"video\": 0}}'", None),
        "ValueError: frontend multimodal GPU decoding reserves 4.00 GiB per GPU, which leaves no memory for the KV cache.",
        cues=("multimodal gpu decoding",), rank=0, memory=True,
    ),
    row(
        "S13", "block-size-clash",
        r"Aligned KV cache block size .*?is not supported by (?:the )?attention backend|block[_ ]size \(?(?P<size>\d+)\)? is not supported",
        plain("The block size that the model's layers share is none that the attention backend has.", "--kv-cache-dtype auto", "kv-cache-dtype", "auto"),
        "ValueError: Aligned KV cache block size 1056 is not supported by attention backend FLASHINFER.",
        cues=("aligned kv cache block size", "block size", "block_size"), rank=0,
    ),
    row(
        "S14", "cache-layout",
        r"KV cache layout .*?cannot express this model's mixed page sizes",
        plain("The layout of the KV cache cannot hold pages of different sizes, which this model has.", "VLLM_KV_CACHE_LAYOUT=BLHNC"),
        "ValueError: KV cache layout LBHNC cannot express this model's mixed page sizes.",
        cues=("mixed page sizes",), rank=0,
    ),
)  # fmt: skip
