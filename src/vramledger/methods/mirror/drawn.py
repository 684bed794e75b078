"""Which requests are put to B: those that can be compared, drawn by the seed, as far as B keeps up."""

import random
from typing import Any, Final

import orjson

from vramledger.frozen import frozen
from vramledger.methods.mirror.front import Header
from vramledger.trial.prompts.body import PATHS

COMPARABLE: Final = frozenset(path.encode() for path in PATHS.values())


@frozen
class Put:
    """A request as it is put to B. `greedy` says that its answer is decided: temperature 0, one answer, one prompt.

    `one` is whether it has one prompt and one answer.
    """

    path: str
    body: bytes
    greedy: bool
    one: bool
    authorization: str | None


class Draw:
    """Draws a share of the requests, 0..1, the same ones for the same seed and order of arrival."""

    def __init__(self, share: float, seed: int) -> None:
        self._share = share
        self._random = random.Random(seed)  # noqa: S311 - a draw, no secret

    def taken(self) -> bool:
        """Whether the next one is."""
        return self._random.random() < self._share


def comparable(method: bytes, path: bytes) -> bool:
    """Whether answers to it can be compared."""
    return method == b"POST" and path.partition(b"?")[0] in COMPARABLE


class NotPut(Exception):
    """Why a request that was drawn is not put to B; `reason` is a fixed word."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@frozen
class Models:
    """`only` is the one model of A whose requests are put, None for all; `served` are B's names, `instead` the one asked of B otherwise."""

    only: str | None
    served: frozenset[str]
    instead: str
    always: bool


def put_of(path: bytes, headers: list[Header], body: bytes, models: Models) -> Put:
    """The request for B.

    Raises:
        NotPut: it is not to be put.
    """
    if not body:
        raise NotPut("too_large")
    try:
        asked = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise NotPut("not_json") from None
    if not isinstance(asked, dict):
        raise NotPut("not_json")
    name = asked.get("model")
    if models.only is not None and name != models.only:
        raise NotPut("other_model")
    if models.always or (name is not None and name not in models.served):
        body = orjson.dumps({**asked, "model": models.instead})
    one = _is_one(asked)
    temperature = asked.get("temperature")
    greedy = type(temperature) in (int, float) and temperature == 0
    return Put(
        path.partition(b"?")[0].decode("ascii"),
        body,
        one and greedy,
        one,
        next((v.decode("latin-1") for n, v in headers if n.lower() == b"authorization"), None),
    )


def _is_one(asked: dict[str, Any]) -> bool:
    """Whether one answer to one prompt is wanted."""
    prompt = asked.get("prompt")
    several = isinstance(prompt, list) and len(prompt) != 1 and not all(type(each) is int for each in prompt)  # fmt: skip
    counts = (asked.get("n"), asked.get("best_of"))
    return (
        not several
        and all(each in (None, 1) for each in counts)
        and not asked.get("use_beam_search")
    )
