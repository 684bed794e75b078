"""Measured beside predicted: the readings of a start-up log or a metrics page against a ledger."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from vramledger.engine.vllm.log.startup import Failure, Reading, StartupLog
from vramledger.engine.vllm.metrics_page import CacheConfig
from vramledger.errors import ExitCode
from vramledger.evidence import Basis, Figure, Unknown, total
from vramledger.frozen import frozen
from vramledger.ledger.ledger import Ledger, RankLedger

WORTH_EXPLAINING: Final = 0.02  # relative gap above which a reason is owed
_ROUNDED: Final = {"GiB": 0.005, "x": 0.005}  # half the last digit that logs print


@frozen
class Comparison:
    """One line of the log beside the ledger. `gap` is (measured - predicted) / predicted."""

    key: str
    label: str
    unit: str  # "GiB", "tokens", "blocks", "x"
    rank: str  # the process tag the reading came with, empty where it had none
    measured: Figure
    predicted: Figure | None
    gap: float | None
    inside_band: bool | None
    reason: str = ""


@frozen
class _Line:
    """How one reading is called and where the ledger holds its counterpart."""

    label: str
    unit: str
    predicted: Callable[[Ledger, RankLedger], Figure | None]
    high_reason: str  # measured above predicted
    low_reason: str


def compare_log(ledger: Ledger, log: StartupLog, *, explain: bool = True) -> tuple[Comparison, ...]:
    """Every memory reading of the log beside its prediction, in the order of the account.

    With `explain` gaps worth it get their likely reason.
    """
    found = []
    for name, line in _LINES.items():
        found += [_compare(ledger, name, line, reading) for reading in _per_rank(log.all(name))]
    return _explain_tokens(found) if explain else tuple(replace(c, reason="") for c in found)


def compare_page(ledger: Ledger, configs: Sequence[CacheConfig]) -> tuple[Comparison, ...]:
    """Blocks, tokens and concurrency of a metrics page beside the prediction."""
    found = []
    for config in configs:
        figures = {
            "num_blocks": config.num_blocks,
            "kv_tokens": config.kv_tokens,
            "max_concurrency": config.max_concurrency,
        }
        for name, value in figures.items():
            if value is not None:
                measured = Figure.sharp(float(value), Basis.MEASURED, "vllm:cache_config_info")
                found.append(
                    _beside(ledger, name, _LINES[name], measured, f"engine {config.engine}")
                )
    return _explain_tokens(found)


def verdict(compared: Sequence[Comparison], failures: Sequence[Failure] = ()) -> ExitCode:
    """Whether every figure that has a prediction lies inside its band; cannot know without one.

    A start that failed does not hold, whatever its figures.
    """
    if failures:
        return ExitCode.DOES_NOT_HOLD
    inside = [c.inside_band for c in compared if c.inside_band is not None]
    if not inside:
        return ExitCode.CANNOT_KNOW
    return ExitCode.HOLDS if all(inside) else ExitCode.DOES_NOT_HOLD


def _per_rank(readings: Sequence[Reading]) -> list[Reading]:
    """The last reading of every process; a restart or a second print replaces the first."""
    last = {reading.line.process: reading for reading in readings}
    return list(last.values())


def _compare(ledger: Ledger, name: str, line: _Line, reading: Reading) -> Comparison:
    source = f"line {reading.line.number} of the log ({reading.row})"
    measured = Figure.sharp(reading.value, Basis.MEASURED, source)
    rank = _rank_of(ledger, reading)
    return _beside(ledger, name, line, measured, reading.line.process or "", rank)


def _beside(
    ledger: Ledger,
    name: str,
    line: _Line,
    measured: Figure,
    process: str,
    rank: RankLedger | None = None,
) -> Comparison:
    predicted = line.predicted(ledger, rank or ledger.ranks[0])
    gap = None
    inside = None
    reason = ""
    if predicted is not None:
        rounding = _ROUNDED.get(line.unit, 0.0)
        inside = predicted.low - rounding <= measured.value <= predicted.high + rounding
        if predicted.value:
            gap = (measured.value - predicted.value) / abs(predicted.value)
            if abs(gap) > WORTH_EXPLAINING:
                reason = line.high_reason if gap > 0 else line.low_reason
    return Comparison(
        name, line.label, line.unit, process, measured, predicted, gap, inside, reason
    )


def _rank_of(ledger: Ledger, reading: Reading) -> RankLedger:
    """The rank a process tag names; the first one where the log does not say."""
    stage, tp_rank = reading.line.pp or 0, reading.line.tp or 0
    for rank in ledger.ranks:
        if (rank.pp_stage, rank.tp_rank) == (stage, tp_rank):
            return rank
    return ledger.ranks[0]


def _explain_tokens(found: list[Comparison]) -> tuple[Comparison, ...]:
    """When the bytes agree but the tokens do not, the cost of a block is what differs."""
    bytes_agree = any(
        c.key == "kv_cache_gib" and c.gap is not None and abs(c.gap) <= WORTH_EXPLAINING
        for c in found
    )
    if not bytes_agree:
        return tuple(found)
    return tuple(_with_block_reason(c) if c.key == "kv_tokens" and c.reason else c for c in found)


def _with_block_reason(c: Comparison) -> Comparison:
    reason = (
        "The bytes agree, so a token costs something else than assumed: another KV cache type, "
        "block size or version, or layers grouped differently."
    )
    return Comparison(
        c.key, c.label, c.unit, c.rank, c.measured, c.predicted, c.gap, c.inside_band, reason
    )


def _row(key: str) -> Callable[[Ledger, RankLedger], Figure | None]:
    def find(_: Ledger, rank: RankLedger) -> Figure | None:
        return next((row.figure for row in rank.rows if row.key == key), None)

    return find


def _consumed(_: Ledger, rank: RankLedger) -> Figure | None:
    parts = [
        row.figure for row in rank.rows if row.key in ("weights", "draft", "lora", "non_torch")
    ]
    return total(parts, "weights + non-torch") if parts else None


def _tokens(ledger: Ledger, _: RankLedger) -> Figure | None:
    return None if isinstance(ledger.tokens, Unknown) else ledger.tokens


def _blocks(ledger: Ledger, _: RankLedger) -> Figure | None:
    if ledger.pool is None or ledger.pool_low is None or ledger.pool_high is None:
        return None
    ends = sorted((ledger.pool_low.num_blocks, ledger.pool.num_blocks, ledger.pool_high.num_blocks))
    return Figure(ends[1], ends[0], ends[2], Basis.CALIBRATED, "KV pool / bytes per block")


def _concurrency(ledger: Ledger, _: RankLedger) -> Figure | None:
    if ledger.pool is None or ledger.pool_low is None or ledger.pool_high is None:
        return None
    pools = (ledger.pool_low, ledger.pool, ledger.pool_high)
    ends = sorted(pool.max_concurrency for pool in pools)
    return Figure(
        ends[1], ends[0], ends[2], Basis.CALIBRATED, "blocks / blocks of one full request"
    )


_NEIGHBOUR: Final = (
    "Another process took memory on this GPU while the engine started, or the driver's libraries "
    "are larger here."
)
_LINES: Final = {
    "total_gib": _Line(
        "memory reported by the driver", "GiB", lambda _, rank: rank.total,
        "The card is a larger variant than the one assumed.",
        "Part of the card is not visible: a slice, ECC, or a smaller variant.",
    ),
    "budget_gib": _Line(
        "budget", "GiB", lambda _, rank: rank.budget,
        "The engine ran with a higher utilization, or on a card that reports more memory.",
        "The engine ran with a lower utilization, or on a card that reports less memory.",
    ),
    "weights_gib": _Line(
        "weights", "GiB", _row("weights"),
        "The kernels hold the weights in a larger layout (padding, repacking, a dequantised part), "
        "or the checkpoint carries more than the configuration says.",
        "The checkpoint is quantised further than the configuration says, or layers were left out.",
    ),
    "consumed_gib": _Line(
        "weights and non-torch memory", "GiB", _consumed, _NEIGHBOUR,
        "Less was loaded than the configuration says, or a neighbour let go of memory meanwhile.",
    ),
    "activation_gib": _Line(
        "activation peak", "GiB", _row("activation"),
        "The profile ran with more batched tokens or sequences than assumed, or the model has an "
        "encoder whose inputs stay in memory.",
        "The profile ran with fewer batched tokens or sequences than assumed.",
    ),
    "non_torch_gib": _Line(
        "non-torch memory", "GiB", _row("non_torch"), _NEIGHBOUR,
        "Fewer communicators or libraries were loaded before the profile than usual.",
    ),
    "cuda_graph_gib": _Line(
        "CUDA graphs", "GiB", _row("cuda_graph"),
        "More or larger graphs were captured than assumed.",
        "Fewer graphs were captured than assumed (eager mode, a smaller largest size).",
    ),
    "kv_cache_gib": _Line(
        "KV pool", "GiB", _row("kv_cache"),
        "The other rows took less than predicted, or the pool was set by hand.",
        "The other rows took more than predicted: see the rows above for which.",
    ),
    "num_blocks": _Line(
        "KV blocks", "blocks", _blocks,
        "The pool is larger than predicted, or the count was set by hand or summed over replicas.",
        "The pool is smaller than predicted, another rank is tighter, or the count was set by hand.",
    ),
    "kv_tokens": _Line(
        "KV cache size as printed", "tokens", _tokens,
        "The pool is larger than predicted, or a token costs less (KV cache type, groups, version).",
        "The pool is smaller than predicted, or a token costs more (KV cache type, groups, version).",
    ),
    "max_concurrency": _Line(
        "full-length concurrency as printed", "x", _concurrency,
        "The pool is larger than predicted, or the engine ran with a shorter max_model_len.",
        "The pool is smaller than predicted, or the engine ran with a longer max_model_len.",
    ),
}  # fmt: skip
