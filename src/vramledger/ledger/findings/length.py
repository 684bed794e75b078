"""Context length against the requests that come."""

from dataclasses import replace
from typing import Final

from vramledger.engine.finding import Severity
from vramledger.engine.vllm.activation import activation_peak
from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.overheads import runner_buffers
from vramledger.ledger.findings.rule import AccountRule, Effect
from vramledger.ledger.startup import Startup
from vramledger.units import GIB, format_gib

_SHORT: Final = 2048  # batched tokens of chunked prefill
_FAR_ABOVE: Final = 4


def _prompt_sized_profile(start: Startup) -> Effect | None:
    """Without chunked prefill the profile runs a prompt of full length."""
    deployment = start.deployment
    length, tokens = deployment.max_model_len.value, deployment.max_num_batched_tokens.value
    chunked = deployment.enable_chunked_prefill.value
    if start.pool is None or chunked or length is None or tokens > length or tokens <= _SHORT:
        return None
    cost = (_peak(deployment) - _peak(_batching(deployment, _SHORT))) / GIB
    return Effect(
        f"Without chunked prefill the profile runs one prompt of max_model_len {length}, so the "
        f"activation peak grows with the length: {format_gib(cost)} more than with "
        f"--enable-chunked-prefill and {_SHORT} batched tokens, which leaves that much more cache.",
        gib=-cost,
        tokens=start.tokens_in(-cost),
    )


def _far_above_need(start: Startup) -> Effect | None:
    """A context limit far above the stated requests, and what it costs on this engine."""
    need, pool = start.request_tokens, start.pool
    if need is None or pool is None or pool.max_model_len < _FAR_ABOVE * need:
        return None
    short = _limited(start.deployment, pool.max_model_len, need)
    tables = (runner_buffers(start.deployment) - runner_buffers(short)) / GIB
    reserve = (_peak(start.deployment) - _peak(short)) / GIB
    inside = f"{format_gib(reserve)} of activation peak" if reserve > 0 else "no activation peak"
    return Effect(
        f"max_model_len {pool.max_model_len} is {pool.max_model_len / need:.0f} times the stated "
        f"requests of {need} tokens. On a paged engine it reserves no cache: here it costs the "
        f"check that one such request fits, {format_gib(tables)} of block tables and {inside}.",
        gib=-(tables + reserve),
        tokens=start.tokens_in(-reserve) if reserve > 0 else 0,
    )


def _no_room_for_the_answer(start: Startup) -> Effect | None:
    """max_model_len bounds the prompt and the answer together."""
    need, pool = start.request_tokens, start.pool
    if need is None or pool is None or need <= pool.max_model_len:
        return None
    return Effect(
        f"max_model_len {pool.max_model_len} bounds the prompt and the answer together, and the "
        f"stated requests take {need} tokens: answers are cut {need - pool.max_model_len} tokens "
        "short, and a prompt as long as the limit is refused. Raise --max-model-len.",
        tokens=pool.max_model_len - need,
    )


def _batching(deployment: Deployment, tokens: int) -> Deployment:
    setting = replace(deployment.max_num_batched_tokens, value=tokens)
    return replace(deployment, max_num_batched_tokens=setting)


def _limited(deployment: Deployment, length: int, need: int) -> Deployment:
    """The deployment with a shorter limit; a batch that follows the limit follows it still."""
    follows = not deployment.enable_chunked_prefill.value
    tokens = deployment.max_num_batched_tokens.value
    shorter = replace(deployment, max_model_len=replace(deployment.max_model_len, value=need))
    return _batching(shorter, max(need, _SHORT)) if follows and tokens == length else shorter


def _peak(deployment: Deployment) -> int:
    stages = range(deployment.layout.pp)
    return max(activation_peak(deployment, stage).bytes for stage in stages)


RULES: Final = (
    AccountRule(
        "A03",
        Severity.SILENT,
        _prompt_sized_profile,
        "the profile runs max_num_batched_tokens, which is then max_model_len",
    ),
    AccountRule("A04", Severity.SILENT, _far_above_need, "block tables of four bytes an entry"),
    AccountRule(
        "A07", Severity.SILENT, _no_room_for_the_answer, "the front end's check of prompt lengths"
    ),
)
