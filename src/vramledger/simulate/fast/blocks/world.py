"""Everything that changes while an engine runs, laid out for the compiled code."""

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from vramledger.engine.vllm.rules import WindowAdmission
from vramledger.simulate.cache.kv_cache import KvCache
from vramledger.simulate.cache.window import WindowBlocks
from vramledger.simulate.fast.advancing import FOREVER
from vramledger.simulate.fast.blocks.rows import (
    BLOCK,
    BUCKET,
    ENGINE,
    ENTRY,
    EVERY_BLOCK,
    FLIGHT,
    FULL,
    GROUP,
    HELD,
    HOLD,
    KIND,
    NAMELESS,
    NOBODY,
    PART,
    REQUEST,
    STATE,
    STATEFUL,
    UNCAPPED,
    WINDOW,
)
from vramledger.simulate.fast.load import NEVER, Load
from vramledger.simulate.fast.pausing import room_for_pauses
from vramledger.simulate.fast.records import STEP
from vramledger.simulate.fast.sharing import without_lone_tails
from vramledger.simulate.groups import FullAttention, RecurrentState, SlidingWindow
from vramledger.simulate.settings import Order, Settings
from vramledger.simulate.step_cost import StepCost

if TYPE_CHECKING:
    from vramledger.simulate.fast.load import Integers, Rows

_WAYS: Final = {FullAttention: FULL, SlidingWindow: WINDOW, RecurrentState: STATEFUL}


class World(NamedTuple):
    """One engine at work."""

    engine: "Rows"  # one row of ENGINE
    asked: "Rows"
    prefix: "Integers"
    pieces: int
    records: "Rows"
    requests: "Rows"
    blocks: "Rows"  # of listed blocks, what they hold
    marks: "Integers"
    holds: "Rows"  # who holds a block, or where it stands in the ring
    ring: "Integers"
    aside: "Integers"  # blocks about to be put first
    buckets: "Rows"
    tables: "Integers"  # [tables, groups, blocks of a longest request]
    unused: "Integers"  # tables nobody has
    running: "Integers"  # ranks in the order of admission
    due: "Integers"  # the sent step at which each of them must be looked at
    parts: "Rows"  # [places, sequences]: what each request gets of the steps in flight
    flights: "Rows"  # the steps in flight, by their number in the ring of places
    stages: "Integers"  # when each pipeline stage is free again
    waiting: "Rows"  # heap, by priority only
    leaving: "Rows"  # heap of clients that go away
    groups: "Rows"
    states: "Rows"  # [tables, groups] of STATE
    kinds: "Rows"
    hit: "Integers"  # [groups, blocks]: what the last look-up found
    admitted: "Rows"  # of this step; tokens are those found
    preempted: "Integers"  # ranks, of this step
    passed_over: "Integers"
    rows: "Rows"
    pauses: "Rows"  # not handed out yet
    coefficients: tuple[int, ...]
    by_tokens: "Integers"


def new_world(
    settings: Settings, load: Load, cost: StepCost, records: "Rows", rows: int, seed: int
) -> World:
    """An engine before the first arrival; `rows` steps are kept before they must be handed out."""
    total, groups = len(load.asked), len(settings.groups)
    seqs = min(settings.max_num_seqs, total + 1)
    drafts = max(getattr(one, "speculative", 0) for one in settings.groups)
    columns = -(-settings.max_model_len // settings.block_size) + drafts
    places = _places(settings)
    leaving = int((load.asked["cancel_after_ns"] != NEVER).sum())
    by_priority = settings.order is Order.PRIORITY
    return World(
        engine=_engine(settings, total, seqs, seed),
        asked=without_lone_tails(load).asked,
        prefix=load.prefix,
        pieces=load.pieces,
        records=records,
        requests=_requests(load),
        **_blocks(settings.num_blocks),
        aside=np.zeros(columns + 1, np.int32),
        buckets=np.zeros(1 << settings.num_blocks.bit_length(), BUCKET),
        tables=np.zeros((seqs, groups, columns), np.int32),
        unused=np.arange(seqs)[::-1].copy(),
        running=np.zeros(seqs, np.int64),
        due=np.full(seqs, NOBODY),
        parts=np.zeros((places, seqs), PART),
        flights=np.zeros(places, FLIGHT),
        stages=np.zeros(settings.pipeline_stages, np.int64),
        waiting=np.zeros(total + 1 if by_priority else 1, ENTRY),
        leaving=np.zeros(leaving + 1, ENTRY),
        **_groups(settings, seqs),
        hit=np.zeros((groups, columns + 1), np.int32),
        admitted=np.zeros(seqs, PART),
        preempted=np.zeros(2 * seqs, np.int64),
        passed_over=np.zeros(2 * seqs, np.int64),
        rows=np.zeros(rows, STEP),
        pauses=room_for_pauses(settings.max_num_seqs),
        coefficients=cost.coefficients,
        by_tokens=np.array(cost.by_tokens, np.int64),
    )


def may_rest(settings: Settings) -> bool:
    """Whether decodes of an engine may rest at all, as `calm` has it."""
    budget = min(settings.scheduled_tokens or settings.token_budget, settings.token_budget)
    return (
        (settings.async_scheduling or settings.pipeline_stages == 1)
        and settings.order is Order.FCFS
        and settings.speculation is None
        and all(isinstance(one, FullAttention) for one in settings.groups)
        and settings.long_prefill_threshold == 0
        and budget >= settings.max_num_seqs
    )


def _groups(settings: Settings, seqs: int) -> dict[str, Any]:
    """What the groups are, as the plain cache has them."""
    cache = KvCache(settings)
    groups: Any = np.zeros(len(settings.groups), GROUP)
    for row, group, kind in zip(groups, cache.groups, settings.groups, strict=True):
        row["way"], row["cap"], row["wanted"] = _WAYS[type(kind)], UNCAPPED, NOBODY
        if isinstance(group, WindowBlocks):
            row["window"] = group.window
            row["cap"] = UNCAPPED if group.cap is None else group.cap
        if isinstance(kind, RecurrentState):
            row["speculative"], row["alignment"] = kind.speculative, kind.checkpoint or 0
    groups["member"] = [one.number for kind in cache.alike for one in kind.groups]
    kinds = np.zeros(len(cache.alike), KIND)
    kinds["count"] = [len(one.groups) for one in cache.alike]
    kinds["first"] = np.cumsum(kinds["count"]) - kinds["count"]
    stateful = STATEFUL in groups["way"]
    states = np.zeros((seqs, len(groups)) if stateful else (1, 1), STATE)
    return {"groups": groups, "kinds": kinds, "states": states}


def _state_values(settings: Settings) -> dict[str, Any]:
    kinds = [one for one in settings.groups if isinstance(one, RecurrentState)]
    budget = settings.scheduled_tokens or settings.token_budget
    threshold = settings.long_prefill_threshold
    alignments = [one.checkpoint for one in kinds]
    everywhere = bool(kinds) and None not in alignments
    return {
        "stateful": bool(kinds),
        "aligned": bool(kinds) and settings.prefix_caching,
        "largest_chunk": min(budget, threshold) if threshold else budget,
        "alignment": alignments[0] if everywhere else 0,
    }


def _requests(load: Load) -> "Rows":
    requests = np.zeros(len(load.asked), REQUEST)
    requests["prompt"] = load.asked["input_tokens"]
    requests["asked"] = load.asked["output_tokens"]
    requests["table"] = NOBODY
    requests["rests_from"] = NOBODY
    return requests


def open_request(world: World, rank: int) -> None:
    """A request whose row of `asked` has just been written."""
    request, asked = world.requests[rank], world.asked[rank]
    request["prompt"], request["asked"] = asked["input_tokens"], asked["output_tokens"]


def _blocks(count: int) -> dict[str, Any]:
    """All free but the null block, in their order; the ring has slots enough to be tidied seldom."""
    slots = 2 << count.bit_length()
    holds, ring = np.zeros(count, HOLD), np.zeros(slots, np.int32)
    holds["place"][0] = HELD
    holds["place"][1:] = np.arange(count - 1)
    ring[: count - 1] = np.arange(1, count)
    return {
        "blocks": np.zeros(count, BLOCK),
        "marks": np.full(count, NAMELESS, np.int8),
        "holds": holds,
        "ring": ring,
    }


def _places(settings: Settings) -> int:
    """Places for steps in flight: a power of two, at least 2."""
    return 1 << max(1, (settings.steps_in_flight - 1).bit_length())


def _engine(settings: Settings, total: int, seqs: int, seed: int) -> "Rows":
    values: dict[str, Any] = {
        **_limits(settings),
        **_drafting(settings),
        **_ways(settings),
        **_state_values(settings),
        "seed": seed & ((1 << 64) - 1),
        "free": settings.num_blocks - 1,
        "tail": settings.num_blocks - 1,
        "total": total,
        "unused": seqs,
        "first_waiting": NOBODY,
        "last_waiting": NOBODY,
        "outgrown": NOBODY,
        "until": FOREVER,
        "sought": NOBODY,
    }
    engine: Any = np.zeros(1, ENGINE)
    for name, value in values.items():
        engine[name] = value
    rows: Rows = engine
    return rows


def _limits(settings: Settings) -> dict[str, Any]:
    """How much of everything there is."""
    interval = settings.checkpoint_interval
    return {
        "block_size": settings.block_size,
        "groups": len(settings.groups),
        "tokens_budget": settings.scheduled_tokens or settings.token_budget,
        "inputs_budget": settings.token_budget,
        "max_num_seqs": settings.max_num_seqs,
        "max_model_len": settings.max_model_len,
        "watermark": settings.watermark_blocks,
        "usable_blocks": settings.num_blocks - 1,
        "steps_in_flight": settings.steps_in_flight,
        "ring": _places(settings) - 1,
        "threshold": settings.long_prefill_threshold,
        "interval": EVERY_BLOCK if interval is None else interval,
    }


def _drafting(settings: Settings) -> dict[str, Any]:
    speculation = settings.speculation
    return {
        "drafts": settings.drafts,
        "acceptance": speculation.acceptance if speculation else 0,
        "lookahead": settings.lookahead,
        "draft_rows": speculation.rows if speculation else 0,
        "drops_last": settings.drops_last_block,
    }


def _ways(settings: Settings) -> dict[str, Any]:
    """What is switched on."""
    rules = settings.rules
    full = all(isinstance(one, FullAttention) for one in settings.groups)
    return {
        "caching": settings.prefix_caching,
        "chunked": settings.chunked_prefill,
        "by_priority": settings.order is Order.PRIORITY,
        "asynchronous": settings.async_scheduling,
        "whole_prompt": rules.whole_prompt_admission,
        "uncached_first": rules.uncached_blocks_first,
        "lookahead_at_admission": rules.lookahead_at_admission,
        "lone_uncapped": rules.lone_prefill_uncapped,
        "own_ends_running": rules.own_preemption_ends_running,
        "late": full,
        "rests": may_rest(settings),
        "hybrid": not full,
        "always_capped": rules.window_admission is WindowAdmission.ALWAYS,
        "processed_only": rules.frees_processed_only,
    }
