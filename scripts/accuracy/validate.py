"""Cross-validation by model: each row is predicted with terms fitted without its model."""

from collections.abc import Sequence
from dataclasses import dataclass

from accuracy.measure import Measured
from accuracy.non_torch import non_torch_terms
from accuracy.statistic import Fitted, family
from vramledger.engine.vllm.overheads import (
    COMMUNICATORS_INSIDE,
    calibration_key,
    runner_buffers,
    switched_peers,
)
from vramledger.engine.vllm.rules import ProfileRule
from vramledger.evidence import Figure
from vramledger.units import GIB


@dataclass(frozen=True, slots=True)
class Held:
    """One stated row, predicted without its own model."""

    measured: Measured
    tokens: int | None  # as the engine would print them
    shift_gib: float  # what the other models' terms leave more than the shipped ones
    inside: bool | None  # the log lies in low..high of the shipped ledger

    @property
    def token_error(self) -> float | None:
        """Relative error of the predicted tokens."""
        logged = self.measured.row.kv_tokens
        if self.tokens is None or not logged:
            return None
        return self.tokens / logged - 1

    @property
    def kv_error(self) -> float | None:
        """Relative error of the cache in GiB, for logs that print no tokens."""
        if self.token_error is not None:
            return self.token_error
        kv = self.measured.row.kv_gib
        if not kv or kv <= 0:
            return None
        left = self.measured.inside("kv_cache", self.measured.tightest) + self.shift_gib
        return left / kv - 1

    @property
    def weight_error(self) -> float | None:
        logged = self.measured.row.weights_gib
        return None if logged is None else self.measured.weights / logged - 1


def held_out(rows: Sequence[Measured], evidence: Sequence[Measured] = ()) -> tuple[Held, ...]:
    """Every stated row of `rows` with the terms that the other models of both give."""
    seen = (*rows, *evidence)
    apart = {
        model: non_torch_terms([row for row in seen if family(row.row.model) != model])
        for model in {family(row.row.model) for row in rows}
    }
    return tuple(_held(row, apart[family(row.row.model)]) for row in rows if row.row.stated)


def _held(row: Measured, terms: Fitted) -> Held:
    rank = row.tightest
    key = calibration_key(row.deployment, rank.pp_stage)
    known, peers = terms["non_torch"], 0
    name = str(key)
    if key.layout == "tp" and key.family in COMMUNICATORS_INSIDE:
        name, peers = f"{key.family}/one", switched_peers(row.deployment)
    apart = known[name].value + peers * terms["communicators"]["per_peer"].value
    if name == "own-trial/tp":
        apart += (row.row.tp - 2) * terms["communicators"]["per_peer_trial"].value
    if row.deployment.rules.profile is ProfileRule.V1_DEVICE_DELTA:
        apart += runner_buffers(row.deployment) / GIB
    shift = row.inside("non_torch", rank) - apart
    return Held(row, row.tokens_with(shift), shift, _inside(row))


def _inside(row: Measured) -> bool | None:
    tokens = row.ledger.tokens
    if row.row.kv_tokens is not None and isinstance(tokens, Figure):
        return tokens.low <= row.row.kv_tokens <= tokens.high
    if row.row.kv_gib is None:
        return None
    figure = row.tightest.row("kv_cache")
    return figure.low - 0.005 <= row.row.kv_gib <= figure.high + 0.005
