"""The client: requests leave late, or answers lie unread, because the load generator is too slow."""

from collections.abc import Sequence

import numpy as np

from vramledger.diagnose.hypothesis import Cause, NextChange
from vramledger.diagnose.picture import Picture
from vramledger.diagnose.sign import Sign, both, ramp, strongest
from vramledger.units import format_seconds


def _signs(picture: Picture) -> Sequence[Sign]:
    return (_late(picture), _health(picture), _machine(picture))


def _late(picture: Picture) -> Sign:
    """Lateness counts as a part of what clients see, and what lies unread behind it."""
    requests = picture.evidence.requests
    late = requests.late_s[np.isfinite(requests.late_s)]
    if not len(late):
        return Sign("When requests left was not stamped.", None, needed=True)
    mean, worst = float(late.mean()), float(np.quantile(late, 0.99))
    ttft = picture.stages.ttft_s
    share = mean / ttft if ttft > 0 else np.nan
    unread = max((each.unread_s for each in picture.evidence.healths), default=0.0)
    strength = strongest(
        both(ramp(share, 0.04, 0.2), ramp(worst, 0.005, 0.05)),
        ramp(mean, 0.1, 0.5),
        _merging(picture),
    )
    text = f"Requests left {format_seconds(mean)} late on average ({share:.0%} of the time to the first token), the last hundredth {format_seconds(worst)} or more."
    text += f" Bytes lay unread for up to {format_seconds(unread)}." if unread > 0.1 else ""
    return Sign(text, strength, needed=True)


def _merging(picture: Picture) -> float | None:
    """Answers that were read late: the client itself says that it was busy, and its tokens come slower than the engine makes them."""
    told = picture.evidence.healths
    if not told:
        return None
    busy = max(each.busy_windows for each in told)
    return both(ramp(busy, 0.2, 0.5), ramp(picture.stages.tpot_ratio, 1.1, 1.4))


def _health(picture: Picture) -> Sign:
    told = picture.evidence.healths
    if not told:
        return Sign("The client did not say how it was itself.", None)
    said = next((each.bottleneck for each in told if each.bottleneck), None)
    return Sign(
        said or "By its own rules the client was quick enough.", 1.0 if said else 0.0, weight=1.5
    )


def _machine(picture: Picture) -> Sign:
    busiest = picture.evidence.of("client_cpu_busiest")
    if not np.isfinite(busiest).any():
        return Sign("The processors of the client's machine were not seen.", None, weight=0.5)
    share = float(np.nanquantile(busiest, 0.8))
    return Sign(
        f"The busiest processor of the client's machine is {share:.0%} in use.",
        ramp(share, 0.7, 0.95),
        weight=0.5,
    )


def _change(picture: Picture) -> NextChange:
    del picture
    return NextChange(
        "Send the same load from more workers (--workers), or from a machine with idle cores; until then its latencies say nothing of the server."
    )


CAUSE = Cause("D10", "client", "The client is the bottleneck", _signs, _change)
