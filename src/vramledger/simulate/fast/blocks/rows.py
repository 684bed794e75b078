"""The rows of numbers in which the compiled engine keeps what it knows, and the marks in them."""

from typing import Final

import numpy as np

from vramledger.simulate.fast.advancing import ADVANCING
from vramledger.simulate.fast.records import FEATURES

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
        ("ring", np.int64),  # places for steps in flight, a power of two, less 1
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
        ("stamp", np.int32),  # the step after that in which a state was named so
    ],
    align=True,
)

GROUP: Final = np.dtype(
    [
        ("way", np.int64),  # FULL, WINDOW or STATEFUL
        ("window", np.int64),
        ("cap", np.int64),  # most blocks of a window, UNCAPPED for none
        ("speculative", np.int64),  # states of drafts
        ("alignment", np.int64),  # of states written inside a chunk, 0 for never
        ("wanted", np.int64),  # the state to be written inside the chunk being scheduled, or NOBODY
        ("member", np.int64),  # of this place, when groups stand by kind: the group's number
    ]
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
