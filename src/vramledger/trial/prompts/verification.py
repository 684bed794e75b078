"""Whether prompts and answers had the lengths asked for, by classes of length."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from vramledger.frozen import frozen
from vramledger.record.requests import RequestRecord


@frozen
class LengthClass:
    """Requests whose asked length lies in low..high (tokens, both ends in it): how far the lengths got were off.

    `errors` are got less asked; a length that nobody counted is in `uncounted` alone. `basis` maps who counted to how
    often.
    """

    low: int
    high: int
    requests: int
    uncounted: int
    smallest_error: int | None
    largest_error: int | None
    basis: Mapping[str, int]

    @property
    def exact(self) -> bool | None:
        """Whether every length was as asked; None where none was counted."""
        if self.largest_error is None:
            return None
        return self.smallest_error == self.largest_error == 0


@frozen
class LengthReport:
    """Prompts and answers of a set of requests."""

    inputs: tuple[LengthClass, ...]
    outputs: tuple[LengthClass, ...]

    @property
    def max_error(self) -> int | None:
        """Of prompts, in tokens, either way; None where none was counted."""
        errors = [
            abs(error)
            for each in self.inputs
            for error in (each.smallest_error, each.largest_error)
            if error is not None
        ]
        return max(errors, default=None)

    def sentence(self) -> str:
        """What to say of it in one sentence."""
        counted = sum(each.requests - each.uncounted for each in self.inputs)
        if not self.inputs and self.outputs:
            return "Prompts are as long as those of your file; no length was asked of them."
        if self.max_error is None:
            return "Nobody counted the tokens of prompts, so their lengths are not checked."
        if not self.max_error:
            return f"Prompts have exactly the tokens asked for, in {counted:,} of {counted:,} requests counted."
        worst = max(
            self.inputs, key=lambda each: abs(each.largest_error or each.smallest_error or 0)
        )
        return (
            f"Prompts are off by up to {self.max_error:,} tokens in {counted:,} requests counted, most for lengths of "
            f"{worst.low:,} to {worst.high:,}."
        )

    def to_json(self) -> dict[str, Any]:
        """As JSON holds it."""
        return asdict(self) | {"max_error_tokens": self.max_error}


def verify(records: Iterable[RequestRecord]) -> LengthReport:
    """The report of requests that ended as asked; the others have no lengths to compare."""
    inputs: dict[int, list[_Pair]] = defaultdict(list)
    outputs: dict[int, list[_Pair]] = defaultdict(list)
    for record in records:
        if record.outcome != "ok":
            continue
        for classes, asked, got in (
            (inputs, record.input_tokens_asked, record.input_tokens_got),
            (outputs, record.output_tokens_asked, record.output_tokens_got),
        ):
            if asked is not None:
                classes[asked.bit_length()].append(_Pair(asked, got, record.tokens_basis))
    return LengthReport(_classes(inputs), _classes(outputs))


@frozen
class _Pair:
    asked: int
    got: int | None
    basis: str | None


def _classes(found: Mapping[int, list[_Pair]]) -> tuple[LengthClass, ...]:
    """One a power of two: lengths from 2^(k - 1) to 2^k - 1."""
    return tuple(_class(1 << bits >> 1, (1 << bits) - 1, found[bits]) for bits in sorted(found))


def _class(low: int, high: int, pairs: list[_Pair]) -> LengthClass:
    errors = [pair.got - pair.asked for pair in pairs if pair.got is not None]
    basis: dict[str, int] = defaultdict(int)
    for pair in pairs:
        if pair.got is not None:
            basis[pair.basis or "unknown"] += 1
    return LengthClass(
        low=low,
        high=high,
        requests=len(pairs),
        uncounted=len(pairs) - len(errors),
        smallest_error=min(errors, default=None),
        largest_error=max(errors, default=None),
        basis=dict(basis),
    )
