"""The prompt of a request as tokens."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from vramledger.rehearse.api.body import value
from vramledger.rehearse.api.refusal import Refusal
from vramledger.rehearse.text.chat_template import ROLES, chat_tokens
from vramledger.rehearse.text.tokenizer import encode

_NO_TEXT: Final[list[Any]] = []


def chat_prompt(body: Mapping[str, Any]) -> list[int]:
    """The messages of a chat as tokens.

    Raises:
        Refusal: they are no messages of text.
    """
    messages = value(body, "messages", list, _NO_TEXT)
    if not messages:
        raise Refusal("messages must hold at least one message.", param="messages")
    answer = value(body, "add_generation_prompt", bool, default=True)
    return chat_tokens([_message(message) for message in messages], answer=answer)


def text_prompt(body: Mapping[str, Any], vocabulary: int) -> list[int]:
    """A prompt of text or of token numbers below `vocabulary`; one of either may stand in a list.

    Raises:
        Refusal: it is none, or there are several.
    """
    prompt = body.get("prompt")
    if isinstance(prompt, list) and prompt and isinstance(prompt[0], str | list):
        if len(prompt) > 1:
            raise Refusal("Only one prompt a request is rehearsed.", param="prompt")
        prompt = prompt[0]
    if isinstance(prompt, str):
        found = encode(prompt)
    elif isinstance(prompt, list) and all(type(token) is int for token in prompt):
        found = prompt
        _refuse_unknown(found, vocabulary)
    else:
        raise Refusal("prompt must be a string or a list of token numbers.", param="prompt")
    if not found:
        raise Refusal("The decoder prompt cannot be empty", param="prompt")
    return found


def _refuse_unknown(tokens: Sequence[int], vocabulary: int) -> None:
    for end in (min(tokens, default=0), max(tokens, default=0)):
        if not 0 <= end < vocabulary:
            raise Refusal(f"Token id {end} is out of vocabulary", param="prompt")


def _message(message: Any) -> tuple[str, str]:
    if not isinstance(message, dict) or message.get("role") not in ROLES:
        raise Refusal(f"A message needs a role of {', '.join(ROLES)}.", param="messages")
    return message["role"], _text(message.get("content"))


def _text(content: Any) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(_part(part) for part in content)
    raise Refusal("The content of a message must be text.", param="messages")


def _part(part: Any) -> str:
    if isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str):
        return str(part["text"])
    raise Refusal("Only text is rehearsed, not images or sounds.", param="messages")
