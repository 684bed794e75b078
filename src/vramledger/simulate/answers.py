"""What a simulated run answers: latencies, levels, preemptions, KV GiB-seconds, goodput."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from vramledger.frozen import frozen
from vramledger.plan.requirement import Contract
from vramledger.record.outcome import Outcome
from vramledger.simulate.engines import Engine
from vramledger.simulate.figures import SHOWN, Figures
from vramledger.simulate.judged import Line, Served, good_requests, goodput_per_hour, judged
from vramledger.simulate.levels import Levels, drains, levels_of
from vramledger.simulate.offered import Offered
from vramledger.simulate.output_gaps import Gaps, output_gaps
from vramledger.simulate.percentiles import Percentiles, percentiles
from vramledger.simulate.queue_peak import QueuePeak, queue_peak
from vramledger.simulate.settings import Settings
from vramledger.simulate.step import Features
from vramledger.simulate.step_cost import StepCost
from vramledger.simulate.step_limits import PhysicalLimits
from vramledger.units import GIB

ENDS: Final = ("ok", "failed", "rejected", "cancelled", "timed_out", "incomplete")


@frozen
class Holding:
    """KV GiB-seconds that a request takes, over all GPUs of its engine; shared blocks in full."""

    each: Percentiles
    longest_share: float  # of all GiB-seconds, by the hundredth that takes most


@frozen
class Recomputing:
    """What preemptions cost. `seconds` is an estimate: the tokens at a full step's price each."""

    preemptions: int
    tokens: int
    share: float  # of all tokens that were computed
    seconds: float


@frozen
class Answers:
    """One run's answers. `lines` and `goodput_per_hour` are empty and None without a contract."""

    requests: Mapping[str, int]  # offered, and each way of ending
    steps: int
    recomputing: Recomputing
    levels: Levels
    latency: Mapping[str, Percentiles]  # seconds
    holding: Holding
    hit_share: float  # of all input tokens, found in the prefix cache
    queue_drains: bool
    goodput_per_hour: float | None
    lines: tuple[Line, ...]
    stuck: str  # a sentence when requests could never go on, else empty
    compiled: bool  # whether the compiled simulator ran; else the plain loop
    wall_s: float
    queue_peak: QueuePeak | None = None  # None where nobody ever waits
    pauses_told: bool = True  # whether ITL counts the pauses after preemptions
    batched: bool = False  # whether static batches were served, one after another
    good: int | None = None  # requests that ended as asked within every latency limit; None without

    @property
    def holds(self) -> bool:
        """Whether no line fails or has too few requests, nothing was stuck and somebody was served."""
        return not self.fails and not self.few

    @property
    def fails(self) -> bool:
        """Whether a line fails, something was stuck or nobody was served."""
        failing = any(line.holds is False for line in self.lines)
        return failing or bool(self.stuck) or not self.served_anybody

    @property
    def few(self) -> bool:
        """Whether a line cannot be judged because too few requests have such a figure."""
        return any(line.few is not None for line in self.lines)

    @property
    def served_anybody(self) -> bool:
        """Whether any request ended as asked, in time where a contract says what that is; nobody who left did."""
        return bool(self.requests["ok"] if self.good is None else self.good)

    @property
    def per_wall_s(self) -> float:
        """Requests simulated a second of this machine's time."""
        return self.requests["offered"] / max(self.wall_s, 1e-9)


def answers_of(
    offered: Offered,
    figures: Figures,
    engines: Sequence[Engine],
    settings: Settings,
    *,
    cost: StepCost,
    physical: PhysicalLimits,
    block_gib: float,
    contract: Contract | None,
    wall_s: float,
    batched: bool = False,
) -> Answers:
    """Everything there is to say of a run; `block_gib` is a block's size over all GPUs.

    `batched` is whether it served static batches.
    """
    levels = levels_of(engines, settings, physical, batched=batched)
    gaps = output_gaps(engines)
    last_ns = int(offered.due_ns[-1])
    served = served_as(offered, figures, gaps, levels, queue_drains=drains(engines, last_ns))
    limits = contract if contract is not None and not contract.is_empty else None
    good = None if limits is None else int(good_requests(limits, served).sum())
    latency = {name: percentiles(figures.latency[name]) for name in SHOWN}
    return Answers(
        requests=_counts(figures),
        steps=sum(engine.found.step_count for engine in engines),
        recomputing=_recomputing(figures, engines, settings, cost),
        levels=levels,
        latency={**latency, "itl_s": gaps.percentiles},
        holding=_holding(figures.found["block_ns"], block_gib),
        hit_share=float(figures.found["hit_tokens"].sum() / offered.input_tokens.sum()),
        queue_drains=served.queue_drains,
        goodput_per_hour=None if limits is None else goodput_per_hour(limits, served),
        lines=() if limits is None else judged(limits, served),
        stuck=next((one.found.stuck for one in engines if one.found.stuck), ""),
        compiled=all(engine.compiled for engine in engines),
        wall_s=wall_s,
        queue_peak=queue_peak(engines),
        pauses_told=gaps.pauses_told,
        batched=batched,
        good=good,
    )


def served_as(
    offered: Offered, figures: Figures, gaps: Gaps, levels: Levels, *, queue_drains: bool
) -> Served:
    """What a contract is held against."""
    return Served(
        offered.input_tokens,
        offered.output_tokens,
        figures.outcome == Outcome.OK.value,
        figures.outcome == Outcome.CANCELLED.value,
        figures.columns["done_s"] - figures.columns["due_s"],
        figures.latency,
        gaps,
        levels.span_s,
        queue_drains,
    )


def _counts(figures: Figures) -> dict[str, int]:
    ended = {name: int((figures.outcome == name).sum()) for name in ENDS}
    return {"offered": len(figures.outcome), **ended}


def _recomputing(
    figures: Figures, engines: Sequence[Engine], settings: Settings, cost: StepCost
) -> Recomputing:
    computed = sum(
        int(one.found.steps["prefill_tokens"].sum() + one.found.steps["decode_tokens"].sum())
        for one in engines
    )
    tokens = int(figures.found["recomputed_tokens"].sum())
    budget = settings.token_budget
    full = cost(Features(prefill_tokens=budget, prefill_requests=1)) / budget / 1e9
    preemptions = int(figures.found["preemptions"].sum())
    return Recomputing(preemptions, tokens, tokens / max(computed, 1), tokens * full)


def _holding(block_ns: "np.ndarray[tuple[int], np.dtype[np.int64]]", block_gib: float) -> Holding:
    each = block_ns.astype(np.float64) * block_gib / 1e9
    most = np.sort(each)[-max(-(-len(each) // 100), 1) :]
    return Holding(percentiles(each), float(most.sum() / max(each.sum(), 1e-300)))


def gib_of_block(bytes_per_block: Sequence[int], ranks: int) -> float:
    """GiB of a block over all GPUs of an engine: stages of `ranks` GPUs each."""
    return sum(bytes_per_block) * ranks / GIB
