"""The pool of blocks: which are free, in which order they go out, what the used ones still hold.

After ``vllm/v1/core/block_pool.py`` of 0.32.0. A free block keeps its content until it goes out
again, so the order of the free blocks is the order of eviction.
"""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Final

from vramledger.errors import CannotKnow
from vramledger.simulate.keys import Key
from vramledger.simulate.sentences import SHORT_OF_BLOCKS

NULL: Final = 0  # stands where a block was given back; never free, never counted


class BlockPool:
    """Blocks 1 to `size` - 1, and the null block.

    `uncached_first` is whether blocks without a name go out again first (0.24 on) or queue up behind
    all others.
    """

    def __init__(self, size: int, *, uncached_first: bool) -> None:
        self.size = size
        self.uncached_first = uncached_first
        self.references = [0] * size
        self.names: list[Key | None] = [None] * size
        self.by_name: dict[Key, dict[int, None]] = {}  # copies of one content, oldest first
        self.queue: OrderedDict[int, None] = OrderedDict.fromkeys(range(1, size))
        self.granted = 0
        self.returned = 0

    @property
    def free_blocks(self) -> int:
        """Blocks that can go out, whether they still hold a prefix or not."""
        return len(self.queue)

    @property
    def used_blocks(self) -> int:
        """Blocks that a request holds."""
        return self.size - 1 - len(self.queue)

    @property
    def usage(self) -> float:
        """Share of the pool that requests hold, as vLLM's metric computes it."""
        return 1.0 - (len(self.queue) / (self.size - 1))

    def take(self, count: int) -> list[int]:
        """The first `count` free blocks; what they held is evicted.

        Raises `CannotKnow` when there are too few: only the window rule of vLLM 0.20 asks for more than
        it found free, and its engine stops there.
        """
        if count > len(self.queue):
            raise CannotKnow(SHORT_OF_BLOCKS)
        taken = [self.queue.popitem(last=False)[0] for _ in range(count)]
        for block in taken:
            self.forget(block)
            self.references[block] = 1
        self.granted += count
        return taken

    def touch(self, blocks: Iterable[int]) -> None:
        """Hold blocks that were found by name."""
        for block in blocks:
            if block == NULL:
                continue
            if self.references[block] == 0:
                del self.queue[block]
                self.granted += 1
            self.references[block] += 1

    def give_back(self, blocks: Iterable[int]) -> None:
        """Let go of blocks in the order in which they shall go out again."""
        first: list[int] = []
        last: list[int] = []
        for block in blocks:
            if block == NULL:
                continue
            self.references[block] -= 1
            if self.references[block] == 0:
                nameless = self.names[block] is None
                (first if nameless and self.uncached_first else last).append(block)
        for block in reversed(first):
            self.queue[block] = None
            self.queue.move_to_end(block, last=False)
        for block in last:
            self.queue[block] = None
        self.returned += len(first) + len(last)

    def evictable(self, blocks: Iterable[int]) -> int:
        """How many of these blocks are free and would leave the queue when touched."""
        return sum(block != NULL and self.references[block] == 0 for block in blocks)

    def publish(self, block: int, name: Key) -> None:
        """Let others find a block that is complete now."""
        self.names[block] = name
        self.by_name.setdefault(name, {})[block] = None

    def find(self, names: Sequence[Key]) -> list[int] | None:
        """The oldest block of each name, or None when one is missing."""
        found = []
        for name in names:
            copies = self.by_name.get(name)
            if not copies:
                return None
            found.append(next(iter(copies)))
        return found

    def forget(self, block: int) -> None:
        """Let nobody find a block any more."""
        name = self.names[block]
        if name is None:
            return
        self.names[block] = None
        copies = self.by_name[name]
        del copies[block]
        if not copies:
            del self.by_name[name]

    def forget_all(self) -> bool:
        """Let nobody find any block any more, which vLLM does only while none is held; whether it was done."""
        if self.used_blocks:
            return False
        self.names = [None] * self.size
        self.by_name.clear()
        return True
