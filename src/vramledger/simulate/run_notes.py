"""How sure a simulation's figures are, and the sentences that stand beside them."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from vramledger.evidence import Basis
from vramledger.simulate.drafting import acceptance_note
from vramledger.simulate.limit_remarks import limit_remarks
from vramledger.simulate.load_remarks import load_remarks
from vramledger.simulate.long_play import small_budget
from vramledger.simulate.offered import Offered
from vramledger.simulate.policies import VLLM, policy_named
from vramledger.simulate.remarks import remarks
from vramledger.simulate.serving_remarks import serving_remarks
from vramledger.simulate.timing.bands import DRAFTS_LEFT_OUT, Region, region
from vramledger.simulate.timing.coefficients import shipped
from vramledger.simulate.timing.work import work_of

if TYPE_CHECKING:
    from vramledger.simulate.run import Bench, Played

_PAUSES_LEFT_OUT: Final = (
    "ITL leaves out the pauses after preemptions, which the compiled simulator does not tell; TPOT and "
    "E2E have them."
)


def basis_of(bench: "Bench") -> Basis:
    """Of every time: what is assumed of drafts is in all of them."""
    return Basis.ASSUMED if bench.deployment.speculation else times_of(bench).basis


def times_of(bench: "Bench") -> Region:
    """How the step times of the deployment are known."""
    deployment = bench.deployment
    return region(deployment, work_of(deployment), bench.question.fit or shipped())


def notes_of(bench: "Bench", main: "Played", own: "Played | None") -> tuple[str, ...]:
    """What a reader must know: of the times, of what was left out, of the deployment."""
    around = times_of(bench)
    timing = _timing(bench, around)
    ended = remarks(main.figures, main.settings)
    pauses = () if main.answers.pauses_told else (_PAUSES_LEFT_OUT,)
    served = serving_remarks(bench.question.serving, bench.engines, bench.deployment.layout)
    asked = limit_remarks(bench.question.contract)
    arrivals = load_remarks(bench.offered) if bench.question.serving.closed is None else ()
    rest = (*pauses, *served, *arrivals, *_notes(bench, own), *bench.deployment.remarks)
    known = (note for note in around.notes if note != DRAFTS_LEFT_OUT)  # here they are not
    return (timing, *known, *asked, *ended, *rest)


def _timing(bench: "Bench", around: Region) -> str:
    """Where the step times come from, and how far off such figures were."""
    fit, paces = bench.question.fit or shipped(), bench.paces
    dated = f" of {fit.date}" if fit.date else ""
    return (
        f"Step times are {around.basis}, from {fit.source}{dated}: expect the true TPOT, nine times in "
        f"ten, at {paces.fast:.2f} to {paces.slow:.2f} times these figures (their fast and their slow end), and mean "
        f"TTFT at {paces.ttft_fast:.2f} to {paces.ttft_slow:.2f} times."
    )


def _notes(bench: "Bench", own: "Played | None") -> Sequence[str]:
    """What a reader must know of this simulation, one sentence each."""
    deployment, offered = bench.deployment, bench.offered
    found = [*_without_lengths(offered), small_budget(deployment.max_num_batched_tokens.value)]
    if own is None:
        found.append(_why_no_hits(bench))
    found += [
        policy_named(bench.question.policy).note,
        acceptance_note(deployment, bench.question.acceptance),
    ]
    if deployment.layout.dp > 1:
        found.append(
            "Data-parallel engines are simulated one by one; waits for each other at experts are in the "
            "step time as if all had equal steps."
        )
    return [note for note in found if note]


def _without_lengths(offered: Offered) -> Iterator[str]:
    """What was done with requests without an answer or a prompt."""
    count = len(offered)
    if offered.drawn:
        tokens = int(offered.input_tokens.sum() + offered.output_tokens.sum())
        yield (
            f"{_requests(offered.drawn)} no answer ({_share(offered.drawn, count)} of all) and took that of "
            "another request with a prompt about as long, drawn by the seed (assumed): "
            f"{_share(offered.drawn_tokens, tokens)} of the tokens."
        )
    if offered.left_out:
        yield (
            f"{_requests(offered.left_out)} no known prompt and {'was' if offered.left_out == 1 else 'were'} left "
            f"out: {_share(offered.left_out, offered.left_out + count)} of all, so the true load is larger."
        )


def _requests(count: int) -> str:
    return (
        "1 request of the workload has"
        if count == 1
        else f"{count:,} requests of the workload have"
    )


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}"


def _why_no_hits(bench: "Bench") -> str:
    if bench.question.policy != VLLM:
        why = f"batches of the policy {bench.question.policy} share no prefixes"
    elif not bench.question.prefix:
        why = "--no-prefix was given"
    elif not bench.deployment.enable_prefix_caching.value:
        why = "the deployment has prefix caching off"
    else:
        why = "the workload does not say which prompts begin alike"
    return f"Simulated without prefix hits only: {why}."
