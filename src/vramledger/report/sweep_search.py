"""A search among settings for a terminal."""

from typing import Final

from vramledger.methods.sweep.base import Base
from vramledger.methods.sweep.compare import Swept
from vramledger.methods.sweep.found import Found, Winner
from vramledger.methods.sweep.objective import KNEE_TOLERANCE, TOLERANCE
from vramledger.methods.sweep.row import Row, Status, Verdict
from vramledger.methods.sweep.settings import BUDGET, DATA, KV, SEQUENCES, TENSOR
from vramledger.methods.sweep.trials import BASE
from vramledger.report.sweep_trials import decides, watched

SETTINGS: Final = ("", "GPU", "TP", "DP", "KV cache", "seqs", "budget", "more")
OWES: Final = "owes quality evidence"
_OWN_COLUMNS: Final = frozenset({TENSOR, DATA, KV, SEQUENCES, BUDGET, "gpu"})
_TIES: Final = 3  # of a winner that are named
_THREE: Final = 3


def settings_cells(row: Row) -> list[str]:
    """A point of a search by its settings, after every default; empty where it was refused."""
    known = [row.columns.get(name) for name in ("gpu", "tp", "dp", "kv_cache_dtype")]
    counts = [row.columns.get(name) for name in ("max_num_seqs", "max_num_batched_tokens")]
    said = ["" if value is None else str(value) for value in known]
    said += ["" if value is None else f"{value:,}" for value in counts]
    more = [one.label for one in row.point.changes if one.name not in _OWN_COLUMNS]
    return ["" if row.point.changes else BASE, *said, ", ".join(more)]


def shown_rows(found: Found, start: Row | None) -> tuple[Row, ...]:
    """The best of each card, number of GPUs and kind of cache, and the base."""
    rows = tuple(winner.row for winner in found.winners)
    return rows if start is None or start in rows else (*rows, start)


def search_lines(found: Found) -> list[str]:
    """What was looked for, how, and where it ended."""
    most = found.bounds.most_gpus
    return [
        f"objective   {found.objective.words}",
        f"search      up to {most:,} GPU{'s' if most > 1 else ''}; {_counts(found)}",
        (
            f"equal       goodput within {TOLERANCE:.0%}, a highest load within {KNEE_TOLERANCE:.0%}: finer than "
            "a simulation tells; then the price, the GPUs, and the fewest changes from the base decide"
        ),
        f"best        {_best(found)}",
        (
            "judged      the finalists at the slow end of the step times too, the screen at the expected step "
            "times only"
        ),
        *_owing(found),
    ]


def _counts(found: Found) -> str:
    by_status = {
        status: sum(row.status is status for row in found.screened)
        for status in (Status.SIMULATED, Status.RULED_OUT)
    }
    out = by_status[Status.RULED_OUT]
    refused = sum(row.status in (Status.NO_START, Status.REFUSED) for row in found.screened)
    part = "all of the requests"
    if found.share < 1:
        part = f"the {found.share:.0%} of the requests that come fastest"
    screened = f"{by_status[Status.SIMULATED]:,} points screened on {part}"
    left = f"{out:,} ruled out by theory, {refused:,} do not start or are refused"
    final = f"{len(found.results.rows):,} simulated on all"
    return f"{screened}, {left}; {final}; {found.rounds} rounds of refinement"


def _best(found: Found) -> str:
    best = found.best
    if best is None:
        return "nothing that was tried starts"
    where = _where(best, found)
    if best.keeps:
        return f"{where}, which keeps the contract in simulation, at the slow end of the step times too"
    if best.verdict is Verdict.PASS:
        return f"{where}, which keeps the contract in simulation at the expected step times"
    if best.verdict is Verdict.INCONCLUSIVE and best.columns.get("slow_end") is False:
        return (
            f"{where}, which keeps the contract as expected, not at the slow end of the step times"
        )
    if best.verdict is Verdict.INCONCLUSIVE:
        return f"{where}, of whose contract a line was not checked"
    return f"no settings keep the contract; {where} comes nearest"


def _owing(found: Found) -> list[str]:
    """What a smaller cache would bring, with what it owes."""
    owing = found.best_owing
    if owing is None:
        return []
    kept = ", which keeps the contract in simulation" if owing.verdict is Verdict.PASS else ""
    cache = owing.columns["kv_cache_dtype"]
    return [f"with {cache:<7}{_where(owing, found)}{kept}; {OWES}, as its KV cache changes answers"]


def _where(row: Row, found: Found) -> str:
    cost = found.prices.of(row)
    priced = (
        ""
        if cost is None
        else f", {found.prices.currency} {cost:,.2f} an hour".replace(",  ", ", ")
    )
    return f"{row.point.label} on {row.columns['gpus']} x {row.columns['gpu']}{priced}"


def winner_lines(found: Found) -> list[str]:
    """What is as good as each best, what owes evidence, and where nothing was worth simulating in full."""
    lines = [line for winner in found.winners for line in _beside(winner)]
    lines += [f"{_place(row)}: {row.columns['reason']}" for row in found.hopeless]
    return ["", "OF EACH NUMBER OF GPUS", *lines] if lines else []


def _beside(winner: Winner) -> list[str]:
    parts = [f"{winner.row.columns['kv_cache_dtype']} KV cache {OWES}"] if winner.owes else []
    if winner.ties:
        named = "; ".join(row.point.label for row in winner.ties[:_TIES])
        more = len(winner.ties) - _TIES
        also = f"; and {more} more" if more > 0 else ""
        parts.append(f"as good on the part that was screened: {named}{also}")
    return [f"{_place(winner.row)}, {winner.row.point.label}: {'. '.join(parts)}"] if parts else []


def _place(row: Row) -> str:
    return f"{row.columns.get('gpus')} x {row.columns.get('gpu')}"


def trial_lines(swept: Swept) -> list[str]:
    """The trials that would confirm it, as commands with what to look at and what each would decide."""
    trials = swept.trials
    if not trials:
        return []
    head = "THREE LIVE TRIALS" if len(trials) == _THREE else "LIVE TRIALS"
    lines = ["", f"{head} would confirm it; serve each {_load(swept.base)}"]
    for number, trial in enumerate(trials, 1):
        servers = "" if trial.servers == 1 else f"  (on each of {trial.servers} servers)"
        lines += [f"{number}. {trial.role}, {_place(trial.row)}: {trial.command}{servers}"]
        lines += [f"   {decides(trial)}", f"   look at {watched(trial)}"]
        if trial.row.point in (swept.found.owing if swept.found is not None else ()):
            cache = trial.row.columns["kv_cache_dtype"]
            lines += [f"   compare its answers with the other cache's too: {cache} {OWES}"]
    return lines


def _load(base: Base) -> str:
    part, closed = base.question.part, base.question.serving.closed
    if closed is not None:
        return f"the requests of {part.workload.name}, {closed:,} in flight"
    return f"{part.workload.name} at x{part.rate_scale:g} its arrivals"
