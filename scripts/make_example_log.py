"""Write `examples/gateway-spendlogs.csv.gz`: one invented day of a gateway, in LiteLLM's SpendLogs form.

Nothing in it was observed: lengths are lognormal, arrivals follow an office day, and a few rows are
broken on purpose. The same seed gives the same bytes.

Columns: LiteLLM_SpendLogs of https://github.com/BerriAI/litellm (schema.prisma).
"""

import csv
import gzip
import io
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

TARGET: Final = Path(__file__).parents[1] / "examples" / "gateway-spendlogs.csv.gz"
SEED: Final = 20
START: Final = datetime(2026, 3, 3, tzinfo=UTC)  # a Tuesday
HOURLY: Final = (
    *(6, 4, 3, 3, 4, 9, 20, 48, 88, 104, 98, 82),
    *(56, 92, 106, 98, 80, 56, 34, 22, 16, 14, 10, 8),
)  # conversations begun in each hour
MODELS: Final = (("assistant", 0.85), ("assistant-long", 0.15))
COLUMNS: Final = (
    "request_id", "call_type", "api_key", "spend", "total_tokens", "prompt_tokens",
    "completion_tokens", "startTime", "endTime", "completionStartTime", "model", "user", "metadata",
    "cache_hit", "team_id", "end_user", "requester_ip_address", "session_id", "status",
)  # fmt: skip
MOST_INPUT: Final = 120_000
TOKENS_PER_SECOND: Final = 30
Row = dict[str, str | int | float]


@dataclass(frozen=True, slots=True)
class Kind:
    """What sort of conversation: (median, deviation) of lognormal lengths, in tokens."""

    share: float
    first_input: tuple[float, float]
    message: tuple[float, float]
    output: tuple[float, float]
    turns: float  # mean


KINDS: Final = (
    Kind(0.80, (620, 0.7), (60, 0.8), (230, 0.8), 2.6),  # chat
    Kind(0.17, (5_200, 0.6), (80, 0.7), (380, 0.6), 1.6),  # questions to found passages
    Kind(0.03, (38_000, 0.6), (120, 0.7), (900, 0.5), 1.3),  # whole documents
)


def rows(draw: random.Random) -> Iterator[Row]:
    """The conversations of every hour, turn by turn."""
    for hour, conversations in enumerate(HOURLY):
        for _ in range(conversations):
            start = START + timedelta(hours=hour, seconds=draw.random() * 3600)
            yield from conversation(draw, start)


def conversation(draw: random.Random, start: datetime) -> Iterator[Row]:
    """One person's turns, each with all that was said before."""
    kind = draw.choices(KINDS, [each.share for each in KINDS])[0]
    user = draw.randrange(140)
    session = draw.randbytes(8).hex()
    model = draw.choices([name for name, _ in MODELS], [share for _, share in MODELS])[0]
    context, moment = length(draw, kind.first_input), start
    for _ in range(1 + min(int(draw.expovariate(1 / (kind.turns - 1 + 1e-9))), 12)):
        row = request(draw, moment, min(context, MOST_INPUT), length(draw, kind.output))
        row |= {"model": model, "user": f"user-{user}", "end_user": f"user-{user}@example.org"}
        row |= {"session_id": session, "team_id": f"team-{user % 6}"}
        row |= {"api_key": f"{user % 6:064x}", "requester_ip_address": f"192.0.2.{user}"}
        yield row
        context += int(row["completion_tokens"]) + length(draw, kind.message)
        moment = datetime.fromisoformat(str(row["endTime"])) + timedelta(
            seconds=8 + draw.expovariate(1 / 70)
        )


def request(draw: random.Random, start: datetime, tokens_in: int, tokens_out: int) -> Row:
    """One call; three of a hundred fail and have no answer."""
    failed = draw.random() < 0.03
    tokens_out = 0 if failed else tokens_out
    first = start + timedelta(seconds=0.15 + tokens_in / 6_000 + draw.expovariate(4))
    end = first + timedelta(seconds=tokens_out / TOKENS_PER_SECOND)
    error = {"error_information": {"error_code": draw.choice(("429", "500", "503"))}}
    return {
        "request_id": f"chatcmpl-{draw.randbytes(10).hex()}",
        "call_type": "acompletion",
        "spend": 0.0,
        "total_tokens": tokens_in + tokens_out,
        "prompt_tokens": tokens_in,
        "completion_tokens": tokens_out,
        "startTime": written(start),
        "endTime": written(end),
        "completionStartTime": written(end if failed else first),
        "metadata": json.dumps(error) if failed else "{}",
        "cache_hit": "False",
        "status": "failure" if failed else "success",
    }


def length(draw: random.Random, median_deviation: tuple[float, float]) -> int:
    """A lognormal count of 1 or more."""
    median, deviation = median_deviation
    return max(1, round(median * draw.lognormvariate(0, deviation)))


def written(moment: datetime) -> str:
    """With milliseconds and the zone, as the gateway's database exports it."""
    return moment.isoformat(sep=" ", timespec="milliseconds")


def broken(draw: random.Random, whole: list[Row]) -> None:
    """Spoil seven rows: what an import must count and not stumble over."""
    for column, value in (
        ("prompt_tokens", "n/a"),
        ("prompt_tokens", -1),
        ("completion_tokens", ""),
        ("completion_tokens", "12.5"),
        ("startTime", "yesterday"),
        ("startTime", ""),
        ("endTime", "2026-03-03"),
    ):
        draw.choice(whole)[column] = value


def main() -> None:
    draw = random.Random(SEED)  # noqa: S311 - an example, not a secret
    whole = sorted(rows(draw), key=lambda row: str(row["endTime"]))
    broken(draw, whole)
    text = io.StringIO()
    table = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    table.writeheader()
    table.writerows([*whole, whole[100]])  # the last one is there twice
    TARGET.write_bytes(gzip.compress(text.getvalue().encode(), mtime=0))
    print(f"wrote {TARGET.name}: {len(whole) + 1} rows, {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    main()
