"""Distances of prefix sharing and of conversations."""

from collections import Counter
from typing import TYPE_CHECKING, Final

from vramledger.workload.profile.bins import EDGES
from vramledger.workload.profile.profile import Joint, Prefix, Sessions
from vramledger.workload.synth.compare_lengths import number_line, quantile_lines
from vramledger.workload.synth.line import Line, judged, open_line
from vramledger.workload.synth.permutation import Statistic, sampling_error

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_SHARE: Final = "difference of shares"


def prefix_lines(
    source: Prefix, made: Prefix, joint: Joint | None, level: float, rng: "np.random.Generator"
) -> tuple[Line, ...]:
    """Blocks seen before by request, and the reusable share of tokens by block size.

    The sampling error takes requests as independent of each other, which in a log with shared
    prefixes they are not: it is rather too small.
    """
    import numpy as np

    if not source.shared_blocks or source.block_tokens != made.block_tokens:
        return ()
    blocks = [_by_blocks(each) for each in (source, made)]
    lines = [*number_line("blocks seen before", blocks[0], blocks[1], level, rng)]
    cells = sorted(
        {(place, seen) for each in (source, made) for place, seen, _ in each.shared_blocks}
    )
    counts = []
    for each in (source, made):
        of = {(place, seen): count for place, seen, count in each.shared_blocks}
        counts.append(np.array([of.get(cell, 0) for cell in cells], float))
    theirs = {reuse.block_tokens: reuse.share for reuse in made.reuse}
    for reuse in source.reuse:
        if reuse.block_tokens in theirs and source.block_tokens:
            statistic = _share_difference(cells, reuse.block_tokens, source.block_tokens, joint)
            error = sampling_error(counts[0], counts[1], (statistic,), level, rng)[0]
            distance = abs(reuse.share - theirs[reuse.block_tokens])
            part = f"reusable at {reuse.block_tokens} tokens"
            lines.append(judged(part, _SHARE, distance, error))
    return tuple(lines)


def _by_blocks(prefix: Prefix) -> dict[int, int]:
    found: Counter[int] = Counter()
    for _, seen, count in prefix.shared_blocks:
        found[seen] += count
    return dict(found)


def _share_difference(
    cells: list[tuple[int, int]], block: int, unit: int, joint: Joint | None
) -> Statistic:
    """Between two samples, by cells of (input bin, blocks of `unit` seen before)."""
    import numpy as np

    means = _mean_inputs(joint)
    inputs = np.array(
        [means.get(place, (EDGES[place] + EDGES[place + 1] - 1) / 2) for place, _ in cells], float
    )
    reused = np.array([seen * unit // block * block for _, seen in cells], float)

    def difference(
        one: "NDArray[np.float64]", other: "NDArray[np.float64]"
    ) -> "NDArray[np.float64]":
        found: NDArray[np.float64] = np.abs(
            one @ reused / np.maximum(one @ inputs, 1e-9)
            - other @ reused / np.maximum(other @ inputs, 1e-9)
        )
        return found

    return difference


def _mean_inputs(joint: Joint | None) -> dict[int, float]:
    requests: Counter[int] = Counter()
    tokens: Counter[int] = Counter()
    for cell in joint.cells if joint else ():
        requests[cell.input_bin] += cell.requests
        tokens[cell.input_bin] += cell.input_total
    return {place: tokens[place] / requests[place] for place in requests}


def session_lines(
    source: Sessions, made: Sessions, level: float, rng: "np.random.Generator"
) -> tuple[Line, ...]:
    """Turns of conversations, the time between turns, and the context they carry on."""
    lines = [*number_line("turns of a session", dict(source.turns), dict(made.turns), level, rng)]
    if source.think_s and made.think_s:
        sizes = (_gaps(source), _gaps(made))
        lines += quantile_lines(
            "think time", source.think_s, made.think_s, sizes, level, rng, whole=False
        )
    if source.carried is not None and made.carried is not None:
        distance = abs(source.carried - made.carried)
        reason = "the profile holds its mean alone"
        lines.append(open_line("carried context", _SHARE, distance, reason))
    return tuple(lines)


def _gaps(sessions: Sessions) -> int:
    return max(1, sum((turns - 1) * count for turns, count in sessions.turns))
