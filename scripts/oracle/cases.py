"""Random cases: small pools, short prompts that share beginnings, many preemptions.

A kind is caching {off, on} x groups {full, full and window} x order {FCFS, priority} x long-prefill
threshold {without, with}. A case is made from the kind's number and the case's number alone.
"""

import random
from itertools import product
from typing import Any, Final

from vramledger.frozen import frozen

_BLOCK_SIZES: Final = (1, 2, 4, 4, 8, 16)
_VOCABULARY: Final = 3  # few tokens, so that prompts share beginnings by accident too


@frozen
class Kind:
    """What the cases of one kind have in common."""

    prefix_caching: bool
    window: bool
    policy: str
    threshold: bool

    def __str__(self) -> str:
        return ", ".join(
            (
                "caching" if self.prefix_caching else "no caching",
                "full + window" if self.window else "full",
                self.policy,
                "threshold" if self.threshold else "no threshold",
            )
        )


KINDS: Final = tuple(
    Kind(*choice)
    for choice in product((False, True), (False, True), ("fcfs", "priority"), (False, True))
)


def random_case(kind: Kind, number: int) -> dict[str, Any]:
    """The case of a number, always the same."""
    draw = random.Random(f"{kind} {number}")  # noqa: S311 - reproducible cases, no secrets
    block_size = draw.choice(_BLOCK_SIZES)
    most_blocks = draw.randint(2, 12)  # of the longest request
    length = block_size * most_blocks
    groups = _groups(kind, draw, length)
    budget = draw.randint(1, max(2, 2 * length))
    case: dict[str, Any] = {
        "num_blocks": _pool(draw, most_blocks, len(groups)),
        "block_size": block_size,
        "max_num_batched_tokens": budget,
        "max_num_seqs": min(draw.randint(1, 8), budget),
        "max_model_len": length + draw.choice((0, 0, 1, block_size, 100)),
        "prefix_caching": kind.prefix_caching,
        "groups": groups,
        "policy": kind.policy,
        "long_prefill_token_threshold": 0,
        "max_steps": 300,
    }
    if kind.threshold:
        case["long_prefill_token_threshold"] = draw.randint(1, max(1, length // 2))
    case["requests"] = _requests(kind, draw, length)
    return case


def _pool(draw: random.Random, most_blocks: int, groups: int) -> int:
    """Mostly what the longest request needs and a little more, seldom less, seldom plenty."""
    if draw.random() < 0.1:
        return 1 + draw.randint(1, 4 * most_blocks * groups)
    return 1 + most_blocks * groups + draw.randint(0, most_blocks * groups)


def _groups(kind: Kind, draw: random.Random, length: int) -> list[Any]:
    if not kind.window:
        return ["full"] if draw.random() < 0.9 else ["full", "full"]
    windows = [{"window": draw.randint(1, max(1, length))}]
    if draw.random() < 0.3:
        windows.append(draw.choice((windows[0], {"window": draw.randint(1, length)})))
    groups = ["full", *windows]
    draw.shuffle(groups)
    return groups


def _requests(kind: Kind, draw: random.Random, length: int) -> list[dict[str, Any]]:
    hungry = draw.random() < 0.5  # short prompts and long answers, which end in preemptions
    stem = [draw.randrange(_VOCABULARY) for _ in range(length)]
    arrival = 0
    rows: list[dict[str, Any]] = []
    for number in range(draw.randint(2, 10)):
        arrival += draw.choice((0, 0, 0, 0, 1, 2, draw.randint(0, 20)))
        output = draw.randint(1, draw.choice((length // 4, length // 2, length - 1)) or 1)
        if hungry:
            output = max(1, length - draw.randint(1, max(1, length // 3)))
        prompt = draw.randint(1, max(1, length - output))
        shared = draw.choice((0, draw.randint(0, prompt), prompt))
        tokens = stem[:shared] + [draw.randrange(_VOCABULARY) for _ in range(prompt - shared)]
        row: dict[str, Any] = {
            "id": f"r{number}",
            "arrival_step": arrival,
            "prompt": tokens,
            "output_len": min(output, max(1, length - prompt)),
        }
        if draw.random() < 0.15 and rows:  # the next turn of a conversation
            row["prompt"] = _next_turn(draw.choice(rows), length) or tokens
            row["output_len"] = min(row["output_len"], length - len(row["prompt"]))
        if kind.policy == "priority":
            row["priority"] = draw.randint(-1, 2)
        rows.append(row)
    return [row for row in rows if row["output_len"] >= 1]


def _next_turn(earlier: dict[str, Any], length: int) -> list[int]:
    """A prompt that repeats an earlier request's prompt and answer."""
    answer = list(range(7, 7 + earlier["output_len"]))
    turn: list[int] = [*earlier["prompt"], *answer, 1]
    return turn[: length - 1]
