"""Points that theory rules out before they are simulated: a queue that grows beyond what the contract allows.

With a steady load of r requests a second on servers that saturate at s < r, a request that comes at t waits
t (r / s - 1). Over a workload of T seconds the wait at the share p of requests is p T (r / s - 1). Theory's s is
within some percent of a simulation's, and above it where much is computed again, so that a point is ruled out only where
it is short by far; and never where prefix hits may save work.
"""

from typing import Final

from vramledger.plan.requirement import Contract
from vramledger.simulate.capacity import Capacity
from vramledger.simulate.offered import Offered
from vramledger.simulate.run import Bench, can_hit
from vramledger.simulate.sanity import offered_per_s

_WAITED_IN: Final = ("ttft_s", "e2e_s")
_CLEARLY: Final = 0.8  # of the arrivals: a saturation below it is short by more than theory errs
_TIMES: Final = 2.0  # the limit, which the wait is above


def ruled_out(bench: Bench, capacity: Capacity) -> str:
    """Why nothing need be simulated, in one sentence; empty where it must be."""
    arrive = offered_per_s(bench.offered)
    contract = bench.question.contract
    plain = bench.question.serving.is_plain and not can_hit(bench)
    if arrive is None or contract is None or not plain:
        return ""
    most = capacity.saturation_per_s
    if most >= _CLEARLY * arrive or not _waits_too_long(contract, bench.offered, arrive / most):
        return ""
    return (
        f"Theory rules it out: {arrive:,.3g} requests arrive a second and at most {most:,.3g} are served, "
        "so that the queue grows beyond what the contract allows."
    )


def _waits_too_long(contract: Contract, offered: Offered, overload: float) -> bool:
    lasts_s = float(offered.due_ns[-1] - offered.due_ns[0]) / 1e9
    return any(
        share * lasts_s * (overload - 1) > _TIMES * seconds
        for name in _WAITED_IN
        for limit in contract.latency.get(name, ())
        for share, seconds in limit.percentiles.items()
    )
