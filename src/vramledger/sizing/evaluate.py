"""One candidate: its ledger, what its pool holds of every scenario, and how many replicas it takes."""

from dataclasses import dataclass, replace
from math import ceil

from vramledger.engine.kv import KvPool
from vramledger.engine.launch import Flag
from vramledger.engine.setting import Layout
from vramledger.engine.vllm.layouts import refusals
from vramledger.engine.vllm.resolve import resolve
from vramledger.errors import VramError
from vramledger.evidence import Basis, Figure
from vramledger.hardware.accelerator import Accelerator
from vramledger.hardware.server import server_for
from vramledger.ledger.account import build
from vramledger.ledger.ledger import Ledger
from vramledger.plan.requirement import Kind
from vramledger.sizing.candidate import SHARES, Candidate, Holding, Margin, Precision
from vramledger.sizing.communication import bytes_per_token
from vramledger.sizing.demand import Demand, in_flight
from vramledger.sizing.launches import command_line, launch_for
from vramledger.sizing.need import Need, headroom
from vramledger.sizing.quality import evidence_owed
from vramledger.sizing.question import Question
from vramledger.units import GIB


@dataclass(frozen=True, slots=True)
class Choice:
    """What one candidate decides."""

    accelerator: Accelerator
    precision: Precision
    layout: Layout
    extra: tuple[Flag, ...] = ()


class Evaluator:
    """Evaluates candidates of one question; distributions of demand are shared between them."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self._demands: dict[tuple[str, tuple[tuple[str, int], ...]], Demand] = {}

    def evaluate(self, choice: Choice) -> Candidate:
        """The candidate, fitting or with the rule that forbids it."""
        question = self.question
        launch = launch_for(
            question.model_name,
            choice.layout,
            choice.precision,
            question.max_model_len,
            (*question.extra_flags, *choice.extra),
        )
        try:
            deployment = resolve(
                launch, question.model, choice.accelerator, version=question.engine_version
            )
            forbidden = refusals(
                deployment.model, choice.layout, deployment.rules, choice.accelerator
            )
            if forbidden:
                return _refused(choice, forbidden[0].message)
            ledger = build(deployment)
        except VramError as error:
            return _refused(choice, str(error))
        if not ledger.fits or ledger.pool is None or ledger.pool_low is None:
            return _refused(choice, ledger.reason)
        return self._held(choice, ledger, ledger.pool_low, command_line(launch))

    def _held(self, choice: Choice, ledger: Ledger, pool: KvPool, launch: str) -> Candidate:
        holdings = tuple(self._holding(need, pool, ledger) for need in self.question.needs)
        tightest = max(holdings, key=lambda holding: holding.replicas)
        impossible = next((h for h in holdings if h.replicas == 0), None)
        if impossible is not None:
            return _refused(choice, _too_small(impossible, pool))
        world = choice.layout.world
        replicas = tightest.replicas
        server = server_for(choice.accelerator, world)
        gpus = replicas * world
        price = self.question.prices.get(choice.accelerator.name)
        sequences = ledger.deployment.max_num_seqs.value
        return Candidate(
            accelerator=choice.accelerator,
            precision=choice.precision,
            layout=choice.layout,
            fits=True,
            reason=_holds(tightest, replicas),
            replicas=replicas,
            gpus=gpus,
            gpus_low=world * max(h.replicas_low for h in holdings),
            gpus_high=world * max(h.replicas_high for h in holdings),
            kv_tokens=self._tokens(ledger),
            holdings=holdings,
            margins=self._margins(ledger, pool, tightest, world),
            idle_share=_idle(tightest, pool),
            replication_waste_gib=_replication_waste(ledger, pool),
            communication_bytes=bytes_per_token(self.question.model.text, choice.layout),
            server=server.name,
            servers=ceil(gpus / server.gpus),
            launch=launch,
            price_per_hour=None if price is None else price * gpus,
            quality=evidence_owed(choice.precision),
            limit="max-num-seqs" if tightest.held[self.question.share] >= sequences else "memory",
            memory="holds",
        )

    def _demand(self, need: Need, pool: KvPool) -> Demand:
        key = (need.name, tuple((g.kind, g.block_size) for g in pool.layout.groups))
        if key not in self._demands:
            self._demands[key] = Demand(in_flight(need.lengths.cells, pool.layout.blocks_at))
        return self._demands[key]

    def _holding(self, need: Need, pool: KvPool, ledger: Ledger) -> Holding:
        demand = self._demand(need, pool)
        sequences = ledger.deployment.max_num_seqs.value
        kept = headroom(
            need,
            pool.usable_blocks,
            pool.usable_blocks / demand.single.mean,
            pool.layout.blocks_at,
        )
        safe = pool.usable_blocks - kept.blocks
        held = {share: min(sequences, demand.held(safe, share)) for share in SHARES}
        each = held[self.question.share]
        peak = need.concurrent
        replicas = _replicas(need, peak.value, each)
        in_replica = peak.value / replicas if replicas else 0.0
        return Holding(
            need=need.name,
            held=held,
            headroom_blocks=kept.blocks,
            headroom_reason=kept.reason,
            replicas=replicas,
            replicas_low=_replicas(need, peak.low, each),
            replicas_high=_replicas(need, peak.high, each),
            expected_blocks=min(in_replica, each) * demand.single.mean,
        )

    def _tokens(self, ledger: Ledger) -> Figure | None:
        """Tokens the pool holds at this mix's average length, from the pessimistic to the high end."""
        pools = (ledger.pool_low, ledger.pool, ledger.pool_high)
        need = self.question.needs[0]
        ends = []
        for pool in pools:
            if pool is None:
                return None
            ends.append(_mix_tokens(need, pool))
        low, value, high = sorted(ends)
        return Figure(value, low, high, Basis.CALIBRATED, "KV pool / blocks of this mix of lengths")

    def _margins(
        self, ledger: Ledger, pool: KvPool, tightest: Holding, world: int
    ) -> tuple[Margin, ...]:
        """What each margin costs: the GPUs that dropping it alone would save."""
        need = next(n for n in self.question.needs if n.name == tightest.need)
        demand = self._demand(need, pool)
        sequences = ledger.deployment.max_num_seqs.value
        share = self.question.share
        safe = pool.usable_blocks - tightest.headroom_blocks
        expected = ledger.pool.usable_blocks if ledger.pool else pool.usable_blocks
        mean_held = int(safe / demand.single.mean)
        without = (
            (
                "pessimistic end of the ledger's band",
                expected - pool.usable_blocks,
                demand.held(expected - tightest.headroom_blocks, share),
            ),
            (
                f"headroom: {tightest.headroom_reason}",
                tightest.headroom_blocks,
                demand.held(pool.usable_blocks, share),
            ),
            (
                f"{share:.0%} of moments instead of the average",
                max(0, ceil((mean_held - tightest.held[share]) * demand.single.mean)),
                mean_held,
            ),
        )
        return tuple(
            Margin(name, blocks, world * max(0, tightest.replicas - saved))
            for name, blocks, held in without
            if (saved := _replicas(need, need.concurrent.value, min(sequences, held))) > 0
        )


def _replicas(need: Need, concurrent: float, held: int) -> int:
    """Replicas for so many requests in flight; 0 where one replica holds not a single request."""
    if held < 1:
        return 0
    if need.kind is Kind.THROUGHPUT:
        return 1  # a queue of work waits; how long is a question of speed
    return max(1, ceil(concurrent / held))


def _refused(choice: Choice, reason: str) -> Candidate:
    return Candidate(
        accelerator=choice.accelerator,
        precision=choice.precision,
        layout=choice.layout,
        fits=False,
        reason=reason,
        memory="does not hold",
    )


def _holds(holding: Holding, replicas: int) -> str:
    each = holding.held[0.95]
    plural = "replica holds" if replicas == 1 else f"of {replicas} replicas holds"
    return f"each {plural} {each} requests of {holding.need} in flight at 95% of moments."


def _too_small(holding: Holding, pool: KvPool) -> str:
    return (
        f"The pool of {pool.usable_blocks} blocks, less {holding.headroom_blocks} kept free, does "
        f"not hold one request of {holding.need} at 95% of moments."
    )


def _idle(holding: Holding, pool: KvPool) -> float:
    return max(0.0, 1.0 - holding.expected_blocks / max(1, pool.usable_blocks))


def _replication_waste(ledger: Ledger, pool: KvPool) -> float:
    """GiB of KV that copies on other ranks of a replica repeat."""
    copies = pool.layout.replication
    layout = ledger.deployment.layout
    per_rank = sum(pool.layout.bytes_per_block) * pool.num_blocks / GIB
    return per_rank * layout.tp * (1 - 1 / copies) if copies > 1 else 0.0


def _mix_tokens(need: Need, pool: KvPool) -> float:
    single = in_flight(need.lengths.cells, pool.layout.blocks_at)
    weight = sum(x.weight * max(1, x.output_tokens) for x in need.lengths.cells)
    tokens = sum(
        x.weight * max(1, x.output_tokens) * (x.input_tokens + x.output_tokens / 2)
        for x in need.lengths.cells
    )
    return round(pool.usable_blocks / single.mean * tokens / weight)


def with_extra(choice: Choice, *flags: Flag) -> Choice:
    """The same choice with more flags."""
    return replace(choice, extra=(*choice.extra, *flags))
