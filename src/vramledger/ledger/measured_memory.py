"""Memory that a start measured, in place of the fitted rows where the same is started again.

What the ledger misses on one deployment says next to nothing of another one: on published start-up logs its errors
carried over made the rows of others worse, not better (docs/explanation/host-calibration.md). So measured rows count
where nothing differs that they depend on, and elsewhere the ledger's own stay.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from vramledger.engine.vllm.deployment import Deployment
from vramledger.errors import BadInput
from vramledger.evidence import Figure, difference, total
from vramledger.frozen import frozen
from vramledger.ledger.ledger import Account, Row
from vramledger.ledger.rank import RankAccount

ACTIVATION: Final = "activation"
NON_TORCH: Final = "non_torch"
GRAPHS: Final = "cuda_graph"
ROWS: Final = (ACTIVATION, NON_TORCH, GRAPHS)  # that are fitted, and that engines print
_ENCODER: Final = "encoder"  # which engines count as activation
_SETTINGS: Final = (
    "max_num_batched_tokens", "max_num_seqs", "enforce_eager", "cudagraph_capture_sizes", "dtype",
    "quantization", "kv_cache_dtype", "attention_backend", "cpu_offload_gib",
)  # fmt: skip
_LONG: Final = 60  # characters; lists beyond it are not spelled out
_PLAIN: Final = ("version", "cudagraph_mode", "executor", "neighbours_gib")


@frozen
class MeasuredMemory:
    """GiB a rank by row, the most of all ranks with the least and the most, and where they were measured."""

    source: str  # a file's name
    circumstances: Mapping[str, str]
    rows: Mapping[str, Figure]


def circumstances_of(deployment: Deployment) -> dict[str, str]:
    """Everything that the rows depend on, in words."""
    settings = {name: getattr(deployment, name).value for name in _SETTINGS}
    plain = {name: getattr(deployment, name) for name in _PLAIN}
    draft, lora = deployment.speculation, deployment.lora
    found: dict[str, Any] = {
        "gpu": deployment.accelerator.name,
        "model": deployment.model.id,
        "layout": _layout(deployment),
        "speculation": draft and f"{draft.method} {draft.tokens}",
        "lora": lora and f"{lora.max_loras} of rank {lora.max_rank}",
        "limit_mm_per_prompt": dict(sorted(deployment.limit_mm_per_prompt.items())),
        **settings,
        **plain,
    }
    if deployment.limit_mm_per_prompt:
        found["encoder_tokens"] = deployment.encoder_tokens
    return {name: "none" if value is None else str(value) for name, value in found.items()}


def _layout(deployment: Deployment) -> str:
    layout = deployment.layout
    experts = ", experts apart" if layout.expert_parallel else ""
    return f"TP {layout.tp} x PP {layout.pp} x DP {layout.dp}{experts}"


def differences(memory: MeasuredMemory, deployment: Deployment) -> tuple[str, ...]:
    """What differs from the start that was measured, each as "NAME is HERE, not THERE"."""
    here, there = circumstances_of(deployment), memory.circumstances
    return tuple(
        _difference(name, value, there.get(name, "told"))
        for name, value in here.items()
        if there.get(name) != value
    )


def _difference(name: str, here: str, there: str) -> str:
    if max(len(here), len(there)) > _LONG:
        return f"{name} differ"
    return f"{name} is {here}, not {there}"


def remark(memory: MeasuredMemory, deployment: Deployment) -> str:
    """One sentence: which rows are measured, or why none is."""
    found = differences(memory, deployment)
    if not found:
        rows = ", ".join(_NAMES[name] for name in memory.rows)
        return f"Measured by {memory.source}, for this very start: {rows}."
    return (
        f"{memory.source} measured another start ({'; '.join(found)}); its memory is not carried over, and the rows "
        "here are the ledger's own."
    )


def counts_where(memory: MeasuredMemory) -> str:
    """One sentence: the start whose memory was measured, and what that says of others."""
    there = memory.circumstances
    return (
        f"{memory.source} has the memory of {there.get('model', 'a model')} on {there.get('gpu', 'a card')} "
        f"({there.get('layout', 'layout unknown')}), measured: it counts for that very start; every other start has the "
        "ledger's own rows."
    )


def with_measured(
    account: RankAccount, deployment: Deployment, memory: MeasuredMemory | None
) -> RankAccount:
    """The account with measured rows where that very start was measured, and what then is left.

    Raises:
        BadInput: the rows measured leave the account without sense.
    """
    if memory is None or differences(memory, deployment):
        return account
    rows = _with_graphs(_with_inside(account.rows, memory), memory)
    if deployment.kv_cache_memory_bytes.value is not None:
        return replace(account, rows=rows)
    inside = total((row.figure for row in rows if row.in_budget), "rows inside the budget")
    if inside.value > account.total.high:
        raise BadInput(
            f"{memory.source} says that {inside.value:.2f} GiB were taken on a GPU of {account.total.value:.2f} GiB; "
            "calibrate on a log of this start."
        )
    left = difference(account.budget, inside, "budget less every row inside it")
    return replace(account, rows=rows, left=left)


def _with_inside(rows: tuple[Row, ...], memory: MeasuredMemory) -> tuple[Row, ...]:
    """Activation and non-torch memory; what an encoder takes is in the activation that engines print."""
    found = []
    for row in rows:
        measured = memory.rows.get(row.key) if row.key in (ACTIVATION, NON_TORCH) else None
        if row.key == _ENCODER and ACTIVATION in memory.rows:
            continue
        found.append(row if measured is None else replace(row, figure=measured, note=""))
    return tuple(found)


def _with_graphs(rows: tuple[Row, ...], memory: MeasuredMemory) -> tuple[Row, ...]:
    """What the engine deducts stays; what capture took beyond it is outside the budget."""
    taken = memory.rows.get(GRAPHS)
    if taken is None:
        return rows
    kept = [row for row in rows if row.key != GRAPHS or row.in_budget]
    deducted = sum(row.figure.value for row in kept if row.key == GRAPHS)
    beyond = replace(
        taken,
        value=max(0.0, taken.value - deducted),
        low=max(0.0, taken.low - deducted),
        high=max(0.0, taken.high - deducted),
    )
    label = "CUDA graphs beyond the estimate" if deducted else "CUDA graphs"
    return (*kept, Row(GRAPHS, label, Account.HIDDEN, beyond, in_budget=False))


_NAMES: Final = {
    ACTIVATION: "activation peak",
    NON_TORCH: "non-torch memory",
    GRAPHS: "CUDA graphs",
}
