"""Who holds the KV cache: token-steps by length of request."""

from typing import TYPE_CHECKING, Any, Final

from vramledger.workload.profile.frequency import Frequency
from vramledger.workload.profile.profile import Holding
from vramledger.workload.profile.sums import need_64_bits

if TYPE_CHECKING:
    import numpy as np

_SHARES: Final = (
    0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.07,
    *(step / 20 for step in range(2, 20)),
)  # fmt: skip


def holding(lengths: Frequency, twice_steps: "np.ndarray[Any, np.dtype[np.int64]]") -> Holding:
    """The figures of a profile.

    Args:
        lengths: input + output.
        twice_steps: twice the token-steps of the requests of each length. Within a length they are
            taken as equal, so a share of requests that ends inside one takes its part.

    Raises:
        BadInput: they are more than can be counted.
    """
    import numpy as np

    need_64_bits(twice_steps)
    steps = (twice_steps // 2)[::-1]
    requests = np.concatenate(([0], np.cumsum(lengths.counts[::-1])))
    held = np.concatenate(([0], np.cumsum(steps)))
    total = int(held[-1])
    if not total:
        return Holding(token_steps=0, longest_1_percent=None)
    count = int(requests[-1])
    at = np.interp(np.array(_SHARES) * count, requests, held / total)
    curve = ((0.0, 0.0), *zip(_SHARES, (float(each) for each in at), strict=True), (1.0, 1.0))
    return Holding(
        token_steps=total,
        longest_1_percent=dict(curve)[0.01],
        curve=tuple((float(share), of) for share, of in curve),
    )
