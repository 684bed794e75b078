"""Places 0..n-1 that are taken one by one, each request getting the nearest free one."""


class NearestFree:
    """Disjoint sets towards both sides: taking a place costs near to constant time."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._up = list(range(count + 1))  # next free place at or after; `count` is none
        self._down = list(range(count + 1))  # place + 1 of the next free at or before; 0 is none

    def take(self, place: int) -> int:
        """Take the free place nearest to this one, the upper of two equally near.

        Raises:
            IndexError: none is free.
        """
        after, before = _root(self._up, place), _root(self._down, place + 1) - 1
        if after == self._count and before < 0:
            raise IndexError("no place is free")
        nearer_before = before >= 0 and place - before < after - place
        found = before if after == self._count or nearer_before else after
        self._up[found] = found + 1
        self._down[found + 1] = found
        return found

    def left(self) -> list[int]:
        """The free places, in order."""
        return [place for place in range(self._count) if self._up[place] == place]


def _root(parents: list[int], place: int) -> int:
    root = place
    while parents[root] != root:
        root = parents[root]
    while parents[place] != root:
        parents[place], place = root, parents[place]
    return root
