"""Requests as a load makes them, with the least that a server needs."""

import json
from typing import Any

from vramledger.trial.planned import PlannedRequest


def planned(
    number: int = 0, due_s: float | None = None, tokens: int = 2, **fields: Any
) -> PlannedRequest:
    """One request for `tokens` tokens; `fields` are further ones of the record."""
    body = {
        "model": "m",
        "messages": [{"role": "user", "content": "hello"}],
        "max_tokens": tokens,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    return PlannedRequest(
        **{
            "number": number,
            "row": number,
            "due_s": due_s,
            "body": json.dumps(body).encode(),
            "input_tokens": 5,
            "output_tokens": tokens,
            **fields,
        }
    )
