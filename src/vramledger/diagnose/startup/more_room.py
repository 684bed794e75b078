"""Changes that leave more memory for the KV cache: a larger share, fewer tokens a step, more GPUs."""

from math import ceil
from typing import Final

from vramledger.diagnose.startup.error import Facts, number
from vramledger.diagnose.told import Change

MOST_SHARE: Final = 0.97  # a larger utilization leaves nothing for what is allocated later
_DEFAULT_SHARE: Final = 0.92


def more_share(facts: Facts, missing_gib: float) -> Change | None:
    """The utilization that has so much more for the cache; None where it would be too large, or the card is not known."""
    total = facts.reading("total_gib") or number(facts.oom.get("total_gib"))
    if total is None or total <= 0:
        return None
    share = (
        facts.setting("gpu-memory-utilization") or facts.reading("utilization") or _DEFAULT_SHARE
    )
    wanted = ceil(100 * (share + missing_gib / total)) / 100
    if not share < wanted <= MOST_SHARE:
        return None
    return Change(
        f"--gpu-memory-utilization {wanted:.2f}", "gpu-memory-utilization", f"{wanted:.2f}"
    )


def fewer_batch_tokens(facts: Facts) -> Change:
    """A smaller activation peak, where the token budget is known; else twice the GPUs."""
    tokens = facts.setting("max-num-batched-tokens") or facts.reading("max_num_batched_tokens")
    if tokens is not None and tokens >= 4096:
        half = str(int(tokens) // 2)
        return Change(f"--max-num-batched-tokens {half}", "max-num-batched-tokens", half)
    return twice_the_gpus(facts)


def twice_the_gpus(facts: Facts) -> Change:
    """The split over twice as many GPUs."""
    size = int(facts.setting("tensor-parallel-size") or facts.setting("tp_size") or 1)
    wanted = str(2 * max(size, 1))
    flag = "tp-size" if facts.engine == "sglang" else "tensor-parallel-size"
    return Change(f"--{flag} {wanted}", flag, wanted)
