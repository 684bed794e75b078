"""The engine that was sent the longest prefix of a request, unless loads are too far apart.

The policy ``cache_aware`` of the SGLang Model Gateway (formerly SGLang Router) and of the vLLM router, with their
defaults: while the busiest engine has more than 64 requests over the idlest and more than 1.5 times as many, the
least loaded engine; else the one whose past requests share the longest prefix with this one, where that is more than
0.3 of the prompt; else the least loaded one. Loads are the router's own counts of requests sent and not ended. The router
knows what it has sent, not what an engine has evicted since.
https://github.com/sgl-project/sglang/blob/main/sgl-model-gateway/src/policies/cache_aware.rs,
https://github.com/vllm-project/router/blob/main/src/policies/cache_aware.rs. Their comments, and routers of 2025, send what
nobody knows to the engine with the smallest record of past prompts instead.

Here the record is never shortened, while theirs drops the least recently used prompts beyond a size; of several engines
that were sent the prefix the least loaded gets the request, while theirs keep one of them.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from vramledger.frozen import frozen
from vramledger.simulate.routing.router import ALWAYS, Routed
from vramledger.simulate.view import View

SHARE: Final = 0.3  # --cache-threshold
MOST_APART: Final = 64  # --balance-abs-threshold
MOST_TIMES: Final = 1.5  # --balance-rel-threshold


@frozen
class _Match:
    """The longest known prefix: its tokens, and the engines that were sent all of it."""

    tokens: int
    engines: tuple[int, ...]


class PrefixAware:
    """Longest known prefix with a guard on the load; equals go to the first engine from number `seed` on."""

    every_ns = ALWAYS

    def __init__(self, engines: int, *, seed: int = 0) -> None:
        self._order = [(seed + number) % engines for number in range(engines)]
        self._known: dict[int, int] = {}  # engines that were sent a prefix, one bit each

    def choose(self, request: Routed, views: Sequence[View]) -> int:
        """The rule; what is sent is remembered."""
        loads = [one.in_flight for one in views]
        apart = max(loads) - min(loads) > MOST_APART and max(loads) > MOST_TIMES * min(loads)
        match = self._longest(request)
        known = match.tokens > SHARE * request.input_tokens
        chosen = _least(loads, match.engines if known and not apart else self._order)
        for name in request.prefix:
            self._known[name] = self._known.get(name, 0) | 1 << chosen
        return chosen

    def _longest(self, request: Routed) -> _Match:
        holders, parts = -1, 0
        for name in request.prefix:
            still = holders & self._known.get(name, 0)
            if not still:
                break
            holders, parts = still, parts + 1
        engines = tuple(number for number in self._order if holders >> number & 1)
        return _Match(parts * request.part_tokens, engines)


def _least(counts: Sequence[int], among: Iterable[int]) -> int:
    return min(among, key=counts.__getitem__)
