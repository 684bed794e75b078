"""Sharing of prompt beginnings, from the blocks of a workload."""

from collections.abc import Mapping, Sequence
from typing import Any

from vramledger.workload.profile.aggregates import Expression, bin_of_step, octave_step, whole
from vramledger.workload.profile.profile import Prefix, Reuse


def full_blocks(table: Expression, block_tokens: int) -> Expression:
    """Row (where known), input_tokens, place (from 0), block: of every block that a prompt fills whole."""
    known = table.filter(table.prefix_blocks.notnull() & table.input_tokens.notnull())
    kept = [name for name in ("row", "input_tokens", "prefix_blocks") if name in known.columns]
    listed = known.select(*kept)
    each = listed.unnest(listed.prefix_blocks, offset="place")
    each = each.mutate(place=whole(each.place), block=whole(each.prefix_blocks))
    each = each.drop("prefix_blocks")
    return each.filter((each.place + 1) * block_tokens <= each.input_tokens)


def multiples(block_tokens: int, longest_input: int) -> tuple[int, ...]:
    """1, 2, 4, ... blocks, as far as the longest input reaches."""
    found = [1]
    while 2 * found[-1] * block_tokens <= longest_input:
        found.append(2 * found[-1])
    return tuple(found)


def reuse(blocks: Expression, counted: Sequence[int]) -> Expression:
    """One row: references and distinct blocks, at each multiple k of the block size.

    A block stands for all before it, so of k blocks the last one, at a place with
    ``(place + 1) % k == 0``, is the identity of the larger block.
    """
    each = blocks.group_by("block", "place").agg(references=blocks.count())
    asked = {}
    for k in counted:
        ends = (each.place + 1) % k == 0
        asked[f"references_{k}"] = whole(each.references.sum(where=ends).fill_null(0))
        asked[f"distinct_{k}"] = each.count(where=ends)
    return each.aggregate(**asked)


def seen_before(table: Expression, blocks: Expression) -> Expression:
    """Given (octave step of input), seen (full blocks that earlier requests had), requests."""
    first = blocks.group_by("block").agg(row=blocks.row.min())
    new = first.group_by("row").agg(new=first.count())
    full = blocks.group_by("row").agg(full=blocks.count())
    known = table.filter(table.prefix_blocks.notnull() & table.input_tokens.notnull())
    known = known.select("row", given=octave_step(known.input_tokens))
    joined = known.left_join(full, "row").left_join(new, "row")
    joined = joined.select(
        "given", seen=whole(joined.full.fill_null(0)) - whole(joined.new.fill_null(0))
    )
    return joined.group_by("given", "seen").agg(requests=joined.count())


def prefix(
    block_tokens: int,
    counted: Sequence[int],
    counts: Mapping[str, int],
    seen: Mapping[str, Any] | None,
    input_total: int,
) -> Prefix:
    """The figures of a profile, of the answers to `reuse` and `seen_before`."""
    found = []
    for k in counted:
        again = counts[f"references_{k}"] - counts[f"distinct_{k}"]
        tokens = again * k * block_tokens
        found.append(Reuse(k * block_tokens, tokens, tokens / input_total if input_total else 0.0))
    return Prefix(
        block_tokens=block_tokens,
        blocks=counts["references_1"],
        distinct=counts["distinct_1"],
        reuse=tuple(found),
        shared_blocks=_by_bin(seen) if seen is not None else (),
    )


def _by_bin(seen: Mapping[str, Any]) -> tuple[tuple[int, int, int], ...]:
    rows = zip(seen["given"], seen["seen"], seen["requests"], strict=True)
    return tuple(sorted((bin_of_step(int(step)), int(of), int(n)) for step, of, n in rows))
