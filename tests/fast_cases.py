"""Engines and loads for which the compiled simulator must do exactly what the plain loop does."""

from collections.abc import Callable
from dataclasses import replace

from hypothesis import strategies as st

from vramledger.engine.vllm.rules import WindowAdmission
from vramledger.errors import CannotKnow
from vramledger.frozen import frozen
from vramledger.simulate.fast.load import load_of
from vramledger.simulate.fast.records import as_outcome
from vramledger.simulate.fast.simulate import simulate_fast
from vramledger.simulate.groups import FullAttention, Group, RecurrentState, SlidingWindow
from vramledger.simulate.loop import simulate
from vramledger.simulate.outcome import Outcome
from vramledger.simulate.request import Arrival
from vramledger.simulate.rules import SchedulingRules
from vramledger.simulate.settings import Order, Settings, Speculation
from vramledger.simulate.step_cost import StepCost, fixed


@frozen
class Case:
    """An engine, its load, its costs, and the seed that accepts drafts."""

    settings: Settings
    arrivals: tuple[Arrival, ...]
    cost: StepCost
    seed: int = 0


def by_loop(case: Case) -> Outcome:
    """One step of plain Python at a time."""
    return simulate(case.settings, case.arrivals, case.cost, seed=case.seed)


def by_fast(case: Case, *, every_block: bool = False) -> Outcome:
    """Compiled."""
    load = load_of(case.arrivals)
    fast = simulate_fast(case.settings, load, case.cost, seed=case.seed, every_block=every_block)
    return as_outcome(fast, load)


def outcome_or_sentence(simulated: Callable[[Case], Outcome], case: Case) -> Outcome | str:
    """What became of a case, or the sentence with which its engine stops."""
    try:
        return simulated(case)
    except CannotKnow as stops:
        return str(stops)


_COEFFICIENT = st.sampled_from((0, fixed(0.07), fixed(1.5), fixed(40)))
COSTS = st.one_of(
    st.just(StepCost()),  # every step takes no time at all
    st.builds(
        StepCost,
        constant=_COEFFICIENT,
        prefill_tokens=_COEFFICIENT,
        prefill_requests=_COEFFICIENT,
        prefill_pairs=_COEFFICIENT,
        decode_tokens=_COEFFICIENT,
        decode_requests=_COEFFICIENT,
        decode_context=_COEFFICIENT,
        mixed_context=_COEFFICIENT,
        prefill_step=_COEFFICIENT,
        by_tokens=st.lists(_COEFFICIENT, min_size=1, max_size=9).map(tuple),
    ),
)


@st.composite
def counted_engines(draw: st.DrawFn) -> Settings:
    """First come first served over full attention without caching; pools from tiny to ample."""
    seqs = draw(st.sampled_from((1, 2, 3, 8, 40)))
    longest = draw(st.sampled_from((8, 20, 50, 200)))
    chunked = draw(st.booleans())
    least = seqs if chunked else max(seqs, longest)
    return Settings(
        num_blocks=draw(st.sampled_from((2, 4, 8, 12, 20, 60, 200))),
        block_size=draw(st.sampled_from((1, 2, 4, 5, 16))),
        token_budget=least + draw(st.sampled_from((0, 1, 5, 60, 300))),
        scheduled_tokens=draw(st.sampled_from((None, None, least))),
        max_num_seqs=seqs,
        max_model_len=longest,
        groups=(FullAttention(),) * draw(st.sampled_from((1, 1, 2, 3))),
        prefix_caching=False,
        chunked_prefill=chunked,
        watermark_blocks=draw(st.sampled_from((0, 0, 1, 3))),
        async_scheduling=draw(st.booleans()),
        rules=SchedulingRules(whole_prompt_admission=draw(st.booleans())),
    )


@st.composite
def all_engines(draw: st.DrawFn) -> Settings:
    """Each feature that needs every block followed, on and off."""
    drafts = draw(st.sampled_from((1, 2, 4)))
    plain = draw(counted_engines())
    full_or_window = st.just(FullAttention()) | st.builds(
        SlidingWindow, st.sampled_from((1, 3, 8, 8, 17, 40))
    )
    return replace(
        plain,
        groups=draw(st.lists(full_or_window, min_size=1, max_size=3).map(tuple)),
        checkpoint_interval=draw(st.sampled_from((0, 0, None, 7, 16))),
        prefix_caching=draw(st.booleans()),
        long_prefill_threshold=draw(st.sampled_from((0, 0, 3, 7))),
        order=draw(st.sampled_from(Order)),
        scheduled_tokens=draw(st.sampled_from((None, None, 1, plain.token_budget // 2 + 1))),
        pipeline_stages=draw(st.sampled_from((1, 1, 2, 3, 4))),
        speculation=draw(
            st.none()
            | st.builds(
                Speculation,
                tokens=st.just(drafts),
                acceptance=st.sampled_from((0, 300_000, 700_000, 1_000_000)),
                lookahead=st.sampled_from((0, drafts, drafts + 1)),
                rows=st.sampled_from((0, 0, 1, drafts)),
                drops_last_block=st.booleans(),
            )
        ),
        rules=draw(
            st.builds(
                SchedulingRules,
                whole_prompt_admission=st.booleans(),
                window_admission=st.sampled_from(
                    (WindowAdmission.AT_ADMISSION, WindowAdmission.WHOLE)
                ),
                frees_processed_only=st.booleans(),
                uncached_blocks_first=st.booleans(),
                lookahead_at_admission=st.booleans(),
                lone_prefill_uncapped=st.booleans(),
                own_preemption_ends_running=st.booleans(),
            )
        ),
    )


_TIMES = st.sampled_from((0, 0, 1, 50)) | st.integers(0, 20_000)  # many arrive at once
PLAIN = st.builds(
    Arrival,
    arrival_ns=_TIMES,
    input_tokens=st.integers(1, 25) | st.integers(1, 210),
    output_tokens=st.integers(1, 60),
)
RICH = st.builds(
    Arrival,
    arrival_ns=_TIMES,
    input_tokens=st.integers(1, 25) | st.integers(1, 210),
    output_tokens=st.integers(1, 60),
    prefix=st.builds(
        lambda start, count: tuple(range(start, start + count)),
        st.sampled_from((0, 0, 100)),
        st.integers(0, 12),
    ),
    salt=st.sampled_from((0, 0, 1)),
    priority=st.sampled_from((0, 0, 1, -1)),
    cancel_after_ns=st.sampled_from((None, None, 0)) | st.integers(0, 20_000),
    times_out=st.booleans(),
)


def _load(one: st.SearchStrategy[Arrival]) -> st.SearchStrategy[tuple[Arrival, ...]]:
    few = st.lists(one, max_size=6)
    return (few | st.lists(one, min_size=6, max_size=25)).map(tuple)


@st.composite
def state_engines(draw: st.DrawFn) -> Settings:
    """Groups of recurrent states, alone or beside others, with and without states inside chunks.

    Blocks have more tokens than there are drafts, as those of real models have by hundreds.
    """
    plain = draw(all_engines())
    drafts = plain.drafts
    state = RecurrentState(
        draw(st.sampled_from((0, drafts, drafts))), draw(st.sampled_from((None, None, 1, 2, 4)))
    )
    other = draw(st.sampled_from((state, state, replace(state, checkpoint=None))))
    groups = [
        *plain.groups[: draw(st.integers(0, 2))],
        state,
        *draw(st.sampled_from(((), (other,)))),
    ]
    return replace(
        plain,
        block_size=max(plain.block_size, drafts + 1, state.speculative + 1),
        groups=tuple(draw(st.permutations(groups))),
    )


@st.composite
def always_capped_engines(draw: st.DrawFn) -> Settings:
    """Windows by the rule of vLLM 0.20, beside full attention and alone."""
    plain = draw(all_engines())
    windows = draw(st.lists(st.sampled_from((1, 3, 8, 17, 40)), min_size=1, max_size=2))
    groups: list[Group] = [
        *map(SlidingWindow, windows),
        *draw(st.sampled_from(((), (FullAttention(),)))),
    ]
    rules = replace(plain.rules, window_admission=WindowAdmission.ALWAYS)
    return replace(plain, groups=tuple(draw(st.permutations(groups))), rules=rules)


COUNTED = st.builds(Case, counted_engines(), _load(PLAIN), COSTS)
ALL = st.builds(Case, all_engines(), _load(RICH), COSTS, st.integers(0, 1 << 40))
STATES = st.builds(Case, state_engines(), _load(RICH), COSTS, st.integers(0, 1 << 40))
ALWAYS_CAPPED = st.builds(
    Case, always_capped_engines(), _load(RICH), COSTS, st.integers(0, 1 << 40)
)
