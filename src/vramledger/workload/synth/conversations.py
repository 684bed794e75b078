"""Conversations over given arrivals and lengths, without changing either.

How many turns each conversation has is drawn from the profile until its share of the requests is
used up. Conversations begin in proportion to the arrivals, their turns follow after the mean duration
(where the profile has one) and a drawn think time; the turns of all conversations, in the order of the
times so wished for, then take the given arrivals in order. Lengths are those given, dealt out so that
each turn's input comes as near as what is left allows to the input and output of the turn before,
divided by the profile's carried share.
"""

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

    session: "NDArray[np.int32]"
    turn: "NDArray[np.int32]"
    previous: "NDArray[np.int64]"  # index in these requests
    think_s: "NDArray[np.float64]"  # nan at turn 0
    lengths: DrawnLengths


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
        wished = self._wished(times, turns, rng)
        alone = len(times) - len(session)
        wished = np.concatenate((wished, times[rng.integers(0, len(times), alone)]))
        session = np.concatenate((session, np.full(alone, -1)))
        turn = np.concatenate((turn, np.zeros(alone, np.int64)))
        dealt = self._dealt(turns, lengths, rng)
        order = np.argsort(wished, kind="stable")
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        previous = np.full(len(order), -1)
        later = turn > 0
        previous[place[later]] = place[np.flatnonzero(later) - 1]
        thought = np.full(len(order), np.nan)
        has = previous >= 0
        thought[has] = np.maximum(0.0, times[has] - times[previous[has]] - self._duration)
        shown = np.where(session >= 0, session + self._next, -1)[order]
        self._next += len(turns)
        return Conversations(
            shown.astype(np.int32), turn[order].astype(np.int32), previous, thought,
            lengths.taken(dealt[order]),
        )  # fmt: skip

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

    def _wished(
        self, times: "NDArray[np.float64]", turns: "NDArray[np.int64]", rng: "np.random.Generator"
    ) -> "NDArray[np.float64]":
        """When each turn would come, conversation after conversation, within the stretch of times."""
        import numpy as np

        session, turn = _numbered(turns)
        place = rng.random(len(session)) * (len(self._think) - 1)
        gaps = np.interp(place, np.arange(len(self._think)), self._think) + self._duration
        gaps[turn == 0] = 0.0
        total = np.cumsum(gaps)
        first = np.flatnonzero(turn == 0)
        after = total - total[first][session] if len(first) else total
        longest = np.zeros(len(turns))
        np.maximum.at(longest, session, after)
        stretch = float(times[-1] - times[0])
        room = np.searchsorted(times, times[0] + np.maximum(stretch - longest, 0.0), side="right")
        begin = times[(rng.random(len(turns)) * np.maximum(room, 1)).astype(np.int64)]
        squeezed = np.minimum(1.0, stretch / np.maximum(longest, 1e-9))
        wished: NDArray[np.float64] = begin[session] + after * squeezed[session]
        return wished

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


def _numbered(turns: "NDArray[np.int64]") -> "tuple[NDArray[np.int64], NDArray[np.int64]]":
    """For each turn, the number of its conversation and its own within it."""
    import numpy as np

    session = np.repeat(np.arange(len(turns)), turns)
    start = np.concatenate(([0], np.cumsum(turns)[:-1])) if len(turns) else np.zeros(0, np.int64)
    return session, np.arange(len(session)) - start[session]
