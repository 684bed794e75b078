"""What a body of /v1/chat/completions or /v1/completions asks."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final

from vramledger.frozen import frozen
from vramledger.rehearse.api.body import count, value
from vramledger.rehearse.api.prompts import chat_prompt, text_prompt
from vramledger.rehearse.api.refusal import Refusal
from vramledger.rehearse.text.tokenizer import SIZE

_DEFAULT_TEXT: Final = 16  # tokens of a completion that states none
_MOST_STOPS: Final = 16
_NOTHING: Final[dict[str, Any]] = {}
_LEFT_OUT: Final = (
    "best_of",
    "echo",
    "functions",
    "prompt_embeds",
    "prompt_logprobs",
    "response_format",
    "structured_outputs",
    "suffix",
    "tools",
    "use_beam_search",
)

_AS_IF_ABSENT: Final[tuple[Any, ...]] = (None, False, 0, "", [], {}, {"type": "text"})


@frozen
class Served:
    """What requests are checked against."""

    model_names: tuple[str, ...]
    max_model_len: int
    vocabulary: int  # of the model; the rehearsal's own tokens are fewer


@frozen
class Asked:
    """One request. `max_tokens` is what the context leaves at most; `salt` keeps its prefixes apart from others."""

    chat: bool
    model: str
    prompt: Sequence[int]
    max_tokens: int
    min_tokens: int = 0
    ignore_eos: bool = False
    stream: bool = False
    usage: bool = False  # at the end of a stream
    usage_always: bool = False  # in every chunk of it too
    stop: tuple[str, ...] = ()
    seed: int | None = None
    logprobs: bool = False
    salt: str = ""
    priority: int = 0


def asked_of(body: Mapping[str, Any], served: Served, *, chat: bool) -> Asked:
    """The request in a body.

    Raises:
        Refusal: as vLLM refuses it, or with what is not rehearsed.
    """
    model = value(body, "model", str, served.model_names[0])
    refuse_model(model, served)
    _refuse_left_out(body)
    prompt = chat_prompt(body) if chat else text_prompt(body, max(served.vocabulary, SIZE))
    options = value(body, "stream_options", dict, _NOTHING)
    stream = value(body, "stream", bool, default=False)
    if options and not stream:
        raise Refusal("Stream options can only be defined when `stream=True`.")
    always = value(options, "continuous_usage_stats", bool, default=False)
    most = _max_tokens(body, len(prompt), served.max_model_len, chat=chat)
    least = count(body, "min_tokens", 0)
    if least > most:
        raise Refusal(f"min_tokens must be less than or equal to max_tokens={most}, got {least}.")
    return Asked(
        chat,
        model,
        prompt,
        most,
        min_tokens=least,
        ignore_eos=value(body, "ignore_eos", bool, default=False),
        stream=stream,
        usage=value(options, "include_usage", bool, default=False) or always,
        usage_always=always,
        stop=_stops(body.get("stop")),
        seed=None if body.get("seed") is None else value(body, "seed", int, 0),
        logprobs=_logprobs(body, chat=chat),
        salt=value(body, "cache_salt", str, ""),
        priority=value(body, "priority", int, 0),
    )


def refuse_model(model: str, served: Served) -> None:
    """Raises `Refusal` for a model that is not served."""
    if model not in served.model_names:
        raise Refusal(f"The model `{model}` does not exist.", HTTPStatus.NOT_FOUND, "model")


def _refuse_left_out(body: Mapping[str, Any]) -> None:
    if count(body, "n", 1, least=1) > 1:
        raise Refusal("Only n=1 is rehearsed.", param="n")
    for name in _LEFT_OUT:
        if body.get(name) not in _AS_IF_ABSENT:
            raise Refusal(f"{name} is not rehearsed; leave it out.", param=name)


def _max_tokens(body: Mapping[str, Any], prompt: int, context: int, *, chat: bool) -> int:
    """Tokens of the answer at most: as asked, by default all that the context leaves a chat."""
    name = "max_completion_tokens" if body.get("max_completion_tokens") else "max_tokens"
    left = context - prompt
    asked = count(body, name, max(left, 0) if chat else min(_DEFAULT_TEXT, max(left, 1)), least=0)
    if left < 1 or asked > left:
        raise Refusal(
            f"This model's maximum context length is {context} tokens. However, you requested {asked} output "
            f"tokens and your prompt contains at least {prompt} input tokens, for a total of at least "
            f"{prompt + asked} tokens. Please reduce the length of the input prompt or the number of requested "
            "output tokens.",
            param="input_tokens",
        )
    if asked < 1:
        raise Refusal(f"{name} must be at least 1, got {asked}.", param=name)
    return asked


def _stops(stop: Any) -> tuple[str, ...]:
    stops = [] if stop is None else [stop] if isinstance(stop, str) else stop
    if not isinstance(stops, list) or not all(isinstance(one, str) and one for one in stops):
        raise Refusal(
            "stop must be a string or a list of strings that are not empty.", param="stop"
        )
    if len(stops) > _MOST_STOPS:
        raise Refusal(f"stop may hold up to {_MOST_STOPS} strings.", param="stop")
    return tuple(stops)


def _logprobs(body: Mapping[str, Any], *, chat: bool) -> bool:
    if chat:
        return value(body, "logprobs", bool, default=False)
    return body.get("logprobs") is not None and count(body, "logprobs", 0) >= 0
