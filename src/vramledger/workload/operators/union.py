"""Several parts as one workload: rows with numbers that no two parts share by accident."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.workload.operators.columns import Column, column, seconds, with_column
from vramledger.workload.operators.part import LABEL, Arranged, Part, arranged
from vramledger.workload.operators.sharing import (
    MOST_NUMBERS,
    Lists,
    coarser,
    common_blocks,
    lists,
    with_lists,
)
from vramledger.workload.store import read_batches

if TYPE_CHECKING:
    import pyarrow as pa

    from vramledger.workload.operators.columns import Array


@frozen
class Numbers:
    """What a part adds to the numbers of its source."""

    row: int
    session: int
    tenant: int
    block: int
    common_block: int  # for blocks that the copies of a source have in common
    model: int
    common: "Array | None"  # which blocks those are; None: the part is an original


def numbers(parts: Sequence[Part], *, same_models: bool = False) -> list[Numbers]:
    """Numbers for each part that no other part has, but what copies of a source have in common.

    A copy keeps the models of its original and the blocks that `common_blocks` finds; its sessions,
    tenants and other blocks are new. Labels of ours (model-0) of two sources are two models unless
    `same_models`; names that were kept are one model wherever they stand.

    Raises:
        BadInput: there would be more requests, sessions or blocks than a column can number.
    """
    found: list[Numbers] = []
    row = session = tenant = block = model = 0
    common: Array | None = None
    original = 0
    for place, part in enumerate(parts):
        source = part.source
        if part.copy == 0:
            original, common = place, None
        elif common is None:
            common = common_blocks(source.path, source.blocks)
        of = None if part.copy == 0 else found[original]
        found.append(
            Numbers(
                row=row,
                session=session,
                tenant=tenant,
                block=block,
                common_block=block if of is None else of.block,
                model=0 if same_models else model if of is None else of.model,
                common=common,
            )
        )
        row += source.stored.rows
        session += 2 * source.sessions  # a session that a shift cuts in two becomes two
        tenant += source.tenants
        block += source.blocks
        model += source.models if of is None else 0
    if max(row, session, tenant, block) > MOST_NUMBERS:
        raise BadInput(
            f"The result would number more than {MOST_NUMBERS:,} requests, sessions or prefix blocks; take a "
            "smaller rate, or a slice of the workload first."
        )
    return found


def union(
    parts: Sequence[Part], *, zero_ns: int = 0, same_models: bool = False
) -> Iterator["pa.RecordBatch"]:
    """The rows of all parts, timed from `zero_ns`; not in order.

    Raises:
        BadInput: as `numbers`.
    """
    for part, own in zip(parts, numbers(parts, same_models=same_models), strict=True):
        yield from _rows(part, own, zero_ns)


def _rows(part: Part, own: Numbers, zero_ns: int) -> Iterator["pa.RecordBatch"]:
    import pyarrow as pa

    times = arranged(part)
    place = 0
    for whole in read_batches(part.source.path):
        here = slice(place, place + len(whole))
        place += len(whole)
        arrival = Column(times.arrival.values[here] - zero_ns, times.arrival.absent[here])
        batch = with_column(whole, "arrival_s", seconds(arrival))
        batch = _numbered(batch, part, own, times, times.wrapped[here])
        yield batch.filter(pa.array(times.kept[here]))


def _numbered(
    batch: "pa.RecordBatch", part: Part, own: Numbers, times: Arranged, wrapped: "Array"
) -> "pa.RecordBatch":
    """Every number of a batch in the result's own."""
    import numpy as np

    row = column(batch, "row")
    session, tenant = column(batch, "session"), column(batch, "tenant")
    retry = column(batch, "retry_of")
    apart = retry.absent | ~times.kept[retry.values] | (wrapped != times.wrapped[retry.values])
    own_session = own.session + session.values + np.where(wrapped, part.source.sessions, 0)
    changed = {
        "row": Column(row.values + own.row, row.absent),
        "session": Column(own_session, session.absent),
        "tenant": Column(tenant.values + own.tenant, tenant.absent),
        "retry_of": Column(retry.values + own.row, apart),
    }
    for name, found in changed.items():
        batch = with_column(batch, name, found)
    return _labelled(_blocked(batch, part, own), own.model)


def _blocked(batch: "pa.RecordBatch", part: Part, own: Numbers) -> "pa.RecordBatch":
    import numpy as np

    found = lists(batch)
    if found.absent.all():
        return batch
    if part.source.coarser is None:
        none = np.zeros(len(batch), np.int64)
        return with_lists(batch, Lists(none[:0], none, none == 0))
    base = np.full(len(found.values), own.block)
    if own.common is not None:
        base[own.common[found.values]] = own.common_block
    moved = Lists(found.values + base, found.lengths, found.absent)
    return with_lists(batch, coarser(moved, part.source.coarser))


def _labelled(batch: "pa.RecordBatch", base: int) -> "pa.RecordBatch":
    """The batch with `base` added to the labels of ours."""
    import pyarrow as pa

    if not base:
        return batch
    index = batch.schema.get_field_index("model")
    encoded = batch.column(index).dictionary_encode()
    names = [
        f"model-{base + int(label[1])}" if (label := LABEL.fullmatch(name)) else name
        for name in encoded.dictionary.to_pylist()
    ]
    renamed = pa.array(names, pa.string()).take(encoded.indices)
    return batch.set_column(index, batch.schema.field(index), renamed)
