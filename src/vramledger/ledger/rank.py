"""The account of one rank before the cache: budget, rows, and what is left."""

import math
from dataclasses import replace
from typing import Final

from vramledger.engine.vllm.activation import ActivationPeak, activation_peak
from vramledger.engine.vllm.coefficients import coefficient
from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.graph_memory import captures, graph_estimate, graph_memory
from vramledger.engine.vllm.overheads import (
    calibration_key,
    context,
    non_torch,
    runner_buffers,
    unprofiled,
)
from vramledger.engine.vllm.rules import ProfileRule
from vramledger.engine.vllm.sampling import sampling_work
from vramledger.engine.vllm.weights import RankWeights, rank_weights
from vramledger.evidence import Basis, Figure, difference, total
from vramledger.frozen import frozen
from vramledger.ledger.ledger import Account, Row
from vramledger.model.model import ModelKind
from vramledger.units import GIB, format_gib

_STEP: Final = 1024  # batched tokens of the slope in the note
_UNSEEN_SHARE: Final = 0.25  # of what data-parallel experts gather, which no log has shown
_TOWER_SPREAD: Final = 0.2  # an encoder with a gated MLP took 1.17 of what its widths say


@frozen
class RankAccount:
    """One rank before its cache is sized. `left` is what the engine finds for the KV pool, GiB."""

    stage: int
    tp_rank: int
    total: Figure
    budget: Figure
    rows: tuple[Row, ...]  # without the KV pool and the margin
    left: Figure
    governed_by: str  # the phase that sets the activation peak

    def figure(self, key: str) -> Figure:
        """The sum of the rows of that key; a derived zero where there is none."""
        return total((row.figure for row in self.rows if row.key == key), key)

    @property
    def before_start(self) -> Figure:
        """GiB in use on the GPU, outside the budget, before the engine takes its baseline."""
        return total((self.figure("context"), self.figure("neighbours")), "in use before the start")

    def figure_inside(self, key: str) -> float:
        """GiB expected for the rows of that key inside the budget."""
        return sum(row.figure.value for row in self.rows if row.key == key and row.in_budget)


def rank_account(deployment: Deployment, stage: int, tp_rank: int = 0) -> RankAccount:
    """Every row of that rank but the pool, and what remains of the budget."""
    budget = _budget(deployment)
    peak = activation_peak(deployment, stage, tp_rank)
    rows = (
        *_weight_rows(deployment, rank_weights(deployment, stage)),
        *_activation_rows(deployment, stage, tp_rank),
        Row(
            "non_torch", "non-torch memory", Account.HIDDEN, non_torch(deployment, stage), True,
            "NCCL, kernels and libraries that PyTorch does not count",
        ),
        *_neighbour_rows(deployment),
        *_graph_rows(deployment),
        *_later_sampler_rows(deployment, stage),
        *_outside_rows(deployment),
    )  # fmt: skip
    inside = total((row.figure for row in rows if row.in_budget), "rows inside the budget")
    left = difference(budget, inside, "budget less every row inside it")
    explicit = deployment.kv_cache_memory_bytes.value
    if explicit is not None:
        left = Figure.sharp(explicit / GIB, Basis.ASSUMED, "--kv-cache-memory-bytes, taken as is")
    return RankAccount(
        stage, tp_rank, deployment.accelerator.total, budget, rows, left, peak.governed_by
    )


def _budget(deployment: Deployment) -> Figure:
    reported, share = deployment.accelerator.total, deployment.gpu_memory_utilization.value
    rounded = math.ceil(reported.value * GIB * share) / GIB
    return Figure(
        rounded,
        min(rounded, reported.low * share),
        max(rounded, reported.high * share),
        reported.basis,
        f"reported memory x {share:g}",
    )


def _weight_rows(deployment: Deployment, weights: RankWeights) -> list[Row]:
    basis = deployment.model.weights_basis
    fitted = Basis.DERIVED if basis is Basis.ASSUMED else basis
    spread = coefficient("weights", str(fitted))
    size = weights.model / GIB
    figure = Figure(
        size,
        size * (1 + spread.low),
        size * (1 + spread.high),
        basis,
        "tensors of this rank in the layout the engine keeps them in",
    )
    rows = [Row("weights", "weights", Account.FIXED, figure, True, _heaviest(weights))]
    if weights.draft:
        draft = Figure.sharp(weights.draft / GIB, Basis.DERIVED, "the draft model's tensors")
        rows.append(Row("draft", "draft model", Account.FIXED, draft, True))
    if weights.lora:
        lora = Figure.sharp(weights.lora / GIB, Basis.DERIVED, "slots of max_lora_rank")
        rows.append(Row("lora", "LoRA slots", Account.FIXED, lora, True))
    return rows


def _heaviest(weights: RankWeights) -> str:
    """The three heaviest roles in words, and what the layout pads."""
    ordered = sorted(weights.by_role.items(), key=lambda item: -item[1])[:3]
    roles = ", ".join(f"{role} {format_gib(size / GIB)}" for role, size in ordered if size)
    return "; ".join((roles, *weights.notes))


def _activation_rows(deployment: Deployment, stage: int, tp_rank: int) -> list[Row]:
    """The peak, with the encoder's share as a row of its own where there is an encoder."""
    peak = activation_peak(deployment, stage, tp_rank)
    kind = "multimodal" if peak.encoder_bytes else "text"
    spread = coefficient("activation", f"{calibration_key(deployment, stage).family}/{kind}")
    encoder = _encoder_share(peak.bytes, peak.encoder_bytes, peak.text_bytes)
    decoder = (peak.bytes - encoder) / GIB
    source = f"tensors alive in the {peak.governed_by}, {spread.observations} observations"
    unseen = _UNSEEN_SHARE * peak.gathered_bytes / GIB
    notes = [_governor(deployment, peak), _slope(deployment, stage, tp_rank, peak)]
    if unseen:
        notes.append(
            f"tokens of {deployment.layout.dp} data-parallel ranks meet at the experts and take "
            f"{format_gib(peak.gathered_bytes / GIB)}, by formula: no start-up log has shown it"
        )
    rows = [
        Row(
            "activation", "activation peak", Account.HIDDEN,
            Figure(
                decoder, max(0.0, decoder + spread.low - unseen), decoder + spread.high + unseen,
                Basis.DERIVED if unseen else Basis.CALIBRATED, source,
            ),
            True, "; ".join(notes),
        )
    ]  # fmt: skip
    if encoder:
        size = encoder / GIB
        figure = Figure(
            size, (1 - _TOWER_SPREAD) * size, (1 + _TOWER_SPREAD) * size, Basis.DERIVED,
            "encoder inputs, outputs and work space; its layers' widths are taken as alike",
        )  # fmt: skip
        rows.append(Row("encoder", "multimodal encoder", Account.HIDDEN, figure, True))
    return rows


def _governor(deployment: Deployment, peak: ActivationPeak) -> str:
    """Which phase sets the peak; the sampler's logits by rows, which no rank shares."""
    if peak.governed_by != "sampler":
        return f"set by the {peak.governed_by}"
    work = sampling_work(deployment)
    copies = work.copies_bytes if deployment.rules.sampler_profiled else 0
    size = format_gib((work.logits_bytes + copies) / GIB)
    whole = ", whole on every rank" if deployment.layout.tp > 1 and deployment.rules.v1 else ""
    return (
        f"set by the sampler: {work.rows} rows of {deployment.model.text.vocab} logits and their "
        f"copies take {size}{whole}"
    )


def _slope(deployment: Deployment, stage: int, tp_rank: int, peak: ActivationPeak) -> str:
    """What a thousand more batched tokens would take, in words."""
    more = deployment.max_num_batched_tokens.value + _STEP
    batched = replace(deployment.max_num_batched_tokens, value=more)
    wider = activation_peak(replace(deployment, max_num_batched_tokens=batched), stage, tp_rank)
    return f"{_STEP} more batched tokens take {format_gib((wider.bytes - peak.bytes) / GIB)}"


def _encoder_share(peak: int, encoder: int, text: int) -> int:
    return max(0, peak - text) if encoder else 0


def _neighbour_rows(deployment: Deployment) -> list[Row]:
    """What other processes hold: charged to this engine by versions that count the whole GPU."""
    if not deployment.neighbours_gib:
        return []
    held = Figure.sharp(deployment.neighbours_gib, Basis.ASSUMED, "stated for other processes")
    charged = deployment.rules.profile is ProfileRule.V1_ALL_NON_TORCH
    key = "non_torch" if charged else "neighbours"
    note = "this version counts every byte in use on the GPU as its own" if charged else ""
    return [Row(key, "other processes on the GPU", Account.HIDDEN, held, charged, note)]


def _graph_rows(deployment: Deployment) -> list[Row]:
    """Inside the budget what the engine deducts; outside it what capture takes beyond that."""
    deducted = graph_estimate(deployment)
    rows = (
        [Row("cuda_graph", "CUDA graphs, as estimated", Account.HIDDEN, deducted, True)]
        if deducted.value
        else []
    )
    if captures(deployment):
        taken = graph_memory(deployment)
        beyond = max(0.0, taken.value - deducted.value)
        figure = Figure(
            beyond, max(0.0, min(beyond, taken.low - deducted.value)),
            max(beyond, taken.high - deducted.value), taken.basis, taken.source,
        )  # fmt: skip
        rows.append(
            Row("cuda_graph", "CUDA graphs beyond the estimate" if deducted.value else "CUDA graphs",
                Account.HIDDEN, figure, False)
        )  # fmt: skip
    return rows


def _later_sampler_rows(deployment: Deployment, stage: int) -> list[Row]:
    """The sampler's copies where the profile run does not sample: the first full batch takes them."""
    last = stage == deployment.layout.pp - 1
    if deployment.rules.sampler_profiled or not last or deployment.model.kind is ModelKind.ENCODER:
        return []
    work = sampling_work(deployment)
    size = work.copies_bytes / GIB
    figure = Figure(
        size, 0.0, size, Basis.DERIVED, "logits and their copies of the sampler, up to max_num_seqs"
    )
    note = f"not profiled by this version; a batch of {work.rows} rows takes it while serving"
    return [Row("sampler_later", "sampler of full batches", Account.HIDDEN, figure, False, note)]


def _outside_rows(deployment: Deployment) -> list[Row]:
    rows = [
        Row("context", "CUDA context and communicators", Account.HIDDEN, context(deployment), False),
        Row("unprofiled", "fragmentation and first requests", Account.HIDDEN,
            unprofiled(deployment), False),
    ]  # fmt: skip
    if deployment.rules.profile not in {
        ProfileRule.V1_DEVICE_DELTA, ProfileRule.V1_ALL_NON_TORCH,
    }:  # fmt: skip
        buffers = Figure.sharp(
            runner_buffers(deployment) / GIB, Basis.DERIVED, "block tables and batch buffers"
        )
        rows.append(Row("runner_buffers", "batch buffers", Account.HIDDEN, buffers, False))
    return rows
