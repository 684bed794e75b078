"""Recurrent states that a kernel can also write inside a chunk, at a boundary before its end.

After ``MambaManager`` and ``is_mamba_prefill_checkpoint_valid`` of vLLM 0.32.0. The last chunk of a prompt then
runs through, and the state at the prompt's last boundary goes into one extra block.
"""

from vramledger.frozen import frozen
from vramledger.simulate.cache.boundaries import Boundaries
from vramledger.simulate.cache.group import Demand
from vramledger.simulate.cache.pool import NULL, BlockPool
from vramledger.simulate.cache.state import AlignedState
from vramledger.simulate.keys import Key
from vramledger.simulate.request import Request


@frozen
class Checkpoint:
    """A state after `position` tokens, in column `column` of its request."""

    position: int
    column: int


def can_write(start: int, end: int, position: int, size: int, alignment: int) -> bool:
    """Whether the kernel can write the state at `position` in a chunk from `start` to `end`.

    `size` is tokens of a block; the kernel counts positions from the chunk's start in steps of `alignment`.
    """
    return (
        start % size == 0
        and _column(end, size) > (start - 1) // size
        and start + size <= position < end
        and (position - start) % alignment == 0
    )


def _column(end: int, size: int) -> int:
    """The column before that of the running state."""
    return -(-end // size) - 2


class CheckpointedState(AlignedState):
    """A group whose kernel writes such states, `alignment` tokens apart in a chunk."""

    def __init__(
        self,
        number: int,
        block_size: int,
        pool: BlockPool,
        speculative: int,
        boundaries: Boundaries,
        *,
        hybrid: bool,
        alignment: int,
    ) -> None:
        super().__init__(number, block_size, pool, speculative, boundaries, hybrid=hybrid)
        self.alignment = alignment
        self.checkpoints: dict[int, Checkpoint] = {}

    def release(self, request: Request) -> None:
        """Give everything back and forget the checkpoint."""
        self.checkpoints.pop(request.rank, None)
        super().release(request)

    def _spared_columns(self, request: Request) -> int:
        return int(request.rank in self.checkpoints)

    def _extra_blocks(self, demand: Demand) -> int:
        """One for the state inside the chunk; the admission test counts it, but does not settle it."""
        checkpoint = self._wanted(demand)
        if not demand.capped:
            self.checkpoints.pop(demand.request.rank, None)
            if checkpoint is not None:
                self.checkpoints[demand.request.rank] = checkpoint
        return int(checkpoint is not None)

    def _wanted(self, demand: Demand) -> Checkpoint | None:
        request, end = demand.request, demand.scheduled
        position = self.boundaries.last_state(end)
        if self.boundaries.interval == 0 and end < request.prefill_end:
            return None
        if not can_write(demand.computed, end, position, self.block_size, self.alignment):
            return None
        held, column = self.held.get(request.rank, []), _column(end, self.block_size)
        scratch = request.rank in self.began and column >= len(held) - self.speculative
        if column < 0 or (column < len(held) and held[column] != NULL and not scratch):
            return None
        return Checkpoint(position, column)

    def _name_tail(self, request: Request, tokens: int) -> Key | None:
        """The name of the state inside the chunk; one that serves nobody has no name."""
        checkpoint = self.checkpoints.get(request.rank)
        if checkpoint is None:
            return super()._name_tail(request, tokens)
        block = self.held[request.rank][checkpoint.column]
        index = checkpoint.position // self.block_size - 1
        serves = checkpoint.position in (
            self.boundaries.last_state(request.prompt),
            request.branch,
        ) or self.boundaries.keeps_anyway(index)
        name = self.key(request, index)
        if block == NULL or (serves and self.pool.names[block] == name):
            return None
        self.pool.forget(block)
        if not serves:
            return None
        self.pool.publish(block, name)
        return name
