"""One line of a case file, read and checked.

Keys: id, engine, engine_version, model, gpu, gpus, precision, kv_dtype, tp, pp, dp, moe_tp, moe_ep,
input_tokens, output_tokens (means), concurrency (per replica), requests (length of the closed-loop
run per replica, all started together; null for the steady state), max_num_seqs (null for the engine's
default). Further keys are ignored.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen

_MOST_RANKS: Final = 1 << 16
_MOST: Final = 1e12


@frozen
class CaseLine:
    """A question as the file has it; None where it says nothing."""

    id: Any
    engine: str
    engine_version: str | None
    model: str
    gpu: str
    gpus: int | None
    precision: str | None
    kv_dtype: str | None
    tp: int
    pp: int
    dp: int | None
    moe_tp: int | None
    moe_ep: int | None
    input_tokens: float
    output_tokens: float
    concurrency: float
    requests: float | None
    max_num_seqs: int | None = None


def read_object(text: str) -> Mapping[str, Any]:
    """The JSON object of a line.

    Raises:
        BadInput: the line is none.
    """
    try:
        content = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise BadInput("The line is not JSON; write one object a line.") from None
    if not isinstance(content, dict):
        raise BadInput("The line is JSON but no object; write one object a line.")
    return content


def _refuse_constant(name: str) -> None:
    """NaN and Infinity are no JSON, though Python reads them."""
    raise ValueError(name)


def read_case(content: Mapping[str, Any]) -> CaseLine:
    """The question of an object.

    Raises:
        BadInput: a key is missing or its value makes no sense; the message names it.
    """
    return CaseLine(
        id=content.get("id"),
        engine=_text(content, "engine") or "vllm",
        engine_version=_text(content, "engine_version"),
        model=_needed(content, "model"),
        gpu=_needed(content, "gpu"),
        gpus=_ranks(content, "gpus"),
        precision=_text(content, "precision"),
        kv_dtype=_text(content, "kv_dtype"),
        tp=_ranks(content, "tp") or 1,
        pp=_ranks(content, "pp") or 1,
        dp=_ranks(content, "dp"),
        moe_tp=_ranks(content, "moe_tp"),
        moe_ep=_ranks(content, "moe_ep"),
        input_tokens=_amount(content, "input_tokens"),
        output_tokens=_amount(content, "output_tokens"),
        concurrency=_amount(content, "concurrency"),
        requests=None if content.get("requests") is None else _amount(content, "requests"),
        max_num_seqs=_ranks(content, "max_num_seqs"),
    )


def _text(content: Mapping[str, Any], key: str) -> str | None:
    value = content.get(key)
    if value is None:
        return None
    if not isinstance(value, str):
        raise BadInput(f"{key} is {value!r}; it must be text or null.")
    return value.strip() or None


def _needed(content: Mapping[str, Any], key: str) -> str:
    value = _text(content, key)
    if value is None:
        raise BadInput(f"{key} is missing; name it.")
    return value


def _ranks(content: Mapping[str, Any], key: str) -> int | None:
    """A count of ranks; 0 and null say that it is not known."""
    value = content.get(key)
    if value is None or value == 0:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadInput(f"{key} is {value!r}; it must be a whole number or null.")
    if 0 < value <= _MOST_RANKS and value != int(value):
        raise BadInput(f"{key} is {value!r}; it must be a whole number or null.")
    if not 0 < value <= _MOST_RANKS:
        raise BadInput(f"{key} is {value!r}; it must lie between 1 and {_MOST_RANKS}.")
    return int(value)


def _amount(content: Mapping[str, Any], key: str) -> float:
    value = content.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadInput(f"{key} is {value!r}; it must be a number.")
    if value <= 0:
        raise BadInput(f"{key} is {value!r}; it must be above 0.")
    if value > _MOST:
        raise BadInput(f"{key} is above {_MOST:g}; give what one server can see.")
    return float(value)
