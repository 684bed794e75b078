"""What each of many steps waits for physically: bandwidth, compute, links or launches.

The limit of a step is the one of these that takes most of its seconds (`timing.step.StepLimits`).
What depends on the tokens of a step comes from one table for steps of decodes alone and one for steps
with prompts, the head from a table by its rows, attention is linear in requests, context and pairs, as
in `priced`; so millions of steps are told apart by a few operations on arrays.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from vramledger.frozen import frozen
from vramledger.simulate.priced import Typical
from vramledger.simulate.timing.coefficients import Coefficients
from vramledger.simulate.timing.step import KINDS, Batch, Pricer, StepLimits
from vramledger.simulate.timing.work import Work

if TYPE_CHECKING:
    Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
    Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

BANDWIDTH: Final = "bandwidth"
COMPUTE: Final = "compute"
LINKS: Final = "links"
LAUNCHES: Final = "launches"
PHYSICAL: Final = (BANDWIDTH, COMPUTE, LINKS, LAUNCHES)

_CACHE, _PROMPT, _HEAD = frozenset({"cache"}), frozenset({"prompt_attention"}), frozenset({"head"})
_SHARED: Final = frozenset(KINDS) - _CACHE - _PROMPT - _HEAD
_FINE: Final = 256  # sizes up to which every one is priced; beyond, steps of one in `_COARSE`
_COARSE: Final = 16
_AT_ONCE: Final = 1 << 18  # steps


@frozen
class _Table:
    """Seconds of each limit, a row a size; sizes between rows are interpolated."""

    sizes: "Floats"
    seconds: "Floats"  # [sizes, limits]

    def at(self, sizes: "Array") -> "Floats":
        """A row for each size."""
        columns = [np.interp(sizes, self.sizes, column) for column in self.seconds.T]
        return np.stack(columns, axis=1)


@frozen
class _Line:
    """Seconds of each limit for one token: a fixed part, and one for each token of context."""

    fixed: "Floats"
    slope: "Floats"


@frozen
class PhysicalLimits:
    """The limits of one deployment's steps; `of` tells which one a step has."""

    decodes: _Table  # by tokens, in steps of decodes alone
    prompts: _Table  # by tokens, in steps with prompts
    head: _Table  # by requests
    decode: _Line  # of a request
    prompt: _Line  # of a token

    def of(self, steps: "Array") -> "Array":
        """For each row of steps the place of its limit in `PHYSICAL`."""
        found = np.zeros(len(steps), np.int8)
        for start in range(0, len(steps), _AT_ONCE):
            part = steps[start : start + _AT_ONCE]
            found[start : start + _AT_ONCE] = self.seconds(part).argmax(axis=1)
        return found

    def seconds(self, steps: "Array") -> "Floats":
        """Seconds of each limit, a row a step."""
        tokens = steps["prefill_tokens"] + steps["decode_tokens"]
        prefills = (steps["prefill_tokens"] > 0)[:, None]
        shared = np.where(prefills, self.prompts.at(tokens), self.decodes.at(tokens))
        return (
            shared
            + self.head.at(steps["decode_requests"] + steps["prefill_requests"])
            + _times(steps["decode_requests"], self.decode.fixed)
            + _times(steps["decode_context"], self.decode.slope)
            + _times(steps["prefill_tokens"], self.prompt.fixed)
            + _times(steps["prefill_pairs"], self.prompt.slope)
        )


def limits_of(
    work: Work, coefficients: Coefficients, typical: Typical, max_num_seqs: int
) -> PhysicalLimits:
    """The limits of the steps that `priced.step_cost` prices."""
    pricer = Pricer(work, coefficients)
    decodes, tokens = _sizes(max_num_seqs), _sizes(work.budget)
    return PhysicalLimits(
        decodes=_table(decodes, lambda n: pricer.limits(Batch(n, typical.long), _SHARED)),
        prompts=_table(tokens, lambda n: pricer.limits(_prompts(n, typical), _SHARED)),
        head=_table(decodes, lambda n: pricer.limits(Batch(n), _HEAD)),
        decode=_line(typical, lambda context: pricer.limits(Batch(1, context), _CACHE)),
        prompt=_line(typical, lambda context: pricer.limits(_prompt(context), _PROMPT)),
    )


def _prompts(tokens: int, typical: Typical) -> Batch:
    return Batch(0, prompt_tokens=tokens, prompt_context=typical.short, prompts=1)


def _prompt(context: float) -> Batch:
    return Batch(0, prompt_tokens=1, prompt_context=context)


def _sizes(most: int) -> list[int]:
    """Every small size, then ever larger steps between sizes, and the largest."""
    found = list(range(min(_FINE, most) + 1))
    while found[-1] < most:
        found.append(min(found[-1] + max(found[-1] // _COARSE, 1), most))
    return found


def _table(sizes: Sequence[int], limits: Callable[[int], StepLimits]) -> _Table:
    rows = [_row(limits(size)) for size in sizes]
    return _Table(np.array(sizes, np.float64), np.array(rows))


def _line(typical: Typical, limits: Callable[[float], StepLimits]) -> _Line:
    """Through the seconds at both contexts."""
    first, last = (np.array(_row(limits(each))) for each in (typical.short, typical.long))
    slope = (last - first) / (typical.long - typical.short)
    return _Line(first - slope * typical.short, slope)


def _row(limits: StepLimits) -> list[float]:
    parts = limits.parts()
    return [parts[name] for name in PHYSICAL]


def _times(counts: "Array", seconds: "Floats") -> "Floats":
    product: Floats = np.multiply.outer(counts.astype(np.float64), seconds)
    return product
