"""Seconds of the products of a step: tables made once, asked for every step.

Reading the operands of a product and multiplying them overlap: together they take a smooth maximum of
both, since kernels near the ridge reach neither limit. Each table answers with the sum over its groups
(`seconds`), and group by group (`each`) for those who ask what a step waited for.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from vramledger.simulate.timing.cache_reads import CacheRead
from vramledger.simulate.timing.matrices import ExpertMatrices, Matrices
from vramledger.simulate.timing.rates import Rate

_CACHE_POWER: Final = 2.0


class Product(NamedTuple):
    """Seconds to read the operands of products, to multiply them, and both overlapped."""

    read: float
    computed: float
    seconds: float


class Routed(NamedTuple):
    """What meets at the experts: rows of all replicas, experts of a layer that get one, all of them."""

    rows: float
    reached: float
    experts: int


class DenseProducts:
    """Matrices that every row is multiplied by, overlapped with this power."""

    def __init__(self, groups: Sequence[tuple[Matrices, Rate]], power: float) -> None:
        self._power, self._root = power, 1 / power
        self._groups = [
            (group.bytes / rate.bytes_per_s, 2 * group.elements, rate.flops_per_s)
            for group, rate in groups
        ]
        self._raised = [(read**power, flops, rate) for read, flops, rate in self._groups]

    def seconds(self, rows: float) -> float:
        """The sum of `each`."""
        power, root = self._power, self._root
        overlapped = [
            (read + (flops * rows / rate) ** power) ** root for read, flops, rate in self._raised
        ]
        return float(sum(overlapped))

    def each(self, rows: float) -> Iterator[Product]:
        """Group by group."""
        for read, flops, rate in self._groups:
            yield _product(read, flops * rows / rate, self._power)


class ExpertProducts:
    """Experts that the rows reach, overlapped with this power."""

    def __init__(
        self, groups: Sequence[tuple[ExpertMatrices, Rate, float]], per_row: int, power: float
    ) -> None:
        """`groups`: experts, their rates, and how many times as long as that they are read."""
        self._groups, self._per_row, self._power = groups, per_row, power

    def seconds(self, routed: Routed) -> float:
        """The sum of `each`."""
        return float(sum([one.seconds for one in self.each(routed)]))

    def each(self, routed: Routed) -> Iterator[Product]:
        """Group by group."""
        copies = routed.rows * self._per_row
        for group, rate, slower in self._groups:
            share = group.resident / routed.experts
            read = routed.reached * share * group.bytes / rate.bytes_per_s * slower
            computed = 2 * (copies * share) * group.elements / rate.flops_per_s
            yield _product(read, computed, self._power, group.layers)


class CacheProducts:
    """What decodes read of the caches, at these effective rates."""

    def __init__(self, reads: Sequence[CacheRead], rate: Rate) -> None:
        self._reads = [
            (
                read,
                _product(
                    read.bytes / rate.bytes_per_s,
                    read.decode_flops / rate.flops_per_s,
                    _CACHE_POWER,
                ),
            )
            for read in reads
        ]

    def seconds(self, decodes: float, context: float) -> float:
        """The sum of `each`."""
        return float(
            sum(
                [
                    decodes * read.layers * read.tokens(context) * token.seconds
                    for read, token in self._reads
                ]
            )
        )

    def each(self, decodes: float, context: float) -> Iterator[Product]:
        """Layers of one kind after another."""
        for read, token in self._reads:
            times = decodes * read.layers * read.tokens(context)
            yield Product(times * token.read, times * token.computed, times * token.seconds)


def _product(read: float, computed: float, power: float, times: float = 1.0) -> Product:
    """Overlapped is a smooth maximum: the sum of both at power 1, the larger alone at infinity."""
    both = float((read**power + computed**power) ** (1 / power))
    return Product(times * read, times * computed, times * both)
