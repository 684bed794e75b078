"""A workload on a deployment, simulated: the deployment's pool, scheduler and step time put together."""

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from vramledger.engine.kv import KvPool
from vramledger.engine.vllm.deployment import Deployment
from vramledger.evidence import Basis
from vramledger.frozen import frozen
from vramledger.ledger.case import Case
from vramledger.plan.requirement import Contract, Kind
from vramledger.simulate.answers import Answers, answers_of, gib_of_block
from vramledger.simulate.arriving import as_sent
from vramledger.simulate.capacity import Capacity, capacity_of, longest_share
from vramledger.simulate.compiling import compiling
from vramledger.simulate.contrast import Contrast, side_of
from vramledger.simulate.drafted_cost import deployment_cost
from vramledger.simulate.engines import Engine, Progress
from vramledger.simulate.figures import Figures, figures_of
from vramledger.simulate.from_deployment import settings_of
from vramledger.simulate.kv_room import KvRoom, kv_room_of
from vramledger.simulate.long_play import Announce, long_play
from vramledger.simulate.memory_needed import refuse_part_beyond_memory
from vramledger.simulate.offered import Offered, read_offered, with_client_timeout
from vramledger.simulate.on_engines import engines_of
from vramledger.simulate.pace import Pace, Paces, at_pace, paces_of
from vramledger.simulate.policies import VLLM, batch_settings, policy_named
from vramledger.simulate.priced import typical_of
from vramledger.simulate.remarks import hit_remarks
from vramledger.simulate.run_notes import basis_of, notes_of
from vramledger.simulate.sanity import Sanity, sanity_of
from vramledger.simulate.serving import PLAIN, Serving
from vramledger.simulate.settings import Settings
from vramledger.simulate.split_figures import SplitFigures, split_figures_of
from vramledger.simulate.step_cost import StepCost
from vramledger.simulate.step_limits import PhysicalLimits, limits_of
from vramledger.simulate.step_trace import StepTrace
from vramledger.simulate.timing.bands import region
from vramledger.simulate.timing.coefficients import Fit, shipped
from vramledger.simulate.timing.work import work_of
from vramledger.simulate.ttft_band import with_ttft_band
from vramledger.workload.operators.prepared import Part, prepared

if TYPE_CHECKING:
    from vramledger.simulate.ends import Ends

LOW, EXPECTED = "low", "expected"


@frozen
class Question:
    """What to simulate. `end` says at which end of the ledger's band the pool is: low or expected."""

    case: Case
    part: Part
    scenario: str | None = None  # of the workload or of a plan
    replicas: int = 1
    prefix: bool = True  # whether the workload's own prefix hits are simulated too
    end: str = LOW
    seed: int = 0
    contract: Contract | None = None
    fit: Fit | None = None
    headroom: float | None = None  # share of the KV pool to keep free; None: by kind
    kind: Kind = Kind.LATENCY
    policy: str = VLLM  # a name of `policies.POLICIES`
    trace: Path | None = None  # where every step is written, a line each
    acceptance: float | None = None  # of drafts at each position, 0..1, as the user assumes it
    serving: Serving = PLAIN  # the replicas are decode servers where it has prefill servers
    pace: Pace = Pace.EXPECTED  # the end of the band of the step times
    client_timeout_s: float | None = None  # after which every client leaves; None: they wait


@frozen
class NotServed:
    """The deployment does not start, so that nothing was simulated; the reason is one sentence."""

    reason: str


@frozen
class Played:
    """One simulation of all engines, and its answers.

    `offered` has the times at which requests were sent, which in a closed loop only the simulation tells.
    """

    offered: Offered
    settings: Settings
    engines: tuple[Engine, ...]
    figures: Figures
    answers: Answers
    split: SplitFigures | None = None


@frozen
class Simulation:
    """`own` has the workload's prefix hits, None where there can be none or they were not wanted."""

    question: Question
    deployment: Deployment
    pool: KvPool
    offered: Offered
    no_hits: Played
    own: Played | None
    sanity: Sanity
    basis: Basis  # of every time: calibrated inside the measured region, assumed outside
    notes: tuple[str, ...]
    kv_room: KvRoom  # of the main one
    bench: "Bench"
    contrast: Contrast | None = None  # with vLLM, where another policy was asked for
    ends: "Ends | None" = None  # the main one at the ends of the step times, where they were played

    @property
    def main(self) -> Played:
        """The one whose figures come first, which is written and judged."""
        return self.own or self.no_hits


@frozen
class Bench:
    """What every simulation of a question shares. `cost` is at the question's pace."""

    question: Question
    deployment: Deployment
    pool: KvPool
    cost: StepCost
    physical: PhysicalLimits
    offered: Offered
    engines: int
    paces: Paces  # the ends of the band of the step times, as factors on the expected ones


@frozen
class Ready:
    """A deployment that starts, with its pool: made once for many simulations of a question."""

    question: Question
    deployment: Deployment
    pool: KvPool


def ready_for(question: Question) -> Ready | NotServed:
    """What every simulation of the question shares, whatever is offered.

    Raises:
        BadInput: a deployment that is none.
        CannotKnow: a card, cache or feature that cannot be simulated.
    """
    ledger = question.case.ledger()
    pool = ledger.pool_low if question.end == LOW else ledger.pool
    if pool is None or not pool.fits_one or (question.end == LOW and not ledger.fits):
        return NotServed(ledger.reason)
    settings_of(  # refuse before anything is read
        ledger.deployment, pool, prefix_caching=False, acceptance=question.acceptance
    )
    return Ready(question, ledger.deployment, pool)


def simulate_case(
    question: Question,
    progress: Progress,
    offered: Offered | None = None,
    announce: Announce | None = None,
) -> Simulation | NotServed:
    """Simulate the workload on the deployment, without prefix hits and with its own.

    `offered` is the question's part of the workload where it was read before; `announce` is told before a
    simulation that takes long.

    Raises:
        BadInput: no workload, nothing in it, or a deployment that is none.
        CannotKnow: a card, cache, feature or workload that cannot be simulated.
    """
    ready = ready_for(question)
    if isinstance(ready, NotServed):
        return ready
    deployment, pool = ready.deployment, ready.pool
    if offered is None:
        refuse_part_beyond_memory(question.part)
        with prepared(question.part, question.seed, progress) as path:
            offered = read_offered(path, question.seed)
    bench = bench_of(ready, offered)
    if announce is not None and (said := _long_play(bench)):
        announce(said)
    progress(0, len(offered))
    if question.trace is not None:
        StepTrace(question.trace, bench.engines).refuse_places()
    hits = can_hit(bench)
    no_hits = played(bench, progress, hits=False, traced=not hits)
    own = played(bench, progress, hits=True, traced=True) if hits else None
    main = own or no_hits
    sanity = sanity_of(main.offered, main.figures, main.answers, expected(bench, main.settings))
    hit_notes = () if own is None else hit_remarks(own.answers, no_hits.answers)
    basis, notes = basis_of(bench), (*notes_of(bench, main, own), *hit_notes)
    contrast = None if question.policy == VLLM else _contrast(bench, progress, no_hits)
    return Simulation(
        question,
        deployment,
        pool,
        main.offered,
        no_hits,
        own,
        sanity,
        basis,
        notes,
        _kv_room(bench, main),
        bench,
        contrast,
    )


def _long_play(bench: Bench) -> str:
    tokens = int(bench.offered.input_tokens.sum())
    return long_play(len(bench.offered), tokens, bench.deployment.max_num_batched_tokens.value)


def _kv_room(bench: Bench, main: Played) -> KvRoom:
    question = bench.question
    return kv_room_of(
        main.answers,
        bench.engines,
        headroom=question.headroom,
        kind=question.kind,
        longest=longest_share(bench.offered, main.settings),
    )


def _contrast(bench: Bench, progress: Progress, asked: Played) -> Contrast:
    """The same load by vLLM's own scheduler beside the policy that was asked for."""
    question = replace(bench.question, policy=VLLM, trace=None)
    vllm = played(replace(bench, question=question), progress, hits=False)
    sides = (side_of(run.answers, run.figures) for run in (asked, vllm))
    return Contrast(bench.question.policy, *sides)


def bench_of(ready: Ready, offered: Offered) -> Bench:
    """The requests on the deployment, with the step time for their lengths."""
    question, deployment, pool = ready.question, ready.deployment, ready.pool
    offered = with_client_timeout(offered, question.client_timeout_s)
    fit = question.fit or shipped()
    typical = typical_of(float(offered.input_tokens.mean()), float(offered.output_tokens.mean()))
    decodes = deployment.max_num_seqs.value * (1 + deployment.draft_tokens)
    work = work_of(deployment)
    paces = paces_of(fit, region(deployment, work, fit))
    expected_cost = deployment_cost(deployment, fit.coefficients, typical)
    cost = at_pace(expected_cost, paces.of(question.pace))
    physical = limits_of(work, fit.coefficients, typical, decodes)
    engines = question.replicas * deployment.layout.dp
    return Bench(
        question, deployment, pool, cost, physical, offered, min(engines, len(offered)), paces
    )


def expected(bench: Bench, settings: Settings) -> Capacity:
    """What theory says the engines hold."""
    question = bench.question
    return capacity_of(
        bench.offered,
        settings,
        bench.cost,
        bench.engines,
        headroom=question.headroom,
        kind=question.kind,
    )


def can_hit(bench: Bench) -> bool:
    """Whether the workload's own prefix hits are wanted and possible."""
    caching = bench.deployment.enable_prefix_caching.value
    wanted = bench.question.prefix and bench.question.policy == VLLM
    return wanted and caching and bench.offered.shares_prefixes


def played(
    bench: Bench,
    progress: Progress,
    *,
    hits: bool,
    traced: bool = False,
    beside: Figures | None = None,
) -> Played:
    """One simulation, with the workload's own prefix hits or without any; traced where that is asked.

    `beside` are the figures at the expected step times, of a simulation at an end of their band: TTFT has its own.

    Without them the prefix cache is as the deployment has it, so that preempted requests may find their own blocks.
    """
    question, offered = bench.question, bench.offered
    batched = policy_named(question.policy).batching is not None
    settings = settings_of(
        bench.deployment,
        bench.pool,
        prefix_caching=bench.deployment.enable_prefix_caching.value,
        acceptance=question.acceptance,
    )
    if batched:
        settings = batch_settings(settings)
    with compiling() as compiled:
        began = time.perf_counter()
        engines = engines_of(bench, settings, progress, hits=hits, traced=traced)
        wall = time.perf_counter() - began - compiled.seconds
    offered = as_sent(offered, engines)
    figures = figures_of(offered, engines, settings.max_model_len)
    if beside is not None:
        factor = bench.paces.of_ttft(question.pace)
        figures = with_ttft_band(figures, beside, question.pace, factor)
    layout = bench.deployment.layout
    answers = answers_of(
        offered,
        figures,
        engines,
        settings,
        cost=bench.cost,
        physical=bench.physical,
        block_gib=gib_of_block(bench.pool.layout.bytes_per_block, layout.tp * layout.pcp),
        contract=question.contract,
        wall_s=wall,
        batched=batched,
    )
    split = split_figures_of(engines, settings, bench.physical)
    return Played(offered, settings, engines, figures, answers, split)
