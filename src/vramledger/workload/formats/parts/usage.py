"""Token counts as serving interfaces report them in a "usage" object.

OpenAI's prompt_tokens and input_tokens include cached ones, and completion_tokens include
reasoning (https://platform.openai.com/docs/api-reference/chat/object). Anthropic's input_tokens
leave out what its cache read and wrote
(https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching).
"""

from collections.abc import Mapping
from typing import Any, Final

from vramledger.frozen import frozen
from vramledger.workload.fields import optional_whole_number

_CACHE_READ: Final = "cache_read_input_tokens"
_CACHE_WRITTEN: Final = "cache_creation_input_tokens"


@frozen
class Usage:
    """Tokens of one request; None is "not reported"."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    thinking_tokens: int | None = None  # within output_tokens
    cached_tokens: int | None = None  # within input_tokens


def of_usage(usage: Mapping[str, Any]) -> Usage:
    """The counts of a usage object.

    Raises:
        RowProblem: a count is none.
    """
    output = _count(usage, "completion_tokens", "output_tokens")
    thinking = _detail(
        usage, "completion_tokens_details", "output_tokens_details", "reasoning_tokens"
    )
    cached = _detail(usage, "prompt_tokens_details", "input_tokens_details", "cached_tokens")
    read = _count(usage, _CACHE_READ)
    prompt = _count(usage, "prompt_tokens")
    if prompt is None:
        prompt = _count(usage, "input_tokens")
        if prompt is not None:
            prompt += (read or 0) + (_count(usage, _CACHE_WRITTEN) or 0)
    return Usage(prompt, output, thinking, read if cached is None else cached)


def _count(usage: Mapping[str, Any], *names: str) -> int | None:
    for name in names:
        found = optional_whole_number(usage.get(name), name)
        if found is not None:
            return found
    return None


def _detail(usage: Mapping[str, Any], chat: str, responses: str, name: str) -> int | None:
    for place in (chat, responses):
        details = usage.get(place)
        if isinstance(details, dict):
            return optional_whole_number(details.get(name), name)
    return None
