"""Where in a prompt windows and states are kept for later requests.

After ``reachable_block_mask`` and ``replay_boundaries`` of vLLM 0.32.0. A prompt sent again goes on
before its last token, a longer one behind its last whole block, a branch where it was seen to branch.
"""

from collections.abc import Sequence

from vramledger.frozen import frozen
from vramledger.simulate.request import Request
from vramledger.simulate.settings import Settings


@frozen
class Boundaries:
    """The rule of one engine: `interval` is its prefix_cache_retention_interval."""

    block_size: int
    interval: int | None
    drop_last: bool

    def of(self, request: Request) -> list[int]:
        """Token positions at which a later request may go on."""
        places = [request.prompt - 1]
        if self.drop_last:
            resent = (request.prompt - 1) // self.block_size * self.block_size
            longer = request.prompt // self.block_size * self.block_size
            places = sorted({max(resent - self.block_size, 0), max(longer - self.block_size, 0)})
        return [*places, request.branch] if request.branch else places

    def last_state(self, tokens: int) -> int:
        """The last position in so many tokens whose state a later request can use; 0 for none."""
        if self.drop_last:
            return max(tokens // self.block_size * self.block_size - self.block_size, 0)
        return (tokens - 1) // self.block_size * self.block_size

    def tails(self, request: Request, start: int, end: int, width: int) -> Sequence[int]:
        """Blocks of [start, end) in tails of `width` blocks that end at a boundary."""
        if self.interval is None:
            return range(start, end) if width >= 1 else ()
        shift = int(self.drop_last)
        kept: set[int] = set()
        if self.interval:
            every = self.interval // self.block_size
            if width >= every:
                return range(start, end)
            kept.update(
                index
                for index in range(start, end)
                if index >= shift and (index - shift) % every >= every - width
            )
        for place in self.of(request):
            last = place // self.block_size + shift
            kept.update(range(max(start, last - width), min(end, last)))
        return sorted(kept)

    def keeps_anyway(self, index: int) -> bool:
        """Whether the state at the end of block `index` is kept in every prompt."""
        if self.interval is None:
            return True
        return self.interval > 0 and (index + 1) % max(1, self.interval // self.block_size) == 0

    def states(self, request: Request, start: int, end: int) -> Sequence[int]:
        """Blocks of [start, end) whose state at their end is kept."""
        kept = {index for index in range(start, end) if self.keeps_anyway(index)}
        kept.update(place // self.block_size - 1 for place in self.of(request))
        return sorted(index for index in kept if start <= index < end)


def boundaries_of(settings: Settings) -> Boundaries:
    """The rule of an engine with these settings."""
    return Boundaries(settings.block_size, settings.checkpoint_interval, settings.drops_last_block)
