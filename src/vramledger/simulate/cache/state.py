"""What the requests hold in a group of recurrent states.

After ``MambaManager`` of ``vllm/v1/core/single_type_kv_cache_manager.py`` of 0.32.0, modes "none" and "align".
"""

from collections.abc import Sequence

from vramledger.simulate.cache.boundaries import Boundaries
from vramledger.simulate.cache.group import Demand, Found, GroupBlocks
from vramledger.simulate.cache.pool import NULL, BlockPool
from vramledger.simulate.keys import Key
from vramledger.simulate.request import Request


class ConstantState(GroupBlocks):
    """Without prefix caching: one block a request, and one for each draft."""

    def __init__(self, number: int, block_size: int, pool: BlockPool, speculative: int) -> None:
        super().__init__(number, block_size, pool)
        self.blocks = 1 + speculative

    def _required(self, demand: Demand) -> int:
        del demand
        return self.blocks

    def grow(self, request: Request, slots: int, scheduled: int) -> None:
        """All blocks at admission, none later."""
        del slots, scheduled
        if request.rank not in self.held:
            self.held[request.rank] = self.pool.take(self.blocks)


class AlignedState(GroupBlocks):
    """With prefix caching: a state at each block boundary that a chunk ends on; the last two stay."""

    def __init__(
        self,
        number: int,
        block_size: int,
        pool: BlockPool,
        speculative: int,
        boundaries: Boundaries,
        *,
        hybrid: bool,
    ) -> None:
        super().__init__(number, block_size, pool)
        self.hybrid = hybrid
        self.speculative = speculative
        self.boundaries = boundaries
        self.previous: dict[int, int] = {}  # column of the state before the running one
        self.retired: dict[int, int] = {}  # leading columns that hold no state any more
        self.began: set[int] = set()
        self.named_now = set[Key | None]()  # of this step: their states are not there yet

    def count(self, request: Request) -> int:
        """Blocks that a request holds; the null block is none."""
        held = self.held.get(request.rank, ())
        return len(held) - held.count(NULL)

    def step_begins(self) -> None:
        """States named in the last step are there now."""
        self.named_now.clear()

    def need(self, demand: Demand) -> int:
        """One block a step at most, and those of the drafts once; more than the pool has, to wait."""
        rank = demand.request.rank
        if demand.hit and self.pool.names[demand.hit[-1]] in self.named_now:
            return self.pool.size + 1
        required = -(-demand.scheduled // self.block_size) + self.speculative
        fresh = required - len(demand.hit) - len(self.held.get(rank, ()))
        most = 1 + self._extra_blocks(demand) + (0 if rank in self.began else self.speculative)
        if fresh > 0:
            fresh = min(fresh, most)
        return fresh + self.pool.evictable(demand.hit)

    def _extra_blocks(self, demand: Demand) -> int:
        """Blocks for states inside the chunk."""
        del demand
        return 0

    def _spared_columns(self, request: Request) -> int:
        """Columns before the running state's that get a block too."""
        del request
        return 0

    def grow(self, request: Request, slots: int, scheduled: int) -> None:
        """A column for each block of tokens; only the running state and the drafts' are blocks."""
        del slots
        rank = request.rank
        held = self.held.setdefault(rank, [])
        required = -(-scheduled // self.block_size) + self.speculative
        before, began = len(held), rank in self.began
        spared = self._spared_columns(request)
        self.began.add(rank)
        if required <= before and not spared:
            return
        if began:
            self.previous[rank] = before - 1 - self.speculative
        elif before:
            self.previous[rank] = before - 1
        empty = required - self.speculative - 1 - spared
        held.extend([NULL] * (empty - before))
        if began:
            for column in range(before - self.speculative, min(before, empty)):
                held.append(held[column])
                held[column] = NULL
        held.extend(self.pool.take(max(required - len(held), 0)))

    def publish(self, request: Request, tokens: int) -> list[int]:
        """Name the states at block boundaries; nobody can use them in the same step."""
        named = super().publish(request, tokens)
        self.named_now.add(self._name_tail(request, tokens))
        self.named_now.update(self.pool.names[block] for block in named)
        return named

    def _name_tail(self, request: Request, tokens: int) -> Key | None:
        """The name of the prompt's last state, if it counts as named in this step.

        A quirk of hybrids in vLLM: it does in every step in which its request stays within the next
        block, so others find it in between only.
        """
        complete = tokens // self.block_size
        held = self.held.get(request.rank, ())
        if (
            (self.hybrid or tokens % self.block_size == 0)
            and complete > 0
            and complete * self.block_size == self.boundaries.last_state(request.prompt)
            and complete <= len(held)
            and held[complete - 1] != NULL
        ):
            return self.key(request, complete - 1)
        return None

    def reachable(self, request: Request, start: int, end: int) -> Sequence[int]:
        """Only states at which a later request may go on."""
        return self.boundaries.states(request, start, end)

    def skipped_tokens(self, computed: int) -> int:
        """Only the state after the last token is read."""
        return computed - 1

    def forget_skipped(self, request: Request, processed: int) -> None:
        """Give back states before the running one, and the one that it was copied from."""
        super().forget_skipped(request, processed)
        column = self.previous.get(request.rank)
        if column is None or column >= -(-processed // self.block_size) - 1:
            return
        held = self.held[request.rank]
        if held[column] != NULL:
            self.pool.give_back([held[column]])
            held[column] = NULL

    def _forget(self, request: Request, end: int) -> None:
        held = self.held[request.rank]
        start = self.retired.get(request.rank, 0)
        if start >= end:
            return
        freed = [held[column] for column in range(end - 1, start - 1, -1) if held[column] != NULL]
        held[start:end] = [NULL] * (end - start)
        self.pool.give_back(freed)
        self.retired[request.rank] = end

    def release(self, request: Request) -> None:
        """Give everything back and forget the columns."""
        self.began.discard(request.rank)
        self.previous.pop(request.rank, None)
        self.retired.pop(request.rank, None)
        super().release(request)

    def find(
        self, request: Request, limit: int, alike: Sequence[GroupBlocks], *, drop_last: bool
    ) -> Found:
        """The last state that is there; before it stand null blocks."""
        del drop_last  # drafting heads have no states
        for index in range(limit // self.block_size - 1, -1, -1):
            found = self.pool.find([group.key(request, index) for group in alike])
            if found is not None:
                return Found(
                    tuple([NULL] * index + [block] for block in found),
                    (index + 1) * self.block_size,
                )
        return Found(tuple([] for _ in alike), 0)
