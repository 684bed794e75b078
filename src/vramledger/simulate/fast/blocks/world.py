"""Everything that changes while an engine runs, laid out for the compiled code."""

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from vramledger.engine.vllm.rules import WindowAdmission
from vramledger.simulate.cache.kv_cache import KvCache
from vramledger.simulate.cache.window import WindowBlocks
from vramledger.simulate.fast.advancing import ADVANCING, FOREVER
from vramledger.simulate.fast.load import NEVER, Load
from vramledger.simulate.fast.records import FEATURES, STEP
from vramledger.simulate.fast.sharing import without_lone_tails
from vramledger.simulate.groups import FullAttention, RecurrentState, SlidingWindow
from vramledger.simulate.settings import Order, Settings
from vramledger.simulate.step_cost import StepCost

if TYPE_CHECKING:
    from vramledger.simulate.fast.load import Integers, Rows

FULL, WINDOW, STATEFUL = range(3)  # ways of a group
NULL: Final = 0  # the null block, which stands for none
NAMELESS, OWN, LISTED = range(3)  # marks of a block, as `pool` has them
HELD: Final = -1  # the place of a block that is not free
NOBODY: Final = -1
UNCAPPED: Final = 1 << 60
EVERY_BLOCK: Final = -1  # an interval of checkpoints that keeps all
WAITING, RUNNING, PREEMPTED, FINISHED, ABORTED = range(5)  # as `request.Status`

ENGINE: Final = np.dtype(
    [
        ("block_size", np.int64),
        ("groups", np.int64),
        ("tokens_budget", np.int64),
        ("inputs_budget", np.int64),
        ("max_num_seqs", np.int64),
        ("max_model_len", np.int64),
        ("watermark", np.int64),
        ("usable_blocks", np.int64),
        ("steps_in_flight", np.int64),
        ("threshold", np.int64),
        ("drafts", np.int64),
        ("acceptance", np.int64),
        ("lookahead", np.int64),
        ("draft_rows", np.int64),
        ("seed", np.uint64),
        ("caching", np.bool_),
        ("chunked", np.bool_),
        ("by_priority", np.bool_),
        ("asynchronous", np.bool_),
        ("drops_last", np.bool_),
        ("whole_prompt", np.bool_),
        ("uncached_first", np.bool_),
        ("lookahead_at_admission", np.bool_),
        ("lone_uncapped", np.bool_),
        ("own_ends_running", np.bool_),
        ("hybrid", np.bool_),  # some group has a window or states
        ("stateful", np.bool_),  # some group has states
        ("aligned", np.bool_),  # at block boundaries
        ("always_capped", np.bool_),
        ("broken", np.bool_),  # it took blocks that were not there
        ("largest_chunk", np.int64),
        ("alignment", np.int64),  # of states that every group writes inside a chunk, or 0
        ("processed_only", np.bool_),
        ("rests", np.bool_),  # decodes may rest, as `calm` has it
        ("late", np.bool_),  # own blocks are listed when their request is preempted
        ("lockstep", np.bool_),  # time counts steps, and empty ones are sent too
        ("interval", np.int64),
        # the clock
        ("now", np.int64),
        ("device_free", np.int64),
        ("busy", np.int64),  # time in which a step ran, so far
        ("next_step", np.int64),
        ("sent", np.int64),
        ("settled", np.int64),
        *ADVANCING,
        ("settled_ns", np.int64),
        ("settled_step", np.int64),
        ("returned", np.int64),  # steps that came back since the last was scheduled
        # requests and blocks
        ("free", np.int64),
        ("head", np.int64),  # of the ring of free blocks
        ("tail", np.int64),
        ("total", np.int64),
        ("coming", np.int64),
        ("waiting", np.int64),
        ("running", np.int64),
        ("resting", np.int64),  # of those that run
        ("resting_context", np.int64),  # their tokens before the next step
        ("unused", np.int64),  # block tables
        ("first_waiting", np.int64),
        ("last_waiting", np.int64),
        ("heaped", np.int64),  # entries of the waiting heap
        ("leaving", np.int64),  # entries of the leaving heap
        ("outgrown", np.int64),
        ("thrashes", np.bool_),
        # the last look-up
        ("sought", np.int64),  # whose it was, or NOBODY when names changed since
        ("found", np.int64),  # blocks found
        ("branch", np.int64),
        ("missing_owner", np.int64),
        ("missing_name", np.int64),
        # the step being scheduled
        ("step", np.int64),
        ("tokens_left", np.int64),
        ("inputs_left", np.int64),
        ("cap", np.int64),
        ("scheduled", np.int64),
        ("admitted", np.int64),
        ("preempted", np.int64),
        ("index", np.int64),  # place in the running list
        ("prefill", np.bool_),
        ("served_running", np.bool_),
        *((name, np.int64) for name in FEATURES),
        ("rows", np.int64),
    ],
    align=True,
)

REQUEST: Final = np.dtype(
    [
        (name, np.int32)
        for name in (
            "status",
            "prompt",
            "asked",
            "generated",
            "computed",
            "in_flight",
            "stale",
            "placeholders",
            "drafts",
            "prefilling",
            "lost",
            "table",
            "held",  # blocks of each group
            "published",
            "branch",
            "before",  # in the waiting list
            "after",
            "outgrown_times",
        )
    ]
    + [("outgrown_events", np.int64), ("rests_from", np.int64)],
    align=True,
)

STATE: Final = np.dtype(
    [
        ("held", np.int32),  # columns
        ("previous", np.int32),  # column of the state before the running one
        ("retired", np.int32),  # leading columns that hold no state any more
        ("position", np.int32),  # tokens of the state written inside the last chunk
        ("column", np.int32),  # and where it is
        ("began", np.bool_),
    ],
    align=True,
)

BLOCK: Final = np.dtype(
    [
        ("owner", np.int64),  # salt of a shared prefix, or below 0 for one request's own
        ("name", np.int64),
        ("older", np.int32),  # in its bucket of names
        ("newer", np.int32),
        ("group", np.int32),
    ],
    align=True,
)

HOLD: Final = np.dtype([("references", np.int32), ("place", np.int32)], align=True)
KIND: Final = np.dtype([(name, np.int64) for name in ("first", "count", "found", "dropped")])
BUCKET: Final = np.dtype([("oldest", np.int32), ("newest", np.int32)], align=True)
PART: Final = np.dtype(
    [(name, np.int32) for name in ("rank", "place", "tokens", "drafts", "sampled")], align=True
)
FLIGHT: Final = np.dtype(
    [(name, np.int64) for name in ("end_ns", "step", "parts", "resting")], align=True
)
ENTRY: Final = np.dtype([("key", np.int64), ("rank", np.int64)])


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
    parts: "Rows"  # [2, sequences]: what each request gets of the steps in flight
    flights: "Rows"
    waiting: "Rows"  # heap, by priority only
    leaving: "Rows"  # heap of clients that go away
    ways: "Integers"  # of each group: FULL, WINDOW or STATEFUL
    speculative: "Integers"  # states of drafts
    alignments: "Integers"  # of states written inside a chunk, 0 for never
    states: "Rows"  # [tables, groups] of STATE
    stamps: "Integers"  # of each block, the step after that in which its state was named
    wanted: "Integers"  # of each group, the state to be written inside the chunk
    windows: "Integers"  # of each group, 0 for full attention
    caps: "Integers"  # most blocks of a window, UNCAPPED for none
    members: "Integers"  # groups by kind, full attention first
    kinds: "Rows"
    hit: "Integers"  # [groups, blocks]: what the last look-up found
    admitted: "Rows"  # of this step; tokens are those found
    preempted: "Integers"  # ranks, of this step
    passed_over: "Integers"
    rows: "Rows"
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
        parts=np.zeros((2, seqs), PART),
        flights=np.zeros(2, FLIGHT),
        waiting=np.zeros(total + 1 if by_priority else 1, ENTRY),
        leaving=np.zeros(leaving + 1, ENTRY),
        **_groups(settings),
        **_states(settings, seqs),
        hit=np.zeros((groups, columns + 1), np.int32),
        admitted=np.zeros(seqs, PART),
        preempted=np.zeros(2 * seqs, np.int64),
        passed_over=np.zeros(2 * seqs, np.int64),
        rows=np.zeros(rows, STEP),
        coefficients=cost.coefficients,
        by_tokens=np.array(cost.by_tokens, np.int64),
    )


def may_rest(settings: Settings) -> bool:
    """Whether decodes of an engine may rest at all, as `calm` has it."""
    budget = min(settings.scheduled_tokens or settings.token_budget, settings.token_budget)
    return (
        settings.order is Order.FCFS
        and settings.speculation is None
        and all(isinstance(one, FullAttention) for one in settings.groups)
        and settings.long_prefill_threshold == 0
        and budget >= settings.max_num_seqs
    )


def _groups(settings: Settings) -> dict[str, Any]:
    """What the groups are, as the plain cache has them."""
    cache = KvCache(settings)
    windows = [one.window if isinstance(one, WindowBlocks) else 0 for one in cache.groups]
    caps = [one.cap if isinstance(one, WindowBlocks) else None for one in cache.groups]
    kinds = np.zeros(len(cache.alike), KIND)
    kinds["count"] = [len(one.groups) for one in cache.alike]
    kinds["first"] = np.cumsum(kinds["count"]) - kinds["count"]
    return {
        "windows": np.array(windows, np.int64),
        "caps": np.array([UNCAPPED if cap is None else cap for cap in caps], np.int64),
        "members": np.array([one.number for kind in cache.alike for one in kind.groups]),
        "kinds": kinds,
    }


def _states(settings: Settings, seqs: int) -> dict[str, Any]:
    """What is known of groups of states; next to nothing where there are none."""
    groups = settings.groups
    kinds = [one for one in groups if isinstance(one, RecurrentState)]
    ways = {FullAttention: FULL, SlidingWindow: WINDOW, RecurrentState: STATEFUL}
    return {
        "ways": np.array([ways[type(one)] for one in groups], np.int64),
        "speculative": np.array([getattr(one, "speculative", 0) for one in groups], np.int64),
        "alignments": np.array([getattr(one, "checkpoint", 0) or 0 for one in groups], np.int64),
        "states": np.zeros((seqs, len(groups)) if kinds else (1, 1), STATE),
        "stamps": np.zeros(settings.num_blocks if kinds else 1, np.int64),
        "wanted": np.full(len(groups), NOBODY),
    }


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


def _engine(settings: Settings, total: int, seqs: int, seed: int) -> "Rows":
    speculation, rules = settings.speculation, settings.rules
    interval = settings.checkpoint_interval
    values: dict[str, Any] = {
        **_state_values(settings),
        "block_size": settings.block_size,
        "groups": len(settings.groups),
        "tokens_budget": settings.scheduled_tokens or settings.token_budget,
        "inputs_budget": settings.token_budget,
        "max_num_seqs": settings.max_num_seqs,
        "max_model_len": settings.max_model_len,
        "watermark": settings.watermark_blocks,
        "usable_blocks": settings.num_blocks - 1,
        "steps_in_flight": settings.steps_in_flight,
        "threshold": settings.long_prefill_threshold,
        "drafts": settings.drafts,
        "acceptance": speculation.acceptance if speculation else 0,
        "lookahead": settings.lookahead,
        "draft_rows": speculation.rows if speculation else 0,
        "seed": seed & ((1 << 64) - 1),
        "caching": settings.prefix_caching,
        "chunked": settings.chunked_prefill,
        "by_priority": settings.order is Order.PRIORITY,
        "asynchronous": settings.async_scheduling,
        "drops_last": settings.drops_last_block,
        "whole_prompt": rules.whole_prompt_admission,
        "uncached_first": rules.uncached_blocks_first,
        "lookahead_at_admission": rules.lookahead_at_admission,
        "lone_uncapped": rules.lone_prefill_uncapped,
        "own_ends_running": rules.own_preemption_ends_running,
        "late": all(isinstance(one, FullAttention) for one in settings.groups),
        "rests": may_rest(settings),
        "hybrid": any(not isinstance(one, FullAttention) for one in settings.groups),
        "always_capped": rules.window_admission is WindowAdmission.ALWAYS,
        "processed_only": rules.frees_processed_only,
        "interval": EVERY_BLOCK if interval is None else interval,
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
