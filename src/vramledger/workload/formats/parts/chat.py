"""Requests and answers in the shapes that serving interfaces share: how much text, how many images.

Shapes: OpenAI chat completions, completions and responses; Anthropic messages; the "inputs" of
Text Generation Inference and of SageMaker's containers. Sources: https://platform.openai.com/docs/api-reference,
https://docs.anthropic.com/en/api/messages, https://huggingface.co/docs/text-generation-inference.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from vramledger.frozen import frozen
from vramledger.workload.fields import optional_whole_number

_TEXT_KEYS: Final = ("text", "content", "thinking", "reasoning", "refusal")
_IMAGE_TYPES: Final = ("image", "image_url", "input_image", "image_pil")
_LIMIT_KEYS: Final = (
    "max_completion_tokens", "max_tokens", "max_output_tokens", "max_new_tokens",
    "max_tokens_to_sample", "maxTokens",
)  # fmt: skip


@frozen
class Content:
    """What a prompt holds.

    `text` keeps the order of the messages: equal beginnings of conversations are equal beginnings of
    texts.
    """

    text: str
    images: int


def of_messages(messages: Any) -> Content | None:
    """The content of a list of messages, or of a prompt that is plain text; None where it is neither."""
    if isinstance(messages, str):
        return Content(messages, 0) if messages else None
    if isinstance(messages, dict):
        return of_body(messages)
    if not isinstance(messages, list) or not messages:
        return None
    pieces: list[str] = []
    images = 0
    for message in messages:
        if isinstance(message, str):
            pieces.append(message)
        elif isinstance(message, dict):
            pieces.append(str(message.get("role", "")))
            images += _collect(message, pieces)
    return Content("\n".join(pieces), images)


def of_body(body: Mapping[str, Any]) -> Content | None:
    """The content of a request's body; None where it has no prompt that we know."""
    system = body.get("system", body.get("instructions"))
    for key in ("messages", "input", "inputs", "prompt", "contents"):
        if body.get(key):
            found = of_messages(body[key])
            if found is None:
                return None
            before = of_messages(system) if system else None
            text = found.text if before is None else f"{before.text}\n{found.text}"
            return Content(text, found.images)
    return None


def limit_of(parameters: Mapping[str, Any]) -> int | None:
    """The limit on the answer that a request asked for, from its body or its parameters.

    Raises:
        RowProblem: it is no count.
    """
    inner = parameters.get("parameters")
    for place in (parameters, inner if isinstance(inner, dict) else {}):
        for key in _LIMIT_KEYS:
            if place.get(key) is not None:
                return optional_whole_number(place[key], key)
    return None


def answer_text(response: Any) -> str | None:
    """The text of an answer in any of the shapes; None where there is none."""
    if isinstance(response, str):
        return response or None
    pieces: list[str] = []
    for part in response if isinstance(response, list) else [response]:
        if isinstance(part, dict):
            _collect_answer(part, pieces)
    return "\n".join(pieces) if pieces else None


def _collect_answer(answer: Mapping[str, Any], pieces: list[str]) -> None:
    choices = answer.get("choices")
    for choice in choices if isinstance(choices, list) else []:
        if isinstance(choice, dict):
            inner = choice.get("message", choice.get("delta"))
            _collect(inner if isinstance(inner, dict) else choice, pieces)
    if isinstance(answer.get("generated_text"), str):
        pieces.append(answer["generated_text"])
    output = answer.get("output")
    for item in output if isinstance(output, list) else []:
        if isinstance(item, dict):
            _collect(item, pieces)
    if choices is None:
        _collect(answer, pieces)


def _collect(message: Mapping[str, Any], pieces: list[str]) -> int:
    """Add the texts of one message; how many images it holds."""
    own = ("reasoning_content", "reasoning", "text")
    pieces.extend(message[key] for key in own if isinstance(message.get(key), str))
    images = 0
    content = message.get("content", message.get("parts"))
    if isinstance(content, str):
        pieces.append(content)
    elif isinstance(content, list):
        images = sum(_collect_part(part, pieces) for part in content)
    calls = message.get("tool_calls")
    if isinstance(calls, list):
        pieces.extend(_functions(calls))
    return images


def _collect_part(part: Any, pieces: list[str]) -> int:
    """Add the text of one part of a message; 1 where it is an image."""
    if isinstance(part, str):
        pieces.append(part)
        return 0
    if not isinstance(part, dict):
        return 0
    if part.get("type") in _IMAGE_TYPES:
        return 1
    pieces.extend(part[key] for key in _TEXT_KEYS if isinstance(part.get(key), str))
    return 0


def _functions(calls: list[Any]) -> Iterable[str]:
    """Calls of tools are written by the model, so they are tokens too."""
    for call in calls:
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict):
            arguments = function.get("arguments")
            said = arguments if isinstance(arguments, str) else json.dumps(arguments)
            yield f"{function.get('name', '')} {said}"
