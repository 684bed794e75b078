"""One observation beside the ledger of the deployment it measured."""

import re
from dataclasses import dataclass
from functools import cached_property

from accuracy.deployments import deployment_for
from accuracy.observations import Observation
from vramledger.engine.vllm.activation import activation_peak
from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.kv.pool import size_pool
from vramledger.engine.vllm.overheads import CalibrationKey, calibration_key
from vramledger.engine.vllm.rules import ProfileRule
from vramledger.engine.vllm.versions import rules_for
from vramledger.errors import VramError
from vramledger.hardware.accelerator import Vendor
from vramledger.ledger.account import build
from vramledger.ledger.ledger import Ledger, RankLedger
from vramledger.units import GIB

LIKE_CUDA = frozenset({Vendor.NVIDIA, Vendor.AMD})
_AMPLE = 64 * GIB  # room enough to read the bytes of a token off a pool
_FREE = re.compile(r"free at init ([\d.]+) GiB")
_ESTIMATE = re.compile(r"estimated cudagraph ([\d.]+) GiB")


@dataclass(frozen=True)
class Measured:
    """An observation, its deployment and its ledger."""

    row: Observation
    deployment: Deployment
    ledger: Ledger

    @cached_property
    def key(self) -> CalibrationKey:
        return calibration_key(self.deployment, 0)

    @property
    def first(self) -> RankLedger:
        return self.ledger.ranks[0]

    @property
    def tightest(self) -> RankLedger:
        return min(self.ledger.ranks, key=lambda rank: rank.row("kv_cache").value)

    @property
    def group(self) -> str:
        """The version group that the targets are set for."""
        match = rules_for(self.row.version)
        minor = match.release[1]
        if 11 <= minor <= 20:
            return "0.11 to 0.20"
        return "0.8 to 0.10 and from 0.21" if minor >= 8 else "before 0.8"

    @property
    def weights(self) -> float:
        """GiB predicted for what the log calls loaded weights."""
        return sum(
            row.figure.value for row in self.first.rows if row.key in {"weights", "draft", "lora"}
        )

    @property
    def activation(self) -> float:
        return sum(
            row.figure.value for row in self.first.rows if row.key in {"activation", "encoder"}
        )

    @property
    def vendor(self) -> Vendor:
        return self.deployment.accelerator.vendor

    @property
    def multimodal(self) -> bool:
        return any(row.key == "encoder" for row in self.first.rows)

    def inside(self, key: str, rank: RankLedger | None = None) -> float:
        """The rows of that key inside the budget of a rank."""
        rows = (rank or self.first).rows
        return sum(row.figure.value for row in rows if row.key == key and row.in_budget)

    @cached_property
    def kv_gib(self) -> float | None:
        """GiB of cache that the log shows on its tightest rank."""
        pool = self.ledger.pool
        if self.row.kv_tokens is not None and pool is not None:
            ample = tuple(_AMPLE for _ in pool.available_bytes)
            sized = size_pool(self.deployment, pool.layout, ample)
            per_token = sized.num_blocks * max(pool.layout.bytes_per_block) / sized.tokens
            return self.row.kv_tokens * per_token / GIB
        return self.row.kv_gib

    @cached_property
    def non_torch(self) -> float | None:
        """GiB of non-torch memory: printed, or what the log's own sum leaves for it.

        With several ranks the sum is the tightest rank's, which the tokens follow.
        """
        rank = self.tightest
        estimate = self._deducted_gib(rank)
        sums = self.kv_gib is not None and estimate is not None and self._budget_stated
        one_rank = self.row.tp == 1 or not sums
        if self.row.non_torch_gib is not None and one_rank:
            return self.row.non_torch_gib - self._kept_gib
        if self.kv_gib is None or estimate is None or not sums:
            return None
        weights = self.row.weights_gib if self.row.weights_gib is not None else self.weights
        activation = self.row.activation_gib
        if activation is None and self.multimodal and self.deployment.rules.v1:
            return None  # an encoder's peak is not known as closely as the rest
        if activation is None:
            activation = self.inside("activation", rank) + self.inside("encoder", rank)
        taken = weights + activation + estimate
        return rank.budget.value - taken - self.kv_gib

    @property
    def _budget_stated(self) -> bool:
        """A log without the utilization says nothing about what the budget leaves, from 0.20 on."""
        return self.row.utilization is not None or not self.deployment.rules.graph_in_budget

    def _deducted_gib(self, rank: RankLedger) -> float | None:
        """What the engine deducted for graphs: as logged, zero, or not known."""
        if not self.inside("cuda_graph", rank):
            return 0.0
        return self.graph_estimate_gib

    @property
    def _kept_gib(self) -> float:
        """Work space that outlives the profile run, which versions from 0.27 print as consumed."""
        if self.deployment.rules.profile is not ProfileRule.V1_DEVICE_DELTA:
            return 0.0
        peak = activation_peak(self.deployment, 0)
        return (peak.kept_bytes - peak.encoder_kept_bytes) / GIB

    @property
    def free_gib(self) -> float | None:
        return _number(_FREE, self.row.notes)

    @property
    def graph_estimate_gib(self) -> float | None:
        return _number(_ESTIMATE, self.row.notes)

    def tokens_with(self, shift_gib: float) -> int | None:
        """Tokens the engine would print with that much more left on every rank."""
        pool = self.ledger.pool
        if pool is None:
            return None
        shifted = tuple(max(0, have + round(shift_gib * GIB)) for have in pool.available_bytes)
        return size_pool(self.deployment, pool.layout, shifted).tokens


@dataclass(frozen=True, slots=True)
class Refused:
    """An observation whose deployment cannot be built, with the sentence that says why."""

    row: Observation
    reason: str


def measure(row: Observation) -> Measured | Refused:
    """The ledger of that observation, or why there is none."""
    try:
        deployment = deployment_for(row)
        return Measured(row, deployment, build(deployment))
    except VramError as error:
        return Refused(row, str(error))


def _number(pattern: re.Pattern[str], text: str) -> float | None:
    match = pattern.search(text)
    return float(match[1]) if match else None
