"""A search among settings for a terminal."""

from typing import Any, Final

from vramledger.methods.sweep.row import Row, Verdict
from vramledger.methods.sweep.search import Found
from vramledger.methods.sweep.settings import BUDGET, DATA, KV, SEQUENCES, TENSOR
from vramledger.methods.sweep.trials import BASE, BEST, RUNNER_UP, Trial

SHOWN: Final = 10  # rows of the ranking


SETTINGS: Final = ("", "TP", "DP", "KV cache", "seqs", "budget", "more")
_OWN_COLUMNS: Final = frozenset({TENSOR, DATA, KV, SEQUENCES, BUDGET})


def settings_cells(row: Row) -> list[str]:
    """A point of a search by its settings, after every default; empty where it was refused."""
    known = [row.columns.get(name) for name in ("tp", "dp", "kv_cache_dtype")]
    counts = [row.columns.get(name) for name in ("max_num_seqs", "max_num_batched_tokens")]
    said = ["" if value is None else str(value) for value in known]
    said += ["" if value is None else f"{value:,}" for value in counts]
    more = [one.label for one in row.point.changes if one.name not in _OWN_COLUMNS]
    return ["" if row.point.changes else BASE, *said, ", ".join(more)]


def search_lines(found: Found) -> list[str]:
    """What was looked for, and where it ended."""
    best, rows = found.best, found.ranking
    failed = sum(not row.simulated for row in rows)
    return [
        f"objective   {found.objective.words}",
        (
            f"search      up to {found.bounds.most_gpus} GPUs; {len(rows):,} points, {failed:,} of them do not "
            f"start, {found.rounds} rounds of refinement"
        ),
        f"best        {_best(best)}",
    ]


def search_json(found: Found, trials: tuple[Trial, ...]) -> dict[str, Any]:
    """A search as JSON; rows of its ranking are named by their hash."""
    best = found.best
    return {
        "objective": found.objective.name,
        "most_gpus": found.bounds.most_gpus,
        "rounds": found.rounds,
        "holds": best is not None and best.verdict is Verdict.PASS,
        "ranking": [row.columns["point"] for row in found.ranking],
        "trials": [
            {
                "role": trial.role,
                "point": trial.row.columns["point"],
                "command": trial.command,
                "decides": _decides(trial),
                "differences": [
                    {"name": one.name, "here": one.here, "best": one.there}
                    for one in trial.differences
                ],
            }
            for trial in trials
        ],
    }


def trial_lines(trials: tuple[Trial, ...]) -> list[str]:
    """The trials that would confirm it, as commands with what each would decide."""
    if not trials:
        return []
    lines = [
        "",
        "THREE LIVE TRIALS would confirm it; serve each the same workload at the same rate",
    ]
    if len(trials) < _THREE:
        lines = ["", "LIVE TRIALS that would confirm it; serve each the same workload"]
    for number, trial in enumerate(trials, 1):
        lines += [f"{number}. {trial.role}: {trial.command}", f"   {_decides(trial)}"]
    return lines + [f"   {sentence}" for sentence in _owed(trials)]


_TWO, _THREE = 2, 3


def _best(best: Row | None) -> str:
    if best is None:
        return "nothing that was tried starts"
    gpus = best.columns["gpus"]
    where = f"{best.point.label} on {_gpus(gpus)}"
    if best.verdict is Verdict.PASS:
        return f"{where}, which keeps the contract in simulation"
    if best.verdict is Verdict.INCONCLUSIVE:
        return f"{where}, of whose contract a line was not checked"
    return f"no settings keep the contract; {where} comes nearest"


def _owed(trials: tuple[Trial, ...]) -> list[str]:
    """What a trial must show besides speed."""
    cached = {str(trial.row.columns["kv_cache_dtype"]) for trial in trials}
    if len(cached) < _TWO:
        return []
    named = " and ".join(sorted(cached))
    sentence = (
        f"KV caches of {named} are compared: a smaller one changes answers, and owes evidence"
    )
    return [f"{sentence} of their quality."]


def _decides(trial: Trial) -> str:
    said = _DECIDES[trial.role]
    changes = ", ".join(
        f"{one.name} {one.here} in place of {one.there}" for one in trial.differences
    )
    return f"{said}{': ' + changes if changes else ''}. Simulated: {_figures(trial.row)}."


_DECIDES: Final = {
    BEST: "decides whether the contract holds in fact",
    RUNNER_UP: "decides whether the order is right where the choice differs most",
    BASE: "shows how far the simulation is off on what you have, against what the change brings",
}


def _gpus(count: int) -> str:
    return "1 GPU" if count == 1 else f"{count:,} GPUs"


def _figures(row: Row) -> str:
    goodput = row.figure("goodput_per_hour")
    parts = [f"{row.verdict or 'no verdict'}", _gpus(row.columns["gpus"])]
    parts += [] if goodput is None else [f"goodput {goodput:,.0f}/h"]
    for title, name in (("TTFT p95", "ttft_p95_s"), ("TPOT p95", "tpot_p95_s")):
        value = row.figure(name)
        parts += [] if value is None else [f"{title} {value:,.3g} s"]
    return ", ".join(parts)
