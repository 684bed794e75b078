"""Longer or shorter requests."""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.workload.fields import MOST_TOKENS
from vramledger.workload.operators.columns import Column, column, with_column
from vramledger.workload.operators.sharing import lists, stretched, with_lists

if TYPE_CHECKING:
    import pyarrow as pa

    from vramledger.workload.operators.columns import Array

_FINEST: Final = 1000  # denominator of a factor, so that products are exact


@frozen
class Stretch:
    """Factors of lengths. Images, audio and times stay as they are."""

    input: Fraction
    output: Fraction


def factor(value: float) -> Fraction:
    """The nearest fraction with a denominator of up to 1,000: 1.5 is 3/2; at least 1/1,000."""
    return max(Fraction(value).limit_denominator(_FINEST), Fraction(1, _FINEST))


def stretch(
    batches: Iterable["pa.RecordBatch"], by: Stretch, block_tokens: int | None
) -> Iterator["pa.RecordBatch"]:
    """Requests with their lengths multiplied and rounded half up; what had a token keeps one.

    Thinking tokens and the limit on the answer follow the output, cached tokens the input. Prefix
    blocks follow the input as `sharing.stretched` says.

    Raises:
        BadInput: a length would go beyond any context.
    """
    for batch in batches:
        yield _stretch(batch, by, block_tokens)


def _stretch(batch: "pa.RecordBatch", by: Stretch, block_tokens: int | None) -> "pa.RecordBatch":
    columns = {
        "input_tokens": by.input,
        "cached_tokens": by.input,
        "output_tokens": by.output,
        "thinking_tokens": by.output,
        "max_output_tokens": by.output,
    }
    before = column(batch, "input_tokens")
    for name, times in columns.items():
        if times != 1:
            own = column(batch, name)
            batch = with_column(batch, name, Column(multiplied(own.values, times), own.absent))
    if by.input == 1 or block_tokens is None:
        return batch
    after = column(batch, "input_tokens")
    return with_lists(batch, stretched(lists(batch), before, after, block_tokens, by.input))


def multiplied(tokens: "Array", by: Fraction) -> "Array":
    """Tokens times a factor, in whole numbers.

    Raises:
        BadInput: one is beyond any context.
    """
    import numpy as np

    exact = (2 * tokens * by.numerator + by.denominator) // (2 * by.denominator)
    found: Array = np.where(tokens > 0, np.maximum(exact, 1), 0)
    if found.max(initial=0) > MOST_TOKENS:
        raise BadInput(
            f"Stretched by {float(by):g}, a request is longer than {MOST_TOKENS:,} tokens, which is "
            "beyond any context; take a smaller factor."
        )
    return found
