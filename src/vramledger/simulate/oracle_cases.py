"""Cases of the oracle, read from JSON: the scheduler's settings and its requests, as `oracle` describes them."""

from collections.abc import Sequence
from typing import Any

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.simulate.groups import FullAttention, Group, RecurrentState, SlidingWindow
from vramledger.simulate.request import Arrival, Request
from vramledger.simulate.settings import Order, Settings, Speculation

_MOST_STEPS = 100_000
_FIRST_GENERATED = 7


@frozen
class Case:
    """A case as read: requests in the order of arrival, their names beside them."""

    settings: Settings
    requests: tuple[Request, ...]
    names: tuple[str, ...]
    arrival_steps: tuple[int, ...]
    abort_steps: tuple[int | None, ...]
    most_steps: int
    seed: int


class PrefixNames:
    """Numbers for chains of token blocks: equal tokens from the start, equal number."""

    def __init__(self, block_size: int) -> None:
        self.block_size = block_size
        self._numbers: dict[tuple[int, tuple[int, ...]], int] = {}

    def of(self, tokens: Sequence[int]) -> tuple[int, ...]:
        """The numbers of the whole blocks of one row of tokens."""
        numbers, parent = [], -1
        for start in range(0, len(tokens) - self.block_size + 1, self.block_size):
            block = (parent, tuple(tokens[start : start + self.block_size]))
            parent = self._numbers.setdefault(block, len(self._numbers))
            numbers.append(parent)
        return tuple(numbers)


def read_case(document: Any) -> Case:
    """A case from its JSON object; raises `BadInput` for what cannot be scheduled."""
    if not isinstance(document, dict):
        raise BadInput("The case is no JSON object; see the module for its format.")
    try:
        settings = _settings(document)
        rows = sorted(document["requests"], key=lambda row: int(row["arrival_step"]))
        prefixes = PrefixNames(settings.block_size)
        requests = tuple(Request(rank, _arrival(row, prefixes)) for rank, row in enumerate(rows))
        names = tuple(str(row["id"]) for row in rows)
        steps = tuple(int(row["arrival_step"]) for row in rows)
        aborts = tuple(_whole(row.get("abort_step")) for row in rows)
        most = int(document.get("max_steps", _MOST_STEPS))
        seed = int((document.get("speculation") or {}).get("seed", 0))
    except KeyError as missing:
        raise BadInput(
            f"The case has no {missing.args[0]!r}, which every case needs; add it."
        ) from missing
    except (TypeError, ValueError, AttributeError) as wrong:
        raise BadInput(
            f"The case cannot be read ({wrong}); see the module for its format."
        ) from wrong
    _refuse_beyond_length(settings, requests, names)
    if len(set(names)) < len(names):
        raise BadInput("Two requests of the case have the same id; give each its own.")
    return Case(settings, requests, names, steps, aborts, most, seed)


def _refuse_beyond_length(
    settings: Settings, requests: Sequence[Request], names: Sequence[str]
) -> None:
    for request, name in zip(requests, names, strict=True):
        if request.prompt > settings.max_model_len:
            raise BadInput(
                f"Request {name!r} has a prompt of {request.prompt} tokens, but max_model_len is {settings.max_model_len}, and the engine refuses it before its scheduler; shorten the prompt."
            )


def _settings(document: dict[str, Any]) -> Settings:
    return Settings(
        num_blocks=int(document["num_blocks"]),
        block_size=int(document["block_size"]),
        token_budget=int(document["max_num_batched_tokens"]),
        max_num_seqs=int(document["max_num_seqs"]),
        max_model_len=int(document["max_model_len"]),
        groups=tuple(_group(group) for group in document.get("groups", ["full"])),
        prefix_caching=bool(document["prefix_caching"]),
        long_prefill_threshold=int(document.get("long_prefill_token_threshold", 0)),
        chunked_prefill=bool(document.get("chunked_prefill", True)),
        scheduled_tokens=_whole(document.get("max_num_scheduled_tokens")),
        watermark_blocks=int(float(document.get("watermark", 0)) * int(document["num_blocks"])),
        order=Order(document.get("policy", "fcfs")),
        speculation=_speculation(document.get("speculation")),
        async_scheduling=bool(document.get("async_scheduling", False)),
        checkpoint_interval=_whole(document.get("retention")),  # None, as the harness has it
    )


def _whole(value: Any) -> int | None:
    return None if value is None else int(value)


def _speculation(document: dict[str, Any] | None) -> Speculation | None:
    if document is None:
        return None
    return Speculation(
        tokens=int(document["tokens"]),
        acceptance=int(document["acceptance"]),
        lookahead=int(document["lookahead"]),
        rows=int(document["rows"]),
        drops_last_block=bool(document["drops_last_block"]),
    )


def _group(document: Any) -> Group:
    if document == "full":
        return FullAttention()
    if "state" in document:
        return RecurrentState(int(document["state"]), _whole(document.get("checkpoint")))
    return SlidingWindow(int(document["window"]))


def _arrival(row: dict[str, Any], prefixes: PrefixNames) -> Arrival:
    prompt, length = [int(token) for token in row["prompt"]], int(row["output_len"])
    if not prompt or length < 1:
        raise BadInput(
            f"Request {row['id']!r} has a prompt of {len(prompt)} and an answer of {length} tokens, but needs at least one of each."
        )
    answer = range(_FIRST_GENERATED, _FIRST_GENERATED + length)
    return Arrival(
        arrival_ns=0,
        input_tokens=len(prompt),
        output_tokens=length,
        prefix=prefixes.of([*prompt, *answer]),
        priority=int(row.get("priority", 0)),
    )
