"""What one replica's pool holds of the scenarios, how many replicas they take, and what margins cost."""

from math import ceil

from vramledger.engine.kv import BlockDemand, KvPool
from vramledger.evidence import Basis, Figure
from vramledger.frozen import frozen
from vramledger.plan.lengths import LengthDistribution
from vramledger.sizing.candidate import SHARES, Holding, Margin
from vramledger.sizing.demand import Demand, InFlight, in_flight, mixed
from vramledger.sizing.headroom import headroom
from vramledger.sizing.need import Need
from vramledger.sizing.peaks import Peak


@frozen
class Replica:
    """One replica as holdings see it: the pool at three ends, and the most sequences it runs."""

    low: KvPool
    expected: KvPool
    high: KvPool
    max_num_seqs: int


class Holder:
    """Computes holdings; distributions of demand are shared between the replicas of a question."""

    def __init__(self, share: float) -> None:
        self.share = share  # of moments at which the pool must hold the requests
        self._singles: dict[tuple[str, tuple[BlockDemand, ...]], InFlight] = {}
        self._demands: dict[InFlight, Demand] = {}

    def like(self, share: float) -> "Holder":
        """Another holder that shares the sums of requests, which depend on nothing else."""
        other = Holder(share)
        other._demands = self._demands
        return other

    def holding(self, peak: Peak, replica: Replica) -> Holding:
        """What a replica holds of a peak, decided at the pessimistic end of its pool."""
        pool = replica.low
        demand = self._demand(peak, pool)
        kept = headroom(
            peak, pool.usable_blocks, pool.usable_blocks / demand.single.mean, pool.layout.blocks_at
        )
        safe = pool.usable_blocks - kept.blocks
        held = {share: min(replica.max_num_seqs, demand.held(safe, share)) for share in SHARES}
        each, load = held[self.share], peak.concurrent
        replicas = replicas_for(load.value, each)
        in_replica = load.value / replicas if replicas else 0.0
        return Holding(
            peak=peak.name,
            held=held,
            headroom_blocks=kept.blocks,
            headroom_reason=kept.reason,
            replicas=replicas,
            replicas_low=replicas_for(load.low, each),
            replicas_high=replicas_for(load.high, each),
            expected_blocks=min(in_replica, each) * demand.single.mean,
            mix_tokens=self._mix_tokens(peak, replica, demand.single),
            load_share=load.value / each if each else 0.0,
        )

    def margins(
        self, peak: Peak, replica: Replica, holding: Holding, world: int
    ) -> tuple[Margin, ...]:
        """What each margin costs: the GPUs that dropping it alone would save."""
        demand, pool, load = self._demand(peak, replica.low), replica.low, peak.concurrent.value
        safe = pool.usable_blocks - holding.headroom_blocks
        wider = replica.expected.usable_blocks
        each, on_average = holding.held[self.share], int(safe / demand.single.mean)
        links = [
            ("pessimistic end of the ledger", wider - pool.usable_blocks,
             demand.held(wider - holding.headroom_blocks, self.share), load),
            (f"headroom of {holding.headroom_reason}", holding.headroom_blocks,
             demand.held(pool.usable_blocks, self.share), load),
            (f"{self.share:.0%} of moments instead of the average",
             max(0, ceil((on_average - each) * demand.single.mean)), on_average, load),
        ]  # fmt: skip
        if peak.mean is not None:
            links.append(("peak of requests in flight instead of their mean", 0, each, peak.mean))
        return tuple(
            Margin(name, blocks, world * _saved(holding.replicas, replica, held, requests))
            for name, blocks, held, requests in links
        )

    def _demand(self, peak: Peak, pool: KvPool) -> Demand:
        singles = [self._single(need, pool) for need in peak.needs]
        if len(singles) > 1:
            loads = [need.concurrent.value for need in peak.needs]
            single = mixed(zip(singles, loads, strict=True))
        else:
            single = singles[0]
        return self._demands.setdefault(single, Demand(single))

    def _single(self, need: Need, pool: KvPool) -> InFlight:
        key = (need.name, tuple(group.demand for group in pool.layout.groups))
        if key not in self._singles:
            self._singles[key] = in_flight(need.lengths.cells, pool.layout.blocks_at)
        return self._singles[key]

    def _mix_tokens(self, peak: Peak, replica: Replica, single: InFlight) -> Figure:
        """Tokens of this mix of lengths that the whole pool holds."""
        loads = [need.concurrent.value for need in peak.needs]
        each = [mean_tokens(need.lengths) for need in peak.needs]
        tokens = sum(load * mean for load, mean in zip(loads, each, strict=True)) / sum(loads)
        ends = [
            float(round(pool.usable_blocks / single.mean * tokens))
            for pool in (replica.low, replica.expected, replica.high)
        ]
        low, value, high = sorted(ends)
        return Figure(value, low, high, Basis.CALIBRATED, "KV pool over blocks of this mix")


def replicas_for(concurrent: float, held: int) -> int:
    """Replicas for so many requests in flight; 0 where one replica holds not a single request."""
    return 0 if held < 1 else max(1, ceil(concurrent / held))


def mean_tokens(lengths: LengthDistribution) -> float:
    """Tokens that a request met in flight holds on average: prompt and half of its output."""
    weights = [cell.weight * max(1, cell.output_tokens) for cell in lengths.cells]
    held = [cell.input_tokens + cell.output_tokens / 2 for cell in lengths.cells]
    return sum(w * h for w, h in zip(weights, held, strict=True)) / sum(weights)


def _saved(replicas: int, replica: Replica, held: int, concurrent: float) -> int:
    fewer = replicas_for(concurrent, min(replica.max_num_seqs, held))
    return max(0, replicas - fewer) if fewer else 0
