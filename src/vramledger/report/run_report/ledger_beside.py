"""The memory ledger of a run's deployment beside what the run measured of it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from vramledger.calibrate.run_deployment import Stated, case_of
from vramledger.errors import VramError
from vramledger.evidence import Figure, Unknown, total
from vramledger.ledger.ledger import Ledger, RankLedger
from vramledger.report.run_report.model import Beside, LedgerBeside
from vramledger.units import gib

if TYPE_CHECKING:
    from vramledger.record.run import Run
    from vramledger.trial.conduct.summary import Summary

_BLOCKS: Final = "num_gpu_blocks"


def ledger_beside(run: "Run", summary: "Summary | None", stated: Stated) -> LedgerBeside:
    """What was predicted of memory, and measured; a reason where the ledger cannot be made."""
    try:
        ledger = case_of(run.description, stated).ledger()
    except VramError as error:
        return LedgerBeside(why=f"There is no ledger beside this run: {error}")
    if not ledger.ranks:
        return LedgerBeside(why=f"There is no ledger beside this run: {ledger.reason}")
    deployment = ledger.deployment
    of = f"{deployment.model.id} on {deployment.layout.gpus} x {deployment.accelerator.name}, vLLM {deployment.version}"
    return LedgerBeside(tuple(_rows(run, summary, ledger)), of)


def _rows(run: "Run", summary: "Summary | None", ledger: Ledger) -> Iterator[Beside]:
    rank = min(ledger.ranks, key=_pool_gib)
    for row in rank.rows:
        yield _beside(row.label, "GiB a GPU", row.figure)
    in_use = total((rank.budget, rank.outside), "budget and what lies outside it")
    yield _beside("all that the engine uses", "GiB a GPU", in_use, *_most_used(summary))
    tokens = ledger.tokens
    if not isinstance(tokens, Unknown):
        yield _beside(
            "KV cache size as printed", "tokens", tokens, *_kv_tokens(run, summary, ledger)
        )


def _pool_gib(rank: RankLedger) -> float:
    return next((row.figure.value for row in rank.rows if row.key == "kv_cache"), 0.0)


def _beside(
    name: str, unit: str, found: Figure, measured: float | None = None, said: str = ""
) -> Beside:
    return Beside(name, unit, found.low, found.value, found.high, str(found.basis), measured, said)


def _most_used(summary: "Summary | None") -> tuple[float | None, str]:
    """Of the fullest GPU at its fullest moment."""
    most = None if summary is None else summary.server.gpu_bytes.max
    return (
        (None, "GPU memory was not sampled")
        if most is None
        else (gib(most), "the fullest moment of the fullest GPU")
    )


def _kv_tokens(run: "Run", summary: "Summary | None", ledger: Ledger) -> tuple[float | None, str]:
    told = None if summary is None else summary.trial.get("kv_tokens")
    if isinstance(told, int):
        return float(told) / max(ledger.deployment.layout.dp, 1), "as the server states it"
    blocks = (run.description.model_extra or {}).get(_BLOCKS)
    if isinstance(blocks, int) and ledger.pool is not None and len(ledger.pool.layout.groups) == 1:
        return float(
            blocks * ledger.pool.layout.block_size
        ), "blocks that the run was simulated with"
    return None, "the server does not state it"
