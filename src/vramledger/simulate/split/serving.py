"""Two pools of servers in one order of time: prompts here, answers there, the cache over a link between.

A request goes to the prefill server of the router's choice, which computes its prompt and keeps the blocks. At that
instant it goes to the decode server of the router's choice, which holds blocks for the prompt and then sends for the cache
(`fetching`). When it has come, the prefill server gives its blocks back, and the decode server computes the last prompt
token again, which brings the first token that the client sees.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from vramledger.frozen import frozen
from vramledger.simulate.fast.load import NEVER, Load
from vramledger.simulate.routing.clients import Clients
from vramledger.simulate.routing.dispatch import Dispatch
from vramledger.simulate.routing.timeline import Timeline
from vramledger.simulate.split.link import Ports
from vramledger.simulate.split.loop import Fetch
from vramledger.simulate.split.pool import Pool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vramledger.simulate.routing.clients import Integers
    from vramledger.simulate.split.engine import SplitEngine


@frozen
class Kept:
    """Where a prompt was computed: the number of the prefill server, and the request's rank there."""

    server: int
    rank: int


@frozen
class Transfer:
    """One cache over the link, from when it was sent for to when it had come."""

    place: int
    blocks: int
    begun_ns: int
    came_ns: int


class SplitServing:
    """Both pools at work. Servers are numbered with those of the prefill pool first."""

    def __init__(
        self,
        engines: "Sequence[SplitEngine]",
        prefill: Dispatch,
        decode: Dispatch,
        ports: Ports,
        load: Load,
    ) -> None:
        self.engines = engines
        self.kept: dict[int, Kept] = {}  # by place, of requests that were handed over
        self.transfers: list[Transfer] = []
        self._prefill = prefill
        self._decode = decode
        self._ports = ports
        self._load = load
        self._timeline = Timeline(engines, (prefill.board, decode.board))
        self._clients: Clients | None = None
        self._arrived: dict[int, int] = {}  # by place, when it came to the prefill pool
        self._fetched: set[int] = set()  # places whose cache was sent for
        self._ended = 0

    def run_open(self, arrivals: "Integers", told: Callable[[int], None]) -> None:
        """Requests that arrive at their own times, nanoseconds by place."""
        for place in arrivals.argsort(kind="stable").tolist():
            self._timeline.expect(int(arrivals[place]), partial(self._to_prefill, place))
        self._run(told)

    def run_closed(
        self, front_ns: "Integers", in_flight: int, told: Callable[[int], None]
    ) -> "Integers":
        """So many requests in flight; returns when each was sent, by place."""
        clients = Clients(self._timeline, self._to_prefill, front_ns, in_flight)
        self._clients = clients
        self._run(told)
        if clients.unsent:
            clients.ended(clients.unsent, max(engine.now for engine in self.engines))
            self._run(told)
        return clients.sent_ns

    def _run(self, told: Callable[[int], None]) -> None:
        self._told = told
        self._timeline.run(self)

    def _to_prefill(self, place: int, now: int) -> None:
        self._arrived[place] = now
        self._prefill.send(place, now)

    def _to_decode(self, place: int, now: int) -> None:
        patience = int(self._load.asked["cancel_after_ns"][place])
        if patience != NEVER:
            patience = max(0, self._arrived[place] + patience - now)
        self._decode.send_until(place, now, patience)

    def went_on(self, number: int) -> None:
        """Hand over prompts that are computed, answer for caches that are sent for."""
        engine = self.engines[number]
        for fetch in engine.sent_for():
            self._send_cache(number, fetch)
        for rank in engine.ended_lately():
            place = engine.places[rank]
            if engine.pool is Pool.PREFILL and engine.hands_over(rank):
                self.kept[place] = Kept(number, rank)
                self._timeline.expect(engine.now, partial(self._to_decode, place))
                continue
            if engine.pool is Pool.DECODE and place not in self._fetched:
                self._give_up(place, engine.now)
            self._end(engine.now)

    def _send_cache(self, number: int, fetch: Fetch) -> None:
        engine = self.engines[number]
        place = engine.places[fetch.rank]
        source = self.kept[place]
        came = self._ports.transfer(fetch.begun_ns, fetch.blocks, (source.server, number))
        self._fetched.add(place)
        self.transfers.append(Transfer(place, fetch.blocks, fetch.begun_ns, came))
        engine.comes(fetch.rank, came)
        self.engines[source.server].fetched_from(source.rank, came)

    def _give_up(self, place: int, now: int) -> None:
        """Nobody needs the blocks of a prompt any more."""
        source = self.kept[place]
        self.engines[source.server].fetched_from(source.rank, now)

    def _end(self, now: int) -> None:
        self._ended += 1
        self._told(self._ended)
        if self._clients is not None:
            self._clients.ended(1, now)
