"""Everything that changes while an engine runs, laid out for the compiled code."""

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from vramledger.simulate.fast.advancing import ADVANCING, FOREVER
from vramledger.simulate.fast.load import Load
from vramledger.simulate.fast.pausing import room_for_pauses
from vramledger.simulate.fast.records import FEATURES, STEP
from vramledger.simulate.settings import Settings
from vramledger.simulate.step_cost import StepCost

if TYPE_CHECKING:
    from vramledger.simulate.fast.load import Integers, Rows

NOBODY: Final = -1
WAITING, PREFILLING, DECODING, LAST_IN_FLIGHT = range(4)  # stages of a slot

STATE: Final = np.dtype(
    [
        # the engine
        ("block_size", np.int64),
        ("groups", np.int64),
        ("budget", np.int64),
        ("max_num_seqs", np.int64),
        ("max_model_len", np.int64),
        ("watermark", np.int64),
        ("usable_blocks", np.int64),
        ("steps_in_flight", np.int64),
        ("whole_prompt", np.bool_),
        ("chunked", np.bool_),
        # the clock; steps that were sent are numbered without the empty ones
        ("now", np.int64),
        ("device_free", np.int64),
        ("busy", np.int64),  # time in which a step ran, so far
        ("step", np.int64),  # number of the step being scheduled
        ("next_step", np.int64),
        ("sent", np.int64),
        ("settled", np.int64),
        ("settled_ns", np.int64),
        ("settled_step", np.int64),
        *ADVANCING,
        # blocks and requests
        ("free", np.int64),
        ("total", np.int64),
        ("coming", np.int64),  # the next to arrive
        ("head", np.int64),  # the first that has arrived and never ran
        ("waiting", np.int64),
        ("running", np.int64),
        ("first", np.int64),  # ends of the running list
        ("last", np.int64),
        ("prefilling", np.int64),  # the slot in the middle of its prefill
        ("decoding", np.int64),
        ("context", np.int64),  # tokens of all decodes before the next step
        ("stacked", np.int64),
        ("unused", np.int64),
        ("stale", np.int64),
        # requests that outgrow the whole pool, as `loop` counts them
        ("outgrown", np.int64),  # the request that did so last
        ("thrashes", np.bool_),
        # the step being scheduled
        ("admitted", np.int64),
        ("preempted", np.int64),
        *((name, np.int64) for name in FEATURES),
        ("rows", np.int64),
    ],
    align=True,
)

SLOT: Final = np.dtype(
    [
        ("rank", np.int64),
        ("prompt", np.int64),
        ("limit", np.int64),  # tokens it generates in the end
        ("given", np.int64),  # generated when it was admitted
        ("computed", np.int64),  # decoding: when its prefill was done
        ("blocks", np.int64),  # decoding: when its prefill was done
        ("sampled_from", np.int64),  # the sent step that brings its first token since admission
        ("final", np.int64),  # the sent step that brings its last
        ("phase", np.int64),
        ("phase_before", np.int64),  # the phase's sum of times when it joined
        ("taken_ns", np.int64),  # sum over its blocks of busy time when they were taken
        ("lost", np.int64),
        ("outgrown_events", np.int64),  # events when it last outgrew the whole pool
        ("outgrown_times", np.int64),  # and how often it did since
        ("stage", np.int64),
        ("before", np.int64),  # in the running list
        ("after", np.int64),
        ("day_before", np.int64),  # in the calendar
        ("day_after", np.int64),
    ],
    align=True,
)

PHASE: Final = np.dtype([("decodes", np.int64), ("taken_ns", np.int64)], align=True)

FLIGHT: Final = np.dtype(
    [
        ("end_ns", np.int64),
        ("step", np.int64),
        ("sampled", np.int64),  # prefills that it completes
        ("tokens", np.int64),  # requests that get a token from it
    ],
    align=True,
)


class World(NamedTuple):
    """One engine at work. Slots are the requests that run or were preempted, `max_num_seqs` at most."""

    engine: "Rows"  # one row of STATE
    asked: "Rows"
    records: "Rows"
    slots: "Rows"
    phases: "Rows"
    flights: "Rows"  # the steps in flight, by the parity of their number
    calendar: "Integers"  # first slot whose last token a step brings, by step modulo its length
    sampled: "Integers"  # [2, slots]: whose prefill a step in flight completes
    admitted: "Integers"  # slots admitted in this step
    stack: "Integers"  # preempted slots, the next to be served last
    unused: "Integers"  # slots that are free
    stale: "Integers"  # slots preempted while a token of theirs is in flight
    rows: "Rows"  # steps not handed out yet
    pauses: "Rows"  # not handed out yet
    coefficients: tuple[int, ...]
    by_tokens: "Integers"


def new_world(settings: Settings, load: Load, cost: StepCost, records: "Rows", rows: int) -> World:
    """An engine before the first arrival; `rows` steps are kept before they must be handed out."""
    slots = min(settings.max_num_seqs, len(load.asked) + 1)
    longest = int(load.asked["output_tokens"].max(initial=1))
    days = 1 << (min(longest, settings.max_model_len) + 2).bit_length()
    return World(
        engine=_state(settings, len(load.asked), slots),
        asked=load.asked,
        records=records,
        slots=np.zeros(slots, SLOT),
        phases=np.zeros(settings.block_size, PHASE),
        flights=np.zeros(2, FLIGHT),
        calendar=np.full(days, NOBODY),
        sampled=np.zeros((2, slots), np.int64),
        admitted=np.zeros(slots, np.int64),
        stack=np.zeros(slots, np.int64),
        unused=np.arange(slots)[::-1].copy(),
        stale=np.zeros(slots, np.int64),
        rows=np.zeros(rows, STEP),
        pauses=room_for_pauses(settings.max_num_seqs),
        coefficients=cost.coefficients,
        by_tokens=np.array(cost.by_tokens, np.int64),
    )


def _state(settings: Settings, total: int, slots: int) -> "Rows":
    state: Any = np.zeros(1, STATE)
    scheduled = settings.scheduled_tokens or settings.token_budget
    values = {
        "block_size": settings.block_size,
        "groups": len(settings.groups),
        "budget": min(scheduled, settings.token_budget),
        "max_num_seqs": settings.max_num_seqs,
        "max_model_len": settings.max_model_len,
        "watermark": settings.watermark_blocks,
        "usable_blocks": settings.num_blocks - 1,
        "steps_in_flight": settings.steps_in_flight,
        "whole_prompt": settings.rules.whole_prompt_admission,
        "chunked": settings.chunked_prefill,
        "free": settings.num_blocks - 1,
        "total": total,
        "first": NOBODY,
        "last": NOBODY,
        "prefilling": NOBODY,
        "outgrown": NOBODY,
        "until": FOREVER,
        "unused": slots,
    }
    for name, value in values.items():
        state[name] = value
    rows: Rows = state
    return rows
