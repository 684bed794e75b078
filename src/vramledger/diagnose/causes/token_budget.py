"""Token budget: prompts take all the tokens that a step may compute, and others wait although KV blocks and places are free."""

from collections.abc import Sequence
from math import isnan

from vramledger.diagnose.causes.queue_words import held_sign, queue_sign, share_sign
from vramledger.diagnose.hypothesis import Cause, NextChange
from vramledger.diagnose.picture import Picture
from vramledger.diagnose.seen.waiting import SMALLEST_BUDGET, TOKENS
from vramledger.diagnose.sign import Sign, ramp


def _signs(picture: Picture) -> Sequence[Sign]:
    return (
        queue_sign(picture),
        held_sign(
            picture, TOKENS, "with KV blocks and places free, so that the steps' tokens are spent"
        ),
        share_sign(picture, TOKENS),
        _spent(picture),
        _room(picture.waiting.kv_while_waiting),
        _prompts(picture),
    )


def _spent(picture: Picture) -> Sign:
    seen = picture.waiting
    setting = picture.evidence.setting
    if isnan(seen.budget) and setting.engine == "vllm" and not isnan(seen.tokens_per_step):
        least = ramp(seen.tokens_per_step / SMALLEST_BUDGET, 0.3, 0.8)
        text = f"A step computes {seen.tokens_per_step:,.0f} tokens while requests wait; what it may is not known, and vLLM takes {SMALLEST_BUDGET:,} or more of itself from 0.6.4 on."
        return Sign(text, least)
    if isnan(seen.tokens_per_step) or isnan(seen.budget):
        return Sign(
            "The tokens of a step, or the budget for them (max_num_batched_tokens), are not known.",
            None,
        )
    share = seen.tokens_per_step / seen.budget
    text = f"A step computes {seen.tokens_per_step:,.0f} tokens while requests wait, of {seen.budget:,.0f} that it may."
    return Sign(text, ramp(share, 0.3, 0.8))


def _room(usage: float) -> Sign:
    if isnan(usage):
        return Sign("The use of the KV cache while requests wait was not seen.", None, weight=0.5)
    return Sign(f"{1 - usage:.0%} of the KV cache is free while requests wait.", ramp(usage, 0.95, 0.7), weight=0.5)  # fmt: skip


def _prompts(picture: Picture) -> Sign:
    """Prompts against answers: a server that computes prompts most of the time is bound by them."""
    requests = picture.evidence.requests
    read, written = _sum(requests.input_tokens), _sum(requests["output_tokens_got"])
    if not len(requests):
        counted = picture.evidence.of
        read, written = (
            _sum(counted("prompt_tokens_per_s")),
            _sum(counted("generation_tokens_per_s")),
        )
    if not read or not written:
        return Sign("The lengths of prompts and answers were not seen.", None, weight=0.5)
    return Sign(f"There are {read / written:.1f} tokens of prompts for each of an answer.", ramp(read / written, 1.0, 12.0), weight=0.5)  # fmt: skip


def _sum(values: "object") -> float:
    import numpy as np

    return float(np.nansum(np.asarray(values, dtype=np.float64)))


def _change(picture: Picture) -> NextChange:
    budget = picture.evidence.setting.token_budget
    if budget is None:
        return NextChange(
            "Double max_num_batched_tokens, or add a replica: prompts are computed as fast as the steps allow."
        )
    return NextChange(
        f"Raise max_num_batched_tokens to {budget * 2:,}; where the GPU's compute is spent already, only more GPUs or fewer prompt tokens (prefix cache) help.",
        "max-num-batched-tokens",
        str(budget * 2),
    )


CAUSE = Cause(
    "D03", TOKENS, "Token budget, prefill-bound", _signs, _change, waits=True,
)  # fmt: skip
