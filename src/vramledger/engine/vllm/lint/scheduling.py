"""Batch settings that contradict each other."""

from typing import Final

from vramledger.engine.finding import Severity
from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.lint.rule import Rule, values_of
from vramledger.engine.vllm.model_traits import traits_of

_SMALL_BATCH: Final = 256
_MANY_TOKENS: Final = 8192
_LOW_LATENCY: Final = ("deepep_low_latency", "nixl_ep")


def _length(d: Deployment) -> int:
    """The length checks run with: the derived one while it is to be fitted to memory."""
    return d.max_model_len.value or d.derived_model_len


def _whole_prompt(d: Deployment) -> str | None:
    tokens = d.max_num_batched_tokens.value
    if d.enable_chunked_prefill.value or not _length(d) or tokens >= _length(d):
        return None
    return (
        f"Chunked prefill is off and max_num_batched_tokens ({tokens}) is below max_model_len "
        f"({_length(d)}), so long prompts could never run; vLLM refuses to start. Raise the "
        "former or lower the latter."
    )


def _fewer_tokens_than_rows(d: Deployment) -> str | None:
    tokens, rows = d.max_num_batched_tokens.value, d.max_num_seqs.value
    if tokens >= rows:
        return None
    return (
        f"max_num_batched_tokens ({tokens}) is below max_num_seqs ({rows}); vLLM refuses to "
        "start, because every running request needs a token a step."
    )


def _more_tokens_than_can_be(d: Deployment) -> str | None:
    tokens, rows = d.max_num_batched_tokens.value, d.max_num_seqs.value
    if not _length(d) or tokens <= rows * _length(d):
        return None
    return (
        f"max_num_batched_tokens ({tokens}) is more than max_num_seqs x max_model_len "
        f"({rows * _length(d)}); the rest of the activation memory it reserves is never used."
    )


def _active_above_rows(d: Deployment) -> str | None:
    active = values_of(d).integer("max-num-active-seqs")
    if active is None or active <= d.max_num_seqs.value:
        return None
    return (
        f"max_num_active_seqs ({active}) is above max_num_seqs ({d.max_num_seqs.value}); vLLM "
        "refuses to start."
    )


def _low_latency_default(d: Deployment) -> str | None:
    backend = values_of(d).text("all2all-backend")
    if backend not in _LOW_LATENCY or d.max_num_batched_tokens.given:
        return None
    if d.layout.dp <= 1 or not d.layout.expert_parallel:
        return None
    return (
        f"With {backend} and data-parallel experts max_num_batched_tokens defaults to "
        f"{_SMALL_BATCH}, far below the usual default; state it if prompts are long."
    )


def _encoder_decoder(d: Deployment) -> str | None:
    if not traits_of(d.model).encoder_decoder or not d.rules.v1:
        return None
    return "Encoder-decoder models run without chunked prefill and without prefix caching."


def _async_refused(d: Deployment) -> str | None:
    if not d.async_scheduling.given or not d.async_scheduling.value:
        return None
    if d.executor in ("uni", "mp", "external_launcher"):
        return None
    return (
        f"--async-scheduling does not go with the {d.executor} executor; vLLM refuses to start. "
        "Leave it out and vLLM decides."
    )


def _prefix_caching_pooling(d: Deployment) -> str | None:
    caching = d.enable_prefix_caching
    if not traits_of(d.model).pooling or not (caching.given and caching.value):
        return None
    return "Prefix caching is asked for a pooling model, which may not support it."


def _draft_lowers_batch(d: Deployment) -> str | None:
    tokens = d.max_num_batched_tokens.value
    if d.speculation is None or tokens >= _MANY_TOKENS:
        return None
    return (
        f"Speculative decoding takes rows from max_num_batched_tokens ({tokens}); vLLM advises "
        f"at least {_MANY_TOKENS}."
    )


RULES: Final = (
    Rule("L07", Severity.ERROR, _whole_prompt, "config/scheduler.py"),
    Rule("L08", Severity.ERROR, _fewer_tokens_than_rows, "config/scheduler.py"),
    Rule("L09", Severity.WARNING, _more_tokens_than_can_be, "config/scheduler.py", since=9),
    Rule("L11", Severity.ERROR, _active_above_rows, "config/scheduler.py", since=31),
    Rule("L23", Severity.WARNING, _low_latency_default, "engine/arg_utils.py", since=20),
    Rule("L41", Severity.WARNING, _draft_lowers_batch, "config/vllm.py", since=20),
    Rule("L44", Severity.ERROR, _async_refused, "config/vllm.py", since=11),
    Rule("L52", Severity.WARNING, _prefix_caching_pooling, "engine/arg_utils.py", since=11),
    Rule("L53", Severity.WARNING, _encoder_decoder, "config/scheduler.py", since=10),
)
