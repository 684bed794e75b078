"""Which HTTP requests ask a model for text.

Paths of vLLM and OpenAI (/v1/chat/completions, /v1/completions, /v1/responses), Anthropic
(/v1/messages), Azure (/openai/deployments/NAME/chat/completions), Text Generation Inference
(/generate, /generate_stream), Ollama (/api/chat, /api/generate), Triton (/v2/models/NAME/generate),
SageMaker (/invocations), Bedrock (/model/NAME/invoke, /converse) and Gemini (:generateContent).
"""

import re
from typing import Final

from vramledger.workload.raw import RowProblem

_PATH: Final = re.compile(
    r"(?:/chat/completions|/completions|/responses|/messages|/generate|/generate_stream"
    r"|/api/chat|/inference|/invocations|/invoke|/invoke-with-response-stream|/converse"
    r"|/converse-stream|:generateContent|:streamGenerateContent)/?$"
)


def require_completion(method: str, target: str) -> None:
    """Let a request for a completion pass.

    Raises:
        RowProblem: another method, or a path that asks for no text.
    """
    if method.upper() != "POST":
        raise RowProblem("request is no POST")
    if _PATH.search(target.split("?", 1)[0]) is None:
        raise RowProblem("path asks for no completion")
