"""The traces of the reference data, read by the standard library alone.

Nothing here shares code with the package: it is what imports are checked against.
"""

import csv
import json
from collections.abc import Hashable, Iterable, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

_SECOND = 10**9


class PlainRow(NamedTuple):
    """A request. None is what a trace does not tell."""

    arrival_ns: int | None
    input_tokens: int
    output_tokens: int
    blocks: tuple[Hashable, ...] | None = None
    session: Hashable = None
    thinking_tokens: int | None = None
    cached_tokens: int | None = None
    duration_ns: int | None = None
    outcome: str = "unknown"
    tenant: Hashable = None


def azure(path: Path) -> Iterable[PlainRow]:
    for row in _rows_of_csv(path):
        date, fraction = row["TIMESTAMP"].split(".")
        seconds = datetime.fromisoformat(date).replace(tzinfo=UTC).timestamp()
        arrival = int(seconds) * _SECOND + int(fraction.ljust(9, "0"))
        yield PlainRow(arrival, int(row["ContextTokens"]), int(row["GeneratedTokens"]))


def burstgpt(path: Path) -> Iterable[PlainRow]:
    for row in _rows_of_csv(path):
        elapsed, output = row.get("Elapsed time"), int(row["Response tokens"])
        yield PlainRow(
            int(Decimal(row["Timestamp"]) * _SECOND),
            int(row["Request tokens"]),
            output,
            session=row.get("Session ID"),
            duration_ns=None if elapsed is None else int(Decimal(elapsed) * _SECOND),
            outcome="ok" if output else "failed",
        )


def mooncake(path: Path) -> Iterable[PlainRow]:
    for row in _rows_of_jsonl(path):
        arrival = int(row["timestamp"] * 10**6)
        yield PlainRow(arrival, row["input_length"], row["output_length"], tuple(row["hash_ids"]))


def bailian(path: Path) -> Iterable[PlainRow]:
    """Of files in which no chat but the first of a conversation is without its parent."""
    talk_of: dict[int, int] = {}
    for row in _rows_of_jsonl(path):
        parent = row["parent_chat_id"]
        talk = row["chat_id"] if parent == -1 else talk_of.get(parent, parent)
        talk_of[row["chat_id"]] = talk
        arrival = int(row["timestamp"] * _SECOND)
        yield PlainRow(
            arrival, row["input_length"], row["output_length"], tuple(row["hash_ids"]), talk
        )


def tracelab(path: Path) -> Iterable[PlainRow]:
    for row in _rows_of_jsonl(path):
        events = [(_utc_ns(each["timestamp"]), each["event_type"]) for each in row["timing_events"]]
        given = ("user_message", "tool_result")
        written = [moment for moment, kind in events if kind not in given]
        arrival = max(moment for moment, kind in events if kind in given and moment <= min(written))
        yield PlainRow(
            arrival,
            row["input_tokens_total"],
            row["output_tokens"],
            session=row["session_id"],
            thinking_tokens=row["reasoning_output_tokens"],
            cached_tokens=row["prefix_tokens"],
            duration_ns=max(written) - arrival,
            tenant=row.get("user"),
        )


def sharegpt(path: Path) -> Iterable[PlainRow]:
    """Tokens as four characters each, rounded up, and full blocks of 16: of texts in letters only."""
    for number, talk in enumerate(json.loads(path.read_text(encoding="utf-8"))):
        said: list[str] = []
        for turn in talk["conversations"]:
            if turn["from"] == "gpt" and said:
                prompt = "\n".join(said)
                blocks = tuple(prompt[: 64 * block] for block in range(1, len(prompt) // 64 + 1))
                yield PlainRow(
                    None,
                    -(-len(prompt) // 4),
                    -(-len(turn["value"]) // 4),
                    blocks,
                    session=number,
                )
            said.append(turn["value"])


def in_order(rows: Iterable[PlainRow]) -> list[PlainRow]:
    """By arrival; rows of one instant as the trace has them."""
    return sorted(rows, key=lambda row: row.arrival_ns or 0)


def numbered(identities: Iterable[Hashable]) -> list[int | None]:
    """Identities as numbers by first appearance; None stays."""
    numbers: dict[Hashable, int] = {}
    return [None if each is None else numbers.setdefault(each, len(numbers)) for each in identities]


def numbered_blocks(rows: Iterable[PlainRow]) -> list[list[int] | None]:
    """Lists of ids as lists of numbers by first appearance."""
    fresh = count()
    numbers: dict[Hashable, int] = {}
    found: list[list[int] | None] = []
    for row in rows:
        ids = row.blocks
        if ids is None:
            found.append(None)
            continue
        for each in ids:
            if each not in numbers:
                numbers[each] = next(fresh)
        found.append([numbers[each] for each in ids])
    return found


def percentile(values: Sequence[int], percent: str) -> float:
    """With linear interpolation between the two nearest values, in exact arithmetic."""
    ordered = sorted(values)
    place = (len(ordered) - 1) * Fraction(percent) / 100
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return float(ordered[below] + (ordered[above] - ordered[below]) * (place - below))


def _rows_of_csv(path: Path) -> Iterable[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        yield from csv.DictReader(file)


def _rows_of_jsonl(path: Path) -> Iterable[Any]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line, parse_float=Decimal)


def _utc_ns(text: str) -> int:
    date, fraction = text.removesuffix("Z").split(".")
    seconds = datetime.fromisoformat(date).replace(tzinfo=UTC).timestamp()
    return int(seconds) * _SECOND + int(fraction.ljust(9, "0"))
