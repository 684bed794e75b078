"""An allocation on the GPU that failed: its sentence says who holds what, and the log how far the start had come."""

import re
from collections.abc import Mapping
from math import ceil
from typing import Final

from vramledger.diagnose.startup.error import Facts, Said, gib, row
from vramledger.diagnose.startup.more_room import twice_the_gpus
from vramledger.diagnose.startup.phases import AFTER_CACHE, LOADING, PROFILING, SERVING
from vramledger.diagnose.told import Change
from vramledger.frozen import frozen

_PARTS: Final = {
    "total": re.compile(r"total capacity of (?P<a>[\d.]+) (?P<u>[KMG]i?B)|(?P<a2>[\d.]+) (?P<u2>[KMG]i?B) total capacity"),
    "free": re.compile(r"of which (?P<a>[\d.]+) (?P<u>bytes|[KMG]i?B) is free|(?P<a2>[\d.]+) (?P<u2>bytes|[KMG]i?B) free"),
    "others": re.compile(r"Process \d+ has (?P<a>[\d.]+) (?P<u>[KMG]i?B) memory in use"),
    "ours": re.compile(r"this process has (?P<a>[\d.]+) (?P<u>[KMG]i?B) memory in use"),
    "held": re.compile(r"[Oo]f the allocated memory (?P<a>[\d.]+) (?P<u>[KMG]i?B) is allocated by PyTorch|(?P<a2>[\d.]+) (?P<u2>[KMG]i?B) already allocated"),
    "idle": re.compile(r"(?P<a>[\d.]+) (?P<u>bytes|[KMG]i?B) is reserved by PyTorch but unallocated"),
}  # fmt: skip
_SHARE: Final = 0.92
_ROOM: Final = 0.02  # of the card, beside what failed: the next allocation follows
_FRACTION: Final = "mem-fraction-static"


@frozen
class Parts:
    """What the sentence says, in GiB; None for what it does not."""

    asked: float | None
    total: float | None
    free: float | None
    others: float | None
    ours: float | None
    held: float | None
    idle: float | None


def parts_of(groups: Mapping[str, str]) -> Parts:
    """The figures of a failed allocation; `rest` is its line from the error on."""
    text = groups.get("rest") or ""
    found = {name: _part(regex, text) for name, regex in _PARTS.items()}
    return Parts(gib(groups.get("asked"), groups.get("asked_unit")), **found)


def _part(regex: re.Pattern[str], text: str) -> float | None:
    match = regex.search(text)
    if match is None:
        return None
    known = match.groupdict()
    return gib(known.get("a") or known.get("a2"), known.get("u") or known.get("u2"))


def _allocation(groups: Mapping[str, str], facts: Facts) -> Said:
    parts = parts_of(groups)
    said = tuple(_sentences(parts))
    if parts.others is not None and parts.others > 0.5 and parts.others > (parts.asked or 0):
        why = f"Another process holds {parts.others:.2f} GiB of this GPU, and the engine ran out of memory while {facts.phase}."
        return Said(
            why,
            said,
            Change(
                "end the other process on this GPU, or give the engine another one with CUDA_VISIBLE_DEVICES"
            ),
        )
    if parts.idle is not None and parts.asked is not None and parts.idle >= parts.asked:
        why = f"The memory is there but in pieces: PyTorch holds {parts.idle:.2f} GiB that nobody uses, and no piece is as large as what was asked for ({facts.phase})."
        return Said(why, said, Change("PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"))
    return Said(
        f"The GPU ran out of memory while {facts.phase}.",
        said,
        _change(parts, facts),
        _unseen(parts),
    )


def _sentences(parts: Parts) -> list[str]:
    said = []
    if parts.asked is not None:
        free = "" if parts.free is None else f" and {parts.free:.2f} GiB were free"
        card = "" if parts.total is None else f" on a card of {parts.total:.2f} GiB"
        said.append(f"{parts.asked:.2f} GiB were asked for{free}{card}.")
    if parts.held is not None:
        idle = "" if parts.idle is None else f", and keep {parts.idle:.2f} GiB that nobody uses"
        said.append(f"The engine's tensors hold {parts.held:.2f} GiB{idle}.")
    if parts.ours is not None and parts.held is not None and parts.ours > parts.held:
        outside = parts.ours - parts.held - (parts.idle or 0.0)
        said.append(
            f"{max(outside, 0):.2f} GiB of the process lie outside PyTorch (context, libraries, graphs)."
        )
    return said


def _unseen(parts: Parts) -> tuple[str, ...]:
    return (
        ()
        if parts.total is not None
        else ("How much the card has and who holds it: the line does not say.",)
    )


def _change(parts: Parts, facts: Facts) -> Change:
    """By how far the start had come: a smaller share once the cache stands, a smaller peak before, more GPUs for weights."""
    if facts.phase == LOADING:
        return twice_the_gpus(facts)
    if facts.engine == "sglang":
        return _smaller(facts, parts, _FRACTION, facts.setting(_FRACTION) or 0.88)
    if facts.phase == PROFILING:
        tokens = facts.setting("max-num-batched-tokens") or facts.reading("max_num_batched_tokens")
        half = str(max(int(tokens or 8192) // 2, 1024))
        return Change(f"--max-num-batched-tokens {half}", "max-num-batched-tokens", half)
    if facts.phase in AFTER_CACHE or facts.phase == SERVING:
        share = facts.setting("gpu-memory-utilization") or facts.reading("utilization") or _SHARE
        return _smaller(facts, parts, "gpu-memory-utilization", share)
    return twice_the_gpus(facts)


def _smaller(_: Facts, parts: Parts, flag: str, share: float) -> Change:
    """The share less what was missing and some room, in whole hundredths."""
    missing = 0.0
    if parts.asked is not None and parts.total:
        missing = max(parts.asked - (parts.free or 0.0), 0.0) / parts.total
    wanted = max(share - ceil(100 * (missing + _ROOM)) / 100, 0.1)
    return Change(f"--{flag} {wanted:.2f}", flag, f"{wanted:.2f}")


def _loading(_: Mapping[str, str], facts: Facts) -> Said:
    parts = parts_of(facts.oom)
    said = (
        *_sentences(parts),
        "The utilization has no part in it: the weights themselves do not fit beside what is on the card.",
    )
    held = parts.others
    if held is not None and held > 0.5:
        return Said(
            f"The weights do not fit: another process holds {held:.2f} GiB of the card.",
            said,
            Change(
                "end the other process on this GPU, or give the engine another one with CUDA_VISIBLE_DEVICES"
            ),
        )
    return Said(
        "The weights do not fit on the card.",
        said,
        twice_the_gpus(facts),
        (
            "Whether a smaller precision of the model is an option: it halves or quarters the weights.",
        ),
    )


def _device(groups: Mapping[str, str], facts: Facts) -> Said:
    return Said(
        f"The GPU's driver had no memory left while {facts.phase}.",
        tuple(_sentences(parts_of(groups))),
        _change(parts_of({}), facts),
        _unseen(parts_of({})),
    )


ROWS: Final = (
    row(
        "S08", "weights-do-not-fit", r"Failed to load model ?[-:] ?not enough GPU memory",
        _loading,
        "torch.OutOfMemoryError: Failed to load model - not enough GPU memory. Try lowering --gpu-memory-utilization to free memory for weights, increasing --tensor-parallel-size, or using --quantization.",
        cues=("not enough gpu memory",), rank=0, memory=True,
    ),
    row(
        "S15", "out-of-gpu-memory",
        r"(?P<rest>(?:CUDA|HIP|XPU|NPU) out of memory\. Tried to allocate (?P<asked>[\d.]+) ?(?P<asked_unit>bytes|[KMG]i?B).*)",
        _allocation,
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.91 GiB. GPU 0 has a total capacity of 23.57 GiB of which 1.20 GiB is free. Including non-PyTorch memory, this process has 22.30 GiB memory in use. Of the allocated memory 21.10 GiB is allocated by PyTorch, and 320.00 MiB is reserved by PyTorch but unallocated.",
        "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 224.00 MiB (GPU 0; 23.69 GiB total capacity; 22.50 GiB already allocated; 112.50 MiB free; 22.80 GiB reserved in total by PyTorch)",
        cues=("out of memory. tried to allocate",), rank=1, memory=True,
    ),
    row(
        "S16", "out-of-gpu-memory",
        r"CUDA error: out of memory|CUDA_ERROR_OUT_OF_MEMORY|cudaErrorMemoryAllocation|hipErrorOutOfMemory|\bcuMemCreate\b.*out of memory",
        _device,
        "RuntimeError: CUDA error: out of memory",
        cues=("error: out of memory", "out_of_memory", "cudaerrormemoryallocation", "hiperroroutofmemory", "cumemcreate"), rank=1, memory=True,
    ),
)  # fmt: skip
