"""Requests and answers in the shapes that serving interfaces share: how much text, how many images.

Shapes: OpenAI chat completions, completions and responses; Anthropic messages; the "inputs" of
Text Generation Inference and of SageMaker's containers. Sources: https://platform.openai.com/docs/api-reference,
https://docs.anthropic.com/en/api/messages, https://huggingface.co/docs/text-generation-inference.
"""

from collections.abc import Mapping
from typing import Any, Final

from vramledger.frozen import frozen
from vramledger.workload.fields import optional_whole_number
from vramledger.workload.formats.parts.message import Gathered
from vramledger.workload.raw import RawRequest

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
    audio_ns: int | None = None  # of all its audio; None where it has none, or of unknown length

    def put_into(self, request: RawRequest) -> None:
        """Fill in what a request's prompt tells."""
        request.input_text, request.images = self.text, self.images
        request.audio_ns = self.audio_ns


def of_messages(messages: Any) -> Content | None:
    """The content of a list of messages, or of a prompt that is plain text; None where it is neither."""
    if isinstance(messages, str):
        return Content(messages, 0) if messages else None
    if isinstance(messages, dict):
        return of_body(messages)
    if not isinstance(messages, list) or not messages:
        return None
    found = Gathered()
    for message in messages:
        if isinstance(message, str):
            found.texts.append(message)
        elif isinstance(message, dict):
            found.texts.append(str(message.get("role", "")))
            found.add(message)
    return Content("\n".join(found.texts), found.images, found.audio_ns)


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
            return Content(text, found.images, found.audio_ns)
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
    found = Gathered()
    for part in response if isinstance(response, list) else [response]:
        if isinstance(part, dict):
            _add_answer(part, found)
    return "\n".join(found.texts) if found.texts else None


def _add_answer(answer: Mapping[str, Any], found: Gathered) -> None:
    choices = answer.get("choices")
    for choice in choices if isinstance(choices, list) else []:
        if isinstance(choice, dict):
            inner = choice.get("message", choice.get("delta"))
            found.add(inner if isinstance(inner, dict) else choice)
    if isinstance(answer.get("generated_text"), str):
        found.texts.append(answer["generated_text"])
    output = answer.get("output")
    for item in output if isinstance(output, list) else []:
        if isinstance(item, dict):
            found.add(item)
    if choices is None:
        found.add(answer)
