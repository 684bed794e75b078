"""How often lengths occur, alone, together and in sum: one question, so that a log is read once."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from vramledger.frozen import frozen
from vramledger.workload.profile.aggregates import Expression, bin_of_step, octave_step, whole
from vramledger.workload.profile.frequency import Frequency, added_up
from vramledger.workload.profile.profile import Cell, Joint

_INPUT, _OUTPUT, _TOTAL, _JOINT = range(4)  # parts of the answer
_NONE: Final = -2  # a length that the log does not say; octave steps begin at -1
_PACK: Final = 1 << 31  # two lengths in one whole number of 64 bits
_COLUMNS: Final = ("part", "half", "first", "second", "requests", "sum_1", "sum_2", "longest")


_LENGTHS: Final = {"input_tokens": _INPUT, "output_tokens": _OUTPUT}


@frozen
class LengthCounts:
    """What was counted; None where no request has it.

    `twice_steps` has twice the token-steps of the requests of each total length: o x (2 i + o + 1).
    """

    inputs: Frequency | None
    outputs: Frequency | None
    totals: Frequency | None
    twice_steps: Frequency | None
    joint: Joint | None


def questions(
    table: Expression, held: Collection[str], half: Expression | None
) -> list[Expression]:
    """The counts of a whole log, as few scans as there can be; see `counts`.

    Args:
        table: of requests.
        held: its columns that hold anything.
        half: a small whole number for each request; None where there are no halves. With it, the
            parts are one question, so that an engine finds the half of a request once.
    """
    import ibis

    names = [name for name in _LENGTHS if name in held]
    zero = ibis.literal(0, "int8")
    each = table.select(*names, half=zero if half is None else half)
    totals = [_filled(_totals(each), _TOTAL)] if len(names) == 2 else []
    parts = _parts(each, names)
    return [*parts, *totals] if half is None or len(parts) < 2 else [ibis.union(*parts), *totals]


def question(table: Expression, held: Collection[str]) -> list[Expression]:
    """The counts of a few requests but their totals; see `counts`."""
    import ibis

    names = [name for name in _LENGTHS if name in held]
    parts = _parts(table.select(*names, half=ibis.literal(0, "int8")), names)
    return [ibis.union(*parts)] if len(parts) > 1 else parts


def _parts(each: Expression, names: Sequence[str]) -> list[Expression]:
    parts = []
    for name in names:
        found = each.group_by(first=each[name], half=each.half).agg(requests=each.count())
        parts.append(_filled(found, _LENGTHS[name]))
    return [*parts, _filled(_joint(each), _JOINT)] if len(names) == 2 else parts


def joined(answers: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The answers to several questions as one."""
    import numpy as np

    nothing = np.zeros(0, np.int64)
    return {
        name: np.concatenate([nothing, *(answer[name] for answer in answers)]) for name in _COLUMNS
    }


def _totals(each: Expression) -> Expression:
    given, made = whole(each.input_tokens), each.output_tokens
    return each.group_by(first=given + made).agg(
        requests=each.count(),
        sum_1=whole((whole(made) * (given * 2 + made + 1)).sum()),
    )


def _joint(each: Expression) -> Expression:
    given, made = each.input_tokens, each.output_tokens
    return each.group_by(first=octave_step(given), second=octave_step(made), half=each.half).agg(
        requests=each.count(),
        sum_1=whole(given.sum()),
        sum_2=whole(made.sum()),
        longest=((whole(given) + made) * _PACK + given).max(),
    )


def _filled(found: Expression, part: int) -> Expression:
    """The columns of every part, in one order and type; what is null becomes `_NONE`."""
    import ibis

    there = set(found.columns)
    none = ibis.literal(0, "int64")
    columns = {
        name: whole(found[name]).fill_null(_NONE) if name in there else none
        for name in _COLUMNS[1:]
    }
    return found.select(part=ibis.literal(part, "int64"), **columns)


def counts(found: Mapping[str, Any], halves: Collection[int] | None = None) -> LengthCounts:
    """The counts of some halves, of the answer to `question`; of all halves where none are named.

    The sums of input and output (`totals`) are counted over all halves alone.
    """
    import numpy as np

    wanted = np.ones(len(found["part"]), bool)
    if halves is not None:
        wanted = np.isin(found["half"], list(halves))
    totals, steps = None, None
    if halves is None:
        known = (found["part"] == _TOTAL) & (found["first"] != _NONE)
        totals = added_up(found["first"][known], found["requests"][known])
        steps = added_up(found["first"][known], found["sum_1"][known])
    return LengthCounts(
        inputs=_alone(found, wanted, _INPUT),
        outputs=_alone(found, wanted, _OUTPUT),
        totals=totals,
        twice_steps=steps,
        joint=_together(found, wanted),
    )


def _alone(found: Mapping[str, Any], wanted: Any, part: int) -> Frequency | None:
    rows = wanted & (found["part"] == part) & (found["first"] != _NONE)
    return added_up(found["first"][rows], found["requests"][rows])


def _together(found: Mapping[str, Any], wanted: Any) -> Joint | None:
    rows = (
        wanted & (found["part"] == _JOINT) & (found["first"] != _NONE) & (found["second"] != _NONE)
    )
    if not rows.any():
        return None
    counted = ("first", "second", "requests", "sum_1", "sum_2")
    sums: dict[tuple[int, int], list[int]] = defaultdict(lambda: [0, 0, 0])
    bins = {
        int(step): bin_of_step(int(step))
        for step in {*found["first"][rows], *found["second"][rows]}
    }
    for given, made, *counts in zip(*(found[name][rows].tolist() for name in counted), strict=True):
        kept = sums[bins[given], bins[made]]
        for place, number in enumerate(counts):
            kept[place] += number
    total, longest_input = divmod(int(found["longest"][rows].max()), _PACK)
    return Joint(
        cells=tuple(Cell(*key, *sums[key]) for key in sorted(sums)),
        longest_input=longest_input,
        longest_output=total - longest_input,
    )
