"""Conversations over given arrivals and lengths.

How many turns each conversation has is drawn from the profile until its share of the requests is
used up. The longest conversations choose first: they begin at any arrival that leaves them room. Each
turn comes the mean duration (where the profile has one) and a drawn think time after the turn before;
for it the free arrival nearest to that moment is moved there, so that the rate stays what it was.
One that is longer than what is left is drawn together, to end where the last of as many evenly drawn
moments would: all ending at one moment would be a burst that no log had. Conversations of one turn
and requests without one take what is left. Lengths are those given, dealt out so that each turn's
input comes as near as what is left allows to the input and output of the turn before, divided by the
profile's carried share.
"""

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Any, Final

from vramledger.frozen import frozen
from vramledger.workload.profile.profile import Profile, Sessions
from vramledger.workload.synth.draws import Shares
from vramledger.workload.synth.lengths import DrawnLengths
from vramledger.workload.synth.nearest import NearestFree

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_CARRIED: Final = 1.0  # where the profile does not know


@frozen
class Conversations:
    """For each request: its conversation (-1: none), its turn, the turn before (-1: none)."""

    times: "NDArray[np.float64]"  # ascending, between the first and the last that were given
    session: "NDArray[np.int32]"
    turn: "NDArray[np.int32]"
    previous: "NDArray[np.int64]"  # index in these requests
    think_s: "NDArray[np.float64]"  # nan at turn 0
    lengths: DrawnLengths


@frozen
class _Placed:
    """The arrivals in order, and which of them each turn has; after the turns, the others."""

    times: "NDArray[np.float64]"
    place: "NDArray[np.int64]"


class ConversationDraws:
    """Draws conversations like a profile's; numbers go on from one call to the next."""

    def __init__(self, profile: Profile, sessions: Sessions) -> None:
        import numpy as np

        self._turns = np.array([turns for turns, _ in sessions.turns], np.int64)
        self._shares = Shares(np.array([count for _, count in sessions.turns], float))
        weights = np.array([count for _, count in sessions.turns], float)
        held = float((self._turns * weights).sum())
        self._share = min(1.0, held / profile.requests) if profile.requests else 0.0
        self._mean_turns = held / float(weights.sum())
        self._think = np.array(sessions.think_s or (0.0,), float)
        self._carried = sessions.carried or _CARRIED
        self._duration = float((profile.duration_s or {}).get("mean", 0.0))
        self._next = 0

    def draw(
        self, times: "NDArray[np.float64]", lengths: DrawnLengths, rng: "np.random.Generator"
    ) -> Conversations:
        """Conversations of the requests at these times; none goes on into the next call."""
        import numpy as np

        turns = self._turn_counts(len(times), rng)
        session, turn = _numbered(turns)
        placed = self._placed(times, turns, rng)
        times, place = placed.times, placed.place
        dealt = self._dealt(turns, lengths, rng)
        count, held = len(times), len(session)
        sessions, within = np.full(count, -1, np.int32), np.zeros(count, np.int32)
        sessions[place[:held]] = session + self._next
        within[place[:held]] = turn
        self._next += len(turns)
        later = np.flatnonzero(turn > 0)
        previous = np.full(count, -1)
        previous[place[later]] = place[later - 1]
        has = previous >= 0
        thought = np.full(count, np.nan)
        thought[has] = np.maximum(0.0, times[has] - times[previous[has]] - self._duration)
        order = np.empty(count, np.int64)
        order[place] = dealt
        return Conversations(times, sessions, within, previous, thought, lengths.taken(order))

    def _turn_counts(self, count: int, rng: "np.random.Generator") -> "NDArray[np.int64]":
        """Turns of each conversation, together the profile's share of so many requests."""
        import numpy as np

        wanted = round(count * self._share)
        drawn = np.empty(0, np.int64)
        while drawn.sum() < wanted:
            more = int((wanted - drawn.sum()) / self._mean_turns) + 8
            drawn = np.concatenate((drawn, self._turns[self._shares.draw(rng, more)]))
        within = np.cumsum(drawn)
        kept = drawn[within <= wanted]
        left = min(wanted - int(kept.sum()), count - int(kept.sum()))
        return np.append(kept, left) if left > 0 else kept

    def _placed(
        self, times: "NDArray[np.float64]", turns: "NDArray[np.int64]", rng: "np.random.Generator"
    ) -> "_Placed":
        import numpy as np

        starts = np.concatenate(([0], np.cumsum(turns))).tolist()
        share = rng.random(starts[-1]) * (len(self._think) - 1)
        gaps = np.interp(share, np.arange(len(self._think)), self._think) + self._duration
        clock: list[float] = times.tolist()
        free = NearestFree(len(clock))
        moved, taken = times.copy(), np.empty(len(clock), np.int64)
        for number in np.argsort(-turns, kind="stable").tolist():
            start, end = starts[number], starts[number + 1]
            after = np.cumsum(gaps[start + 1 : end])
            needed = float(after[-1]) if len(after) else 0.0
            at = taken[start] = free.take(_start(clock, needed, len(after), rng))
            left = clock[-1] - clock[at]
            if needed > left:
                after *= left * rng.beta(len(after), 1) / needed
            for turn, moment in enumerate((clock[at] + after).tolist(), start + 1):
                taken[turn] = free.take(_nearest(clock, moment))
                moved[taken[turn]] = moment
        taken[starts[-1] :] = free.left()
        order = np.argsort(moved, kind="stable")
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        in_order = moved[order]
        in_order[0] = times[0]
        return _Placed(in_order, _in_turn(place[taken], turns))

    def _dealt(
        self, turns: "NDArray[np.int64]", lengths: DrawnLengths, rng: "np.random.Generator"
    ) -> "NDArray[np.int64]":
        """Which of the given lengths each turn has, conversation after conversation, then the rest."""
        import numpy as np

        order = np.argsort(lengths.input_tokens, kind="stable")
        inputs: list[int] = lengths.input_tokens[order].tolist()
        outputs: list[int] = lengths.output_tokens[order].tolist()
        free = NearestFree(len(inputs))
        starts: Any = np.concatenate(([0], np.cumsum(turns)))
        dealt = np.empty(len(inputs), np.int64)
        sorted_inputs = lengths.input_tokens[order]
        for number in np.argsort(-turns, kind="stable").tolist():
            count = int(turns[number])
            at = free.take(int(rng.random() * len(inputs) / count))
            dealt[starts[number]] = at
            for turn in range(1, count):
                target = (inputs[at] + outputs[at]) / self._carried
                at = free.take(min(int(np.searchsorted(sorted_inputs, target)), len(inputs) - 1))
                dealt[starts[number] + turn] = at
        rest = np.array(free.left(), np.int64)
        dealt[starts[-1] :] = rng.permutation(rest)
        found: NDArray[np.int64] = order[dealt]
        return found


def _start(clock: list[float], needed: float, after: int, rng: "np.random.Generator") -> int:
    """Where a conversation begins: anywhere it has room, else as the first of moments drawn evenly."""
    room = bisect_right(clock, clock[-1] - needed)
    if room:
        return int(rng.random() * room)
    return int(rng.beta(1, after + 1) * len(clock))


def _nearest(clock: list[float], moment: float) -> int:
    """The index of the time nearest to a moment; times ascend."""
    after = min(bisect_left(clock, moment), len(clock) - 1)
    return after - 1 if after and moment - clock[after - 1] < clock[after] - moment else after


def _in_turn(place: "NDArray[np.int64]", turns: "NDArray[np.int64]") -> "NDArray[np.int64]":
    """The places with those of each conversation ascending, where turns share a moment."""
    import numpy as np

    session, _ = _numbered(turns)
    held = place[: len(session)]
    return np.concatenate((held[np.lexsort((held, session))], place[len(session) :]))


def _numbered(turns: "NDArray[np.int64]") -> "tuple[NDArray[np.int64], NDArray[np.int64]]":
    """For each turn, the number of its conversation and its own within it."""
    import numpy as np

    session = np.repeat(np.arange(len(turns)), turns)
    start = np.concatenate(([0], np.cumsum(turns)[:-1])) if len(turns) else np.zeros(0, np.int64)
    return session, np.arange(len(session)) - start[session]
