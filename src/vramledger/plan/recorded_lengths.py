"""The lengths of recorded requests as a distribution, made of the joint histogram of a profile.

Cells keep their exact mean lengths. Of the topmost hundredth of the requests (by input, by output and
by both together) the cell's upper end counts instead, within the longest request, which is a cell of
its own: no percentile of the full length from p99 up reads shorter than the log's, those of one
length alone not by more than a bin where the longest request bounds them, and means read a little
longer.
"""

from collections.abc import Callable, Iterator, Sequence
from math import fsum
from typing import Final, TypeAlias

from vramledger.errors import CannotKnow
from vramledger.evidence import Basis, weakest
from vramledger.frozen import frozen
from vramledger.plan.lengths import LengthDistribution, from_cells
from vramledger.plan.problems import NotStated
from vramledger.plan.recorded import Part, unserved
from vramledger.workload.profile.bins import bin_of, longest_of
from vramledger.workload.profile.profile import Cell, Joint, Profile

TAIL: Final = 0.99
_Point: TypeAlias = tuple[float, float, float]  # input, output, requests: as `from_cells` takes


@frozen
class RecordedLengths:
    """Lengths with what was done to them, one sentence each."""

    distribution: LengthDistribution
    notes: tuple[str, ...] = ()


def recorded_lengths(part: Part) -> RecordedLengths:
    """The lengths of a part as a distribution; the module says how.

    Raises:
        NotStated: no request has both lengths.
        CannotKnow: the log holds nothing but means.
    """
    profile, file = part.recorded.profile, part.recorded.file
    if "mean" in profile.basis.values():
        raise CannotKnow(
            f"{file} holds means of lengths only, from which no tail can be read; state input_tokens "
            "and output_tokens as percentiles beside it, and its load is kept."
        )
    if part.joint is None or part.joint.requests == 0:
        raise NotStated(
            f"{file} has no requests with both lengths; in a plan, state input_tokens and output_tokens "
            "as percentiles beside it, or size lengths from elsewhere at its rate (--profile chat "
            "--rate, with the rate that vram workload show prints)."
        )
    joint, notes = _with_answers(part.joint, part)
    cells = from_cells(_points(joint, part), _basis(profile), _source(part))
    return RecordedLengths(cells, (*part.notes, *notes))


def _basis(profile: Profile) -> Basis:
    if profile.synthetic:
        return Basis.ASSUMED
    known = {str(basis) for basis in Basis}
    stated = [Basis(name) for name in profile.basis.values() if name in known]
    return weakest(stated) if stated else Basis.ASSUMED


def _source(part: Part) -> str:
    made = "synthetic requests" if part.recorded.profile.synthetic else "requests"
    return f"{made} of {part.name}"


def _with_answers(joint: Joint, part: Part) -> tuple[Joint, tuple[str, ...]]:
    """Requests that the log's server did not serve are offered all the same, with usual answers."""
    profile = part.recorded.profile
    missed = unserved(profile)
    if missed == 0:
        return joint, ()
    said = (
        f"{part.recorded.file}: {missed / max(1, profile.requests):.1%} of the requests were failed, rejected, "
        "cancelled or cut short where the log was written; they are offered load all the same."
    )
    empty = [cell for cell in joint.cells if cell.output_bin == 0]
    answered = [cell for cell in joint.cells if cell.output_bin > 0]
    if not empty or not answered:
        return joint, (said,)
    cells = (*answered, *(_answered(cell, answered) for cell in empty))
    more = (
        f"{part.name}: {sum(cell.requests for cell in empty):,} requests without an answer are given the "
        "mean answer of prompts of their length (assumed)."
    )
    return Joint(cells, joint.longest_input, joint.longest_output), (said, more)


def _answered(cell: Cell, answered: Sequence[Cell]) -> Cell:
    """The cell with the mean output of answered requests of its input bin, or of all of them."""
    like = [other for other in answered if other.input_bin == cell.input_bin] or answered
    mean = sum(c.output_total for c in like) / sum(c.requests for c in like)
    total = round(mean * cell.requests)
    return Cell(cell.input_bin, bin_of(round(mean)), cell.requests, cell.input_total, total)


def _points(joint: Joint, part: Part) -> Iterator[_Point]:
    """(input, output, requests) of every cell, the longest request apart and first."""
    yield (joint.longest_input, joint.longest_output, 1)
    cells = [cell for cell in _without_longest(joint) if cell.requests > 0]
    if not cells:
        return
    most = _most(part, joint.longest_input + joint.longest_output)
    for cell, share in zip(cells, _tail_shares(cells), strict=True):
        inputs, outputs = cell.input_total / cell.requests, cell.output_total / cell.requests
        if share > 0:
            corner = _towards_corner(cell, inputs, outputs, most)
            yield *corner, share * cell.requests
        if share < 1:
            yield inputs, outputs, (1 - share) * cell.requests


def _without_longest(joint: Joint) -> Iterator[Cell]:
    key = (bin_of(joint.longest_input), bin_of(joint.longest_output))
    taken = False
    for cell in joint.cells:
        if not taken and (cell.input_bin, cell.output_bin) == key:
            taken = True
            yield Cell(
                *key,
                cell.requests - 1,
                cell.input_total - joint.longest_input,
                cell.output_total - joint.longest_output,
            )
        else:
            yield cell


def _tail_shares(cells: Sequence[Cell]) -> list[float]:
    """The share of every cell's requests that stands at its upper corner.

    In the order of upper ends, of either length and of both together, the topmost hundredth of the
    requests does. A request of at least t is in a cell whose upper end is at least t, so that as many
    points as requests are at or above any t beyond the 99th percentile.
    """
    shares = [0.0] * len(cells)
    topmost = (1 - TAIL) * fsum(cell.requests for cell in cells) + 1
    for measure in _MEASURES:
        left = topmost
        for index in sorted(range(len(cells)), key=lambda i: -measure(cells[i])):
            taken = min(left, float(cells[index].requests))
            shares[index] = max(shares[index], taken / cells[index].requests)
            left -= taken
    return shares


_MEASURES: Final[tuple[Callable[[Cell], int], ...]] = (
    lambda cell: cell.input_bin,
    lambda cell: cell.output_bin,
    lambda cell: longest_of(cell.input_bin) + longest_of(cell.output_bin),
)


@frozen
class _Most:
    """The longest lengths there are, each on its own and together."""

    input: int
    output: int
    both: int


def _most(part: Part, both: int) -> _Most:
    """The longest lengths of a part; those that are not known are as long as `both`."""
    of = part.recorded.profile if part.slice is None else part.slice
    inputs, outputs = of.input_tokens, of.output_tokens
    return _Most(
        both if inputs is None else inputs.max, both if outputs is None else outputs.max, both
    )


def _towards_corner(cell: Cell, inputs: float, outputs: float, most: _Most) -> tuple[float, float]:
    """From the cell's mean straight towards its upper corner, as far as the longest requests allow."""
    more_in = max(0.0, min(longest_of(cell.input_bin), most.input) - inputs)
    more_out = max(0.0, min(longest_of(cell.output_bin), most.output) - outputs)
    room = max(0.0, most.both - inputs - outputs)
    if more_in + more_out <= room:
        return inputs + more_in, outputs + more_out
    limited = round(inputs + room / (more_in + more_out) * more_in)
    return limited, most.both - limited
