"""Static batching: a batch is taken from those that wait, and nobody joins it until all of it is done.

This is how servers worked before continuous batching, and how ``generate`` of Hugging Face transformers
still does; it is here for contrast. All prompts of a batch are computed in its first step, then every
step brings each a token. Two ways are known by `Batching`:

- unpadded: every row computes its own tokens, and its blocks are free as soon as it is done;
- padded, as ``generate`` computes: rows are filled up to the longest prompt, those that are done
  go on computing padding until the longest answer is there, and the cache grows by one column
  for all rows alike (``[batch, heads, tokens, dim]``, transformers 5.24, cache_utils.py). Answers are
  returned together: the last token of each counts as delivered with the last of the batch.

A batch is as large as `max_num_seqs` and the cache allow, with the lengths of the answers known, which
favours it. A client that leaves while its batch runs does not stop it: its row goes on and keeps its
blocks, but the tokens that come from then on are nobody's. `policy.StaticBatch` in the plain
loop is the plain version of the unpadded way.
"""

from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from vramledger.frozen import frozen
from vramledger.simulate.batch_cost import BatchCost
from vramledger.simulate.fast.load import NEVER, Load, refuse_nonsense
from vramledger.simulate.fast.records import (
    CANCELLED,
    INCOMPLETE,
    OK,
    OPEN,
    PAUSE,
    REJECTED,
    STEP,
    TIMED_OUT,
    FastOutcome,
    new_records,
)
from vramledger.simulate.groups import RecurrentState, SlidingWindow
from vramledger.simulate.sentences import never_starts
from vramledger.simulate.settings import Settings
from vramledger.simulate.step_cost import StepCost

if TYPE_CHECKING:
    from vramledger.simulate.fast.load import Integers, Rows

    Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

_NEVER_LEAVES: Final = np.iinfo(np.int64).max


@frozen
class Batching:
    """How batches are computed."""

    padded: bool


def serve_batches(
    settings: Settings, load: Load, cost: StepCost, batching: Batching
) -> FastOutcome:
    """Run requests through one engine, batch by batch, in the order of their arrival.

    Raises:
        BadInput: for requests that mean nothing, or costs that 64 bits do not hold.
    """
    refuse_nonsense(load)
    cost.refuse_overflow(settings)
    return _Server(settings, load, BatchCost(cost), batching).run()


def blocks_of(settings: Settings, tokens: "Integers") -> "Integers":
    """Blocks that a request of so many tokens holds in all groups."""
    size = settings.block_size
    full = -(-tokens // size)
    held = np.zeros_like(full)
    for group in settings.groups:
        if isinstance(group, SlidingWindow):
            held += np.minimum(full, -(-group.window // size) + 1)
        elif isinstance(group, RecurrentState):
            held += 1
        else:
            held += full
    return held


@frozen
class _Behind:
    """When those behind a batch arrive, in that order, and when their clients leave."""

    arrival: "Integers"
    leaves: "Integers"

    def waiting(self, moments: "Integers") -> "Integers":
        """How many wait at each moment."""
        came = int(np.searchsorted(self.arrival, moments[-1], "right"))
        leaves = self.leaves[:came]
        left = np.sort(leaves[leaves <= moments[-1]])
        found: Integers = np.searchsorted(self.arrival[:came], moments, "right")
        return found - np.searchsorted(left, moments, "right")


class _Server:
    """One engine at work."""

    def __init__(self, settings: Settings, load: Load, cost: BatchCost, batching: Batching) -> None:
        self.settings, self.cost, self.padded = settings, cost, batching.padded
        asked = load.asked
        self.arrival = asked["arrival_ns"].copy()
        self.prompt = asked["input_tokens"].astype(np.int64)
        self.asked = asked["output_tokens"].astype(np.int64)
        self.output = np.clip(settings.max_model_len - self.prompt, 1, self.asked)
        waits = asked["cancel_after_ns"] == NEVER
        self.leaves = np.where(waits, _NEVER_LEAVES, self.arrival + asked["cancel_after_ns"])
        self.gone = np.where(asked["times_out"], TIMED_OUT, CANCELLED)  # how one ends that leaves
        self.records = new_records(len(asked))
        self.rows: list[Rows] = []
        self.pauses: list[Rows] = []
        self.sent = self.now = 0

    def run(self) -> FastOutcome:
        """All batches, until nobody waits or the first that waits never fits."""
        refused = self.prompt >= self.settings.max_model_len
        self.records["ending"][refused] = REJECTED
        queue = np.flatnonzero(~refused)
        arrival, leaves = self.arrival[queue], self.leaves[queue]
        head, stuck = 0, ""
        while head < len(queue) and not stuck:
            self.now = max(self.now, int(arrival[head]))
            there = int(np.searchsorted(arrival, self.now, "right"))
            gone = leaves[head:there] <= self.now
            left = queue[head:there][gone]
            self.records["ending"][left] = self.gone[left]
            waiting = head + np.flatnonzero(~gone)[: self.settings.max_num_seqs]
            taken = self._fitting(queue[waiting])
            head = there if not len(waiting) else int(waiting[max(taken - 1, 0)]) + 1
            if taken:
                behind = _Behind(arrival[head:], leaves[head:])
                self._serve(queue[waiting[:taken]], behind)
            elif len(waiting):
                head = int(waiting[0])
                stuck = self._held_back(int(queue[head]))
        return self._outcome(stuck)

    def _fitting(self, waiting: "Integers") -> int:
        """How many of the first that wait have room together."""
        prompt, output = self.prompt[waiting], self.output[waiting]
        if self.padded:
            longest = np.maximum.accumulate(prompt) + np.maximum.accumulate(output)
            held = (np.arange(len(waiting)) + 1) * blocks_of(self.settings, longest)
        else:
            held = np.cumsum(self._whole(waiting))
        return int(np.searchsorted(held, self.settings.num_blocks - 1, "right"))

    def _whole(self, requests: "Integers") -> "Integers":
        """Blocks of prompt and whole answer."""
        return blocks_of(self.settings, self.prompt[requests] + self.output[requests])

    def _serve(self, members: "Integers", behind: "_Behind") -> None:
        rows = self._padded_rows(members) if self.padded else self._own_rows(members)
        lasts = self.cost.lasts(rows)
        rows["end_ns"] = self.now + np.cumsum(lasts)
        rows["start_ns"] = rows["end_ns"] - lasts
        rows["number"] = self.sent + np.arange(len(rows))
        rows["waiting"] = behind.waiting(rows["start_ns"])
        self._record(members, rows)
        self.rows.append(rows)
        self.sent += len(rows)
        self.now = int(rows["end_ns"][-1])

    def _own_rows(self, members: "Integers") -> "Rows":
        """Steps in which every row computes its own tokens until it is done."""
        order = members[np.argsort(self.output[members], kind="stable")]
        output, prompt, blocks = self.output[order], self.prompt[order], self._whole(order)
        step = np.arange(int(output[-1]))
        done = np.searchsorted(output, step, "right")
        rows = np.zeros(len(step), STEP)
        rows["running"] = len(order) - done
        rows["used_blocks"] = _after(blocks, done)
        rows["decode_requests"] = rows["decode_tokens"] = rows["running"]
        rows["decode_context"] = _after(prompt, done) + rows["running"] * (step - 1)
        _set_prefill(rows, int(prompt.sum()), len(order), int((prompt * (prompt + 1) // 2).sum()))
        return rows

    def _padded_rows(self, members: "Integers") -> "Rows":
        """Steps in which all rows are as long as the longest, until the longest answer is there."""
        count, prompt = len(members), int(self.prompt[members].max())
        step = np.arange(int(self.output[members].max()))
        rows = np.zeros(len(step), STEP)
        rows["running"] = rows["decode_requests"] = rows["decode_tokens"] = count
        rows["used_blocks"] = count * blocks_of(self.settings, prompt + step)
        rows["decode_context"] = count * (prompt + step - 1)
        _set_prefill(rows, count * prompt, count, count * prompt * (prompt + 1) // 2)
        return rows

    def _record(self, members: "Integers", rows: "Rows") -> None:
        output, records = self.output[members], self.records
        last = np.full(len(members), len(rows) - 1) if self.padded else output - 1
        left = self.leaves[members] <= rows["end_ns"][last]
        got = np.where(left, self._got_before(members, rows), output)
        first, end = np.where(output == 1, last, 0), np.where(left, got - 1, last)
        records["scheduled_ns"][members] = self.now
        records["scheduled_step"][members] = self.sent
        spoke = got > 0
        for name, place in (("first_token", first[spoke]), ("last_token", end[spoke])):
            records[f"{name}_ns"][members[spoke]] = rows["end_ns"][place]
            records[f"{name}_step"][members[spoke]] = self.sent + place
        records["output_tokens"][members] = got
        records["block_ns"][members] = self._held(members, rows, last)
        whole = np.where(output == self.asked[members], OK, INCOMPLETE)
        records["ending"][members] = np.where(left, self.gone[members], whole)
        if self.padded:
            self._note_pauses(members[~left], output[~left], last[~left])

    def _got_before(self, members: "Integers", rows: "Rows") -> "Integers":
        """Tokens of each whose client leaves before its last one: those of steps that ended earlier."""
        ended = np.searchsorted(rows["end_ns"], self.leaves[members], "left")
        got: Integers = np.minimum(ended, self.output[members] - 1)
        return got

    def _held(self, members: "Integers", rows: "Rows", last: "Integers") -> "Integers":
        """Blocks over time: a padded row holds as much as every other, an own row its whole answer's."""
        if self.padded:
            each = rows["used_blocks"] // len(members)
            total = int((each * (rows["end_ns"] - rows["start_ns"])).sum())
            return np.full(len(members), total)
        held: Integers = self._whole(members) * (rows["end_ns"][last] - self.now)
        return held

    def _note_pauses(self, members: "Integers", output: "Integers", last: "Integers") -> None:
        """The last token of an answer comes with the batch; the one before came when it was computed."""
        early = (output > 1) & (output - 1 < last)
        pauses = np.zeros(int(early.sum()), PAUSE)
        pauses["rank"] = members[early]
        pauses["last_step"] = self.sent + output[early] - 2
        pauses["next_step"] = self.sent + last[early]
        self.pauses.append(pauses)

    def _held_back(self, rank: int) -> str:
        """A request that no batch holds is waited for until its client leaves; a sentence where that never is."""
        if self.leaves[rank] < _NEVER_LEAVES:
            self.now = int(self.leaves[rank])
            return ""
        whole = int(self.prompt[rank] + self.output[rank])
        need = int(blocks_of(self.settings, np.array([whole]))[0])
        return never_starts(rank, whole, need, self.settings.num_blocks - 1)

    def _outcome(self, stuck: str) -> FastOutcome:
        records = self.records
        records["ending"][records["ending"] == OPEN] = INCOMPLETE
        steps = np.concatenate([np.zeros(0, STEP), *self.rows])
        queued = records["ending"] != REJECTED
        records["queued_ns"][queued] = self._queued(steps)[queued]
        pauses = np.concatenate([np.zeros(0, PAUSE), *self.pauses])
        end = max(self.now, int(self.arrival.max(initial=0)))
        return FastOutcome(records, steps, self.sent, end, stuck, pauses)

    def _queued(self, steps: "Rows") -> "Integers":
        """Arrivals are looked at between two steps, and at once where the engine is idle."""
        place = np.searchsorted(steps["start_ns"], self.arrival, "right") - 1
        inside = place >= 0
        ends = np.where(inside, steps["end_ns"][place], 0) if len(steps) else np.zeros_like(place)
        starts = steps["start_ns"][place] if len(steps) else ends
        runs = inside & (self.arrival > starts) & (self.arrival < ends)
        found: Integers = np.where(runs, ends, self.arrival)
        return found


def _after(values: "Integers", done: "Integers") -> "Integers":
    """The sum of all values but the first `done`."""
    sums = np.concatenate(([0], np.cumsum(values)))
    found: Integers = sums[-1] - sums[done]
    return found


def _set_prefill(rows: "Rows", tokens: int, requests: int, pairs: int) -> None:
    """The first step has the prompts and no decodes."""
    first = rows[0]
    first["prefill_tokens"], first["prefill_requests"], first["prefill_pairs"] = (
        tokens,
        requests,
        pairs,
    )
    for name in ("decode_tokens", "decode_requests", "decode_context"):
        first[name] = 0
