"""Prefix blocks under operators: whose they are, how they lengthen, how they grow together.

A block's number stands for the whole prompt up to the block's end. So a block that two requests
share is shared with all blocks before it, and any rule by number keeps what was equal equal.
"""

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.workload.operators.columns import Column, column, narrow, of

if TYPE_CHECKING:
    import pyarrow as pa

    from vramledger.workload.operators.columns import Array

MOST_NUMBERS: Final = (1 << 31) - 1  # the columns' own type
COMMON_SHARE: Final = 100  # without owners: a block of one request in so many is everybody's
_FREQUENT: Final = 10  # requests at least, so that in a short log two turns are no crowd
_OWNERS: Final = ("tenant", "session")


@frozen
class Lists:
    """A list column flattened: `of_row` says whose each value is, `position` its place there."""

    values: "Array"
    lengths: "Array"  # of every row, 0 where the list is null
    absent: "Array"  # rows without a list

    @property
    def of_row(self) -> "Array":
        import numpy as np

        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    @property
    def position(self) -> "Array":
        return positions(self.lengths)


def positions(lengths: "Array") -> "Array":
    """0, 1, ... within each list of these lengths."""
    import numpy as np

    ends = np.cumsum(lengths)
    found: Array = np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - lengths, lengths)
    return found


def lists(batch: "pa.RecordBatch") -> Lists:
    """The prefix blocks of a batch."""
    import numpy as np
    import pyarrow.compute as pc

    array: Any = batch.column(batch.schema.get_field_index("prefix_blocks"))
    lengths = pc.fill_null(pc.list_value_length(array), 0).to_numpy(zero_copy_only=False)
    return Lists(of(array.flatten()).values, lengths.astype(np.int64), np.asarray(array.is_null()))


def with_lists(batch: "pa.RecordBatch", found: Lists) -> "pa.RecordBatch":
    """The batch with these prefix blocks."""
    import numpy as np
    import pyarrow as pa

    index = batch.schema.get_field_index("prefix_blocks")
    field = batch.schema.field(index)
    offsets = np.concatenate(([0], np.cumsum(found.lengths))).astype(np.int32)
    array = pa.ListArray.from_arrays(
        pa.array(offsets),
        pa.array(found.values, pa.int64()).cast(pa.int32()),
        type=field.type,
        mask=pa.array(found.absent),
    )
    return batch.set_column(index, field, array)


def common_blocks(path: Path, blocks: int) -> "Array":
    """Which blocks belong to nobody alone, one bool a block number.

    Where the workload names tenants (else: sessions), a block is common when two of them hold it; a
    request without one counts as one of its own. Where it names neither, a block is common when at
    least 1 % of all requests, and 10, hold it (assumed: a system prompt, no conversation).
    """
    import numpy as np

    owner = _owner(path)
    if owner is None:
        return frequent_blocks(path, blocks)
    least, most, rows = np.full(blocks, np.iinfo(np.int64).max), np.full(blocks, -1), 0
    for batch in narrow(path, ("prefix_blocks", owner)):
        found = lists(batch)
        holder = _holders(column(batch, owner), rows)[found.of_row]
        np.minimum.at(least, found.values, holder)
        np.maximum.at(most, found.values, holder)
        rows += len(batch)
    return least < most


def frequent_blocks(path: Path, blocks: int) -> "Array":
    """Which blocks at least 1 % of all requests hold, and at least 10, one bool a block number."""
    import numpy as np

    requests, rows = np.zeros(blocks, np.int64), 0
    for batch in narrow(path, ("prefix_blocks",)):
        requests += np.bincount(lists(batch).values, minlength=blocks)
        rows += len(batch)
    frequent: Array = (requests >= _FREQUENT) & (requests * COMMON_SHARE >= rows)
    return frequent


def first_rare_block(path: Path, frequent: "Array") -> "Array":
    """The first block of each row that is not frequent, -1 where there is none.

    A block stands for all before it, so requests that share any rare block share their first one.
    """
    import numpy as np

    found = [np.zeros(0, np.int64)]
    for batch in narrow(path, ("prefix_blocks",)):
        here = lists(batch)
        rare = ~frequent[here.values]
        row, first = np.unique(here.of_row[rare], return_index=True)
        of_row = np.full(len(batch), -1)
        of_row[row] = here.values[rare][first]
        found.append(of_row)
    return np.concatenate(found)


def blocks_of(path: Path) -> int:
    """How many block numbers a stored workload takes."""
    return max(
        (
            int(lists(batch).values.max(initial=-1)) + 1
            for batch in narrow(path, ("prefix_blocks",))
        ),
        default=0,
    )


def _owner(path: Path) -> str | None:
    """The column that says whose requests are, None where no request has one."""
    known = dict.fromkeys(_OWNERS, False)
    for batch in narrow(path, _OWNERS):
        for name in _OWNERS:
            known[name] = known[name] or batch.column(name).null_count < len(batch)
    return next((name for name in _OWNERS if known[name]), None)


def _holders(owner: Column, rows: int) -> "Array":
    """Numbers of owners; requests without one get numbers that no owner has."""
    import numpy as np

    own = (1 << 40) + rows + np.arange(len(owner.values))
    return np.where(owner.absent, own, owner.values)


def coarser(found: Lists, factor: int) -> Lists:
    """The blocks when `factor` of them make one; a last one that is not whole stays.

    A larger block is known by the last of the smaller ones in it.
    """
    import numpy as np

    last = np.repeat(found.lengths, found.lengths) - 1
    position = found.position
    ends = (position % factor == factor - 1) | (position == last)
    return Lists(found.values[ends], -(-found.lengths // factor), found.absent)


def stretched(
    found: Lists, before: Column, after: Column, block_tokens: int, by: Fraction
) -> Lists:
    """The blocks of prompts that are `by` times as long.

    Block j of the longer prompt ends at (j + 1) x block_tokens / by of the shorter one, inside its
    block m = ceil((j + 1) / by) - 1. It is known by m's number and by its place among those that
    end in m: prompts that were equal up to m's end stay equal, and no others become so. A prompt
    that was covered to its end, or by its full blocks, stays so. `before` and `after` are the rows'
    input_tokens.

    Raises:
        BadInput: more blocks than can be numbered.
    """
    import numpy as np

    lengths = _stretched_lengths(found, before, after, block_tokens, by)
    row, new = np.repeat(np.arange(len(lengths)), lengths), positions(lengths)
    most = found.lengths[row] - 1
    old = np.minimum(-(-(new + 1) * by.denominator // by.numerator) - 1, most)
    among = new - old * by.numerator // by.denominator
    starts = np.cumsum(found.lengths) - found.lengths
    width = -(-by.numerator // by.denominator) + 2
    numbers = found.values[starts[row] + old] * width + among
    if numbers.max(initial=0) > MOST_NUMBERS:
        raise BadInput(
            f"Stretched by {float(by):g}, the prompts have more prefix blocks than {MOST_NUMBERS:,}, which "
            "is how many a workload can number; take a smaller factor, or a slice of the workload first."
        )
    return Lists(numbers, lengths, found.absent)


def _stretched_lengths(
    found: Lists, before: Column, after: Column, block_tokens: int, by: Fraction
) -> "Array":
    """Blocks of each row afterwards."""
    import numpy as np

    covered = ~before.absent & (found.lengths * block_tokens >= before.values)
    full = ~before.absent & (found.lengths == before.values // block_tokens)
    return np.select(
        [found.lengths == 0, covered, full],
        [found.lengths, -(-after.values // block_tokens), after.values // block_tokens],
        found.lengths * by.numerator // by.denominator,
    )
