"""The columns of a sweep's results: one row a point, flat."""

from typing import Final

from vramledger.record.table import Column, Table

OWN: Final = "own_"  # prefix of columns with the workload's own prefix hits
NO_HITS: Final = "no_hits_"  # and of those without any
SEPARATOR: Final = "; "  # between several texts of one column
LATENCIES: Final = ("ttft_s", "tpot_s", "itl_s", "e2e_s", "queue_s")
LEVELS: Final = ("kv_usage", "running", "waiting")
SHARES: Final = ("p50", "p95", "p99", "max")

_NOT_SIMULATED: Final = "not simulated"
_REFUSED: Final = "not simulated, and refused before its layout was known"
_NO_KNEE: Final = "not searched"
_NO_CONTRACT: Final = "no contract, or not simulated"

_HEAD: Final = {
    "point": Column("string", "", "Hash of the base and the changes."),
    "changes": Column("string", "", "What differs from the base: a JSON object, keys sorted; {} for the base."),
    "status": Column("string", "", "simulated, same as base, ruled out, does not start, refused or cannot know."),
    "reason": Column("string", "", "One sentence on why it was not simulated.", "it was simulated"),
    "verdict": Column("string", "", "PASS, FAIL or INCONCLUSIVE by the contract.", _NO_CONTRACT),
    "slow_end": Column("bool", "", "Whether the contract holds at the slow end of the step times too; a PASS without it is one at the expected step times only.", f"{_NO_CONTRACT}, it fails as expected, or the slow end was not simulated"),
    "broken": Column("string", "", "The contract's lines that do not hold, joined by semicolons.", _NO_CONTRACT),
    "basis": Column("string", "", "Of all times: calibrated, or assumed outside the measured region.", _NOT_SIMULATED),
    "notes": Column("string", "", "What to know of the figures: a JSON list of sentences.", _NOT_SIMULATED),
    "model": Column("string", "", "Its name.", _REFUSED),
    "gpu": Column("string", "", "The accelerator.", _REFUSED),
    "engine_version": Column("string", "", "Version of the rules that were used.", _REFUSED),
    "tp": Column("int64", "", "Tensor-parallel ranks.", _REFUSED),
    "pp": Column("int64", "", "Pipeline stages.", _REFUSED),
    "dp": Column("int64", "", "Data-parallel engines of a server.", _REFUSED),
    "replicas": Column("int64", "", "Equal servers.", _REFUSED),
    "gpus": Column("int64", "", "GPUs of all servers.", _REFUSED),
    "max_num_seqs": Column("int64", "requests", "Sequence cap of one engine.", _REFUSED),
    "max_num_batched_tokens": Column("int64", "tokens", "Token budget of a step.", _REFUSED),
    "max_model_len": Column("int64", "tokens", "Longest request.", _NOT_SIMULATED),
    "kv_cache_dtype": Column("string", "", "How keys and values are held; as typed where it was not simulated.", _REFUSED),
    "kv_blocks": Column("int64", "blocks", "Pool of one engine, null block included.", _NOT_SIMULATED),
    "block_tokens": Column("int64", "tokens", "A block's tokens.", _NOT_SIMULATED),
    "input_tokens_mean": Column("float64", "tokens", "Mean input of the requests.", _NOT_SIMULATED),
    "arrivals_per_s": Column("float64", "requests/s", "Requests that arrive, in place of the closed loop's.", f"{_NOT_SIMULATED}, or all at once"),
    "limited_by_arrivals": Column("bool", "", "Whether nearly all are answered as they come: more throughput is not asked for.", _NOT_SIMULATED),
    "saturation_per_s": Column("float64", "requests/s", "What all servers together serve at most, by theory, without prefix hits.", _REFUSED),
    "saturation_per_gpu_s": Column("float64", "requests/s", "The same, of one GPU.", _REFUSED),
    "knee": Column("string", "", "How the search for the highest load that keeps the contract at the slow end of the step times ended.", _NO_KNEE),
    "knee_level": Column("float64", "", "That load: times the recorded arrivals, or requests in flight.", f"{_NO_KNEE}, or no load keeps it"),
    "knee_per_s": Column("float64", "requests/s", "Requests that arrive at that load.", f"{_NO_KNEE}, no load keeps it, or a closed loop"),
    "output_tokens_mean": Column("float64", "tokens", "Mean output of the requests.", _NOT_SIMULATED),
}  # fmt: skip

_COUNTS: Final = {
    "offered": Column("int64", "requests", "Requests of the workload."),
    "ok": Column("int64", "requests", "Ended as asked."),
    "failed": Column("int64", "requests", "Failed."),
    "rejected": Column("int64", "requests", "Refused by the engine."),
    "cancelled": Column("int64", "requests", "Cancelled as the workload planned."),
    "timed_out": Column("int64", "requests", "Given up by their clients."),
    "incomplete": Column("int64", "requests", "Ended before the tokens that were asked for."),
    "goodput_per_hour": Column("float64", "requests/h", "Requests that met every limit of the contract."),
    "goodput_per_gpu_hour": Column("float64", "requests/h", "The same, of one GPU."),
    "ok_per_hour": Column("float64", "requests/h", "Requests that ended as asked."),
    "ok_per_gpu_hour": Column("float64", "requests/h", "The same, of one GPU."),
    "output_tokens_per_gpu_s": Column("float64", "tokens/s", "Tokens of requests that ended as asked, of one GPU."),
    "preemptions": Column("int64", "", "Times that a request was preempted."),
    "recomputed_tokens": Column("int64", "tokens", "Computed again after a preemption."),
    "recomputed_share": Column("float64", "0..1", "The same, of all computed tokens."),
    "prefix_hit_share": Column("float64", "0..1", "Input tokens found in the prefix cache."),
    "queue_drains": Column("bool", "", "Whether every engine's queue is empty at some moment while requests still arrive."),
    "steps": Column("int64", "", "Steps of all engines."),
    "simulated_s": Column("float64", "s", "From the first arrival to the last step."),
    "binding": Column("string", "", "What limits, by share of time: a JSON object."),
    "bound_by": Column("string", "", "The limit with the largest share, idle time left out."),
}  # fmt: skip

_TITLES: Final = {
    "ttft_s": "Time to the first token",
    "tpot_s": "Mean time of an output token of a request",
    "itl_s": "Time between output events",
    "e2e_s": "Time from the due moment to the end",
    "queue_s": "Time in the queue",
    "kv_usage": "Share of the KV blocks in use, over time",
    "running": "Requests running in an engine, over time",
    "waiting": "Requests waiting in an engine, over time",
}
_UNITS: Final = {"kv_usage": "0..1", "running": "requests", "waiting": "requests"}
_MAY_BE_NULL: Final = frozenset({"goodput_per_hour", "goodput_per_gpu_hour"})


def percentile_column(name: str, share: str) -> str:
    """``ttft_p95_s`` of ``ttft_s`` and ``p95``."""
    stem, unit = (name[:-2], "_s") if name.endswith("_s") else (name, "")
    return f"{stem}_{share}{unit}"


def _figures() -> dict[str, Column]:
    found = dict(_COUNTS)
    for name in (*LATENCIES, *LEVELS):
        for share in SHARES:
            said = "maximum" if share == "max" else share
            found[percentile_column(name, share)] = Column(
                "float64",
                _UNITS.get(name, "s"),
                f"{_TITLES[name]}, {said}; infinite among failures.",
            )
    return found


FIGURES: Final = _figures()  # of one of the two simulations, without its prefix


def _prefixed(prefix: str, null: str) -> dict[str, Column]:
    return {
        f"{prefix}{name}": Column(
            column.kind,
            column.unit,
            column.meaning,
            f"{null}, or no contract" if name in _MAY_BE_NULL else f"{null}, or nothing to count",
        )
        for name, column in FIGURES.items()
    }


RESULTS: Final = Table(
    "sweep",
    "Results of a sweep",
    {
        **_HEAD,
        **_prefixed(NO_HITS, _NOT_SIMULATED),
        **_prefixed(OWN, "not simulated, or the workload has no prefix hits here"),
    },
    ("changes",),
)
