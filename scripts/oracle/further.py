"""Random cases of what the harness of the sixteen kinds leaves out.

Two steps in flight, drafts, recurrent states, sparse retention, clients that go away, other budgets; the
real scheduler is driven through the same calls that its engine makes.
"""

import random
from typing import Any, Final

from oracle.cases import KINDS, random_case

FURTHER: Final = tuple(
    f"{mode}, {what}"
    for mode in ("sync", "async")
    for what in (
        "plain",
        "drafts",
        "states",
        "states and drafts",
        "states with checkpoints",
        "states with checkpoints and drafts",
        "retention",
        "aborts",
        "budgets",
    )
)
_DRAFTING: Final = (  # lookahead beyond the drafts, rows, whether the last block is dropped
    (0, 0, True),  # EAGLE and MTP
    (0, 1, False),  # a draft model
    (1, 0, False),  # DFlash
    (None, 0, False),  # n-grams
)


def further_case(what: str, number: int) -> dict[str, Any]:
    """A case of what the harness does not cover, of any of the kinds."""
    draw = random.Random(f"{what} {number}")  # noqa: S311 - reproducible cases, no secrets
    case = random_case(draw.choice(KINDS), number)
    case["async_scheduling"] = what.startswith("async")
    if "drafts" in what:
        _drafts(case, draw, number)
    if "states" in what:
        _states(case, draw, checkpoints="checkpoints" in what)
    if case["prefix_caching"] and ("retention" in what or draw.random() < 0.3):
        _retention(case, draw)
    if "budgets" in what:
        _other_budgets(case, draw)
    if "aborts" in what or draw.random() < 0.2:
        for row in case["requests"]:
            if draw.random() < 0.4:
                row["abort_step"] = row["arrival_step"] + draw.randint(0, 30)
    return case


def _drafts(case: dict[str, Any], draw: random.Random, seed: int) -> None:
    """Speculative decoding, with a threshold that leaves a padded decode whole (see `apart`)."""
    tokens = draw.randint(1, 5)
    if case["long_prefill_token_threshold"]:
        case["long_prefill_token_threshold"] += tokens
    ahead, rows, drops = draw.choice(_DRAFTING)
    case["speculation"] = {
        "tokens": tokens,
        "acceptance": draw.choice((0, 300_000, 700_000, 1_000_000)),
        "lookahead": 0 if ahead is None else tokens + ahead,
        "rows": rows,
        "drops_last_block": drops,
        "seed": seed,
    }


def _states(case: dict[str, Any], draw: random.Random, *, checkpoints: bool) -> None:
    """A group of recurrent states, alone or beside others."""
    drafts = case["speculation"]["tokens"] if "speculation" in case else 0
    state = {"state": drafts}
    if checkpoints:
        state["checkpoint"] = draw.choice((1, 1, 2, 4))
        case["block_size"] = max(case["block_size"], drafts + 1)  # see `apart`
        case["max_model_len"] = max(case["max_model_len"], case["block_size"])
    case["groups"] = [*draw.choice(([], ["full"], case["groups"])), state]
    draw.shuffle(case["groups"])
    case["num_blocks"] += draw.randint(1, 4) * (2 + drafts)


def _retention(case: dict[str, Any], draw: random.Random) -> None:
    """Windows and states kept only where prompts end, or at intervals; 0 where there are none."""
    sparse = any(group != "full" for group in case["groups"])
    interval = case["block_size"] * draw.randint(1, 4)
    case["retention"] = draw.choice((0, 0, interval)) if sparse else 0


def _other_budgets(case: dict[str, Any], draw: random.Random) -> None:
    """A watermark, fewer scheduled than batched tokens, prompts that are never cut."""
    case["watermark"] = draw.choice((0.0, 0.01, 0.1, 0.3))
    budget = case["max_num_batched_tokens"]
    case["max_num_scheduled_tokens"] = draw.choice((None, draw.randint(1, budget)))
    if draw.random() < 0.5:
        case["chunked_prefill"] = False
        case["max_num_batched_tokens"] = max(budget, case["max_model_len"])
