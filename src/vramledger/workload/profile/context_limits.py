"""What a limit on input + output would do to the requests of a log."""

from typing import Final

from vramledger.workload.profile.frequency import Frequency
from vramledger.workload.profile.profile import ContextLimit

LIMITS: Final = tuple(1024 * 2**step for step in range(1, 11))  # 2k .. 1M


def context_limits(
    inputs: Frequency,
    totals: Frequency,
    silent: Frequency | None,
    unanswered: Frequency | None,
    budgets: Frequency | None,
) -> tuple[ContextLimit, ...]:
    """One row a limit, up to the first that changes nothing.

    A request is refused when its input leaves no room for one token of output, and cut when the input
    does but not all of the output.

    Args:
        inputs: of all requests.
        totals: input + output of those that have both.
        silent: the part of `totals` with no output at all.
        unanswered: inputs of the requests whose output is not known.
        budgets: input + the limit that the request asked for.
    """  # fmt: skip
    found = []
    for limit in LIMITS:
        refused = inputs.above(limit - 1)
        too_long = totals.above(limit)
        of_refused = refused - (unanswered.above(limit - 1) if unanswered else 0)
        fitting = silent.times(limit) if silent else 0  # refused, though the total fits
        cut = too_long - (of_refused - fitting)
        over = budgets.above(limit) if budgets else None
        found.append(ContextLimit(limit=limit, refused=refused, cut=cut, over_budget=over))
        if not (refused or cut or over):
            break
    return tuple(found)
