"""Does the deployment start? The engine's own checks and the card's limit, phase by phase.

Every check is made at the pessimistic end. The first phase that fails is named in the reason.
"""

import math
from collections.abc import Callable, Iterable
from typing import Final

from vramledger.engine.finding import Severity
from vramledger.engine.kv import KvPool
from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.graph_memory import captures
from vramledger.engine.vllm.lint import lint
from vramledger.engine.vllm.rules import FitCheck
from vramledger.frozen import frozen
from vramledger.ledger.rank import RankAccount
from vramledger.ledger.rank_words import (
    activation_knob,
    biggest,
    fixed,
    held_by_others,
    in_use,
    place_of,
)
from vramledger.model.cache import RecurrentState
from vramledger.units import GIB, format_gib

SERVING: Final = "serving a full-length request"  # the phase after the start

_PASSED_BY: Final = {
    FitCheck.SUM_OF_LAYERS: "sums what each layer asks for, and layers that share blocks take more",
    FitCheck.FIRST_GROUP: "counts the blocks of the first group of layers only",
}


@frozen
class Startup:
    """What the checks look at: every distinct rank, and the pool at its pessimistic end."""

    deployment: Deployment
    ranks: tuple[RankAccount, ...]
    pool: KvPool | None
    longest: int | None  # longest request the pool holds, None where it was not asked
    request_tokens: int | None = None  # length of the stated requests, None where none is

    def tokens_in(self, gib: float) -> int | None:
        """What so many GiB on every rank are worth in tokens as printed; None without a pool."""
        pool = self.pool
        if pool is None or pool.num_blocks == 0:
            return None
        size = pool.num_blocks * max(pool.layout.bytes_per_block)
        return round(pool.tokens * gib * GIB / size) if size else None


@frozen
class Verdict:
    """Whether it starts and serves one full-length request, and the sentence that says so."""

    fits: bool
    phase: str  # "" when it fits
    reason: str

    @property
    def only_starts(self) -> bool:
        """Whether every check of the engine passes and a full-length request is still not held."""
        return self.phase == SERVING


def verdict(startup: Startup) -> Verdict:
    """The first phase that fails, or the sentence that says what is left."""
    for phase, check in _PHASES:
        reason = check(startup)
        if reason is not None:
            return Verdict(False, phase, reason)
    return Verdict(True, "", _holds(startup))


def _holds(startup: Startup) -> str:
    pool = startup.pool
    tightest = min(startup.ranks, key=lambda rank: rank.left.low)
    if pool is None:
        return f"It starts: {format_gib(tightest.left.low)} of the budget stay free on a rank."
    return (
        f"It starts and holds {pool.max_concurrency:.2f} requests of {pool.max_model_len} tokens "
        f"in {format_gib(tightest.left.low)} of KV cache on the tightest rank, at the pessimistic "
        "end."
    )


def _configuration(startup: Startup) -> str | None:
    """Arguments that the engine refuses before it looks at any memory."""
    errors = (f for f in lint(startup.deployment) if f.severity is Severity.ERROR)
    return next((f"{finding.message} ({finding.id})" for finding in errors), None)


def _loading(startup: Startup) -> str | None:
    for rank in startup.ranks:
        need = fixed(rank) + rank.before_start.value
        if need > rank.total.low:
            return (
                f"Loading the weights fails: they need {format_gib(fixed(rank))} on rank "
                f"{place_of(rank)}, and the card has {format_gib(rank.total.value)}{held_by_others(rank)}; "
                "split over more GPUs or take a smaller precision."
            )
    return None


def _free_memory(startup: Startup) -> str | None:
    if not startup.deployment.rules.startup_memory_check:
        return None
    for rank in startup.ranks:
        free = max(0.0, rank.total.value - rank.before_start.value)
        if free < rank.budget.value:
            share = startup.deployment.gpu_memory_utilization.value
            taken = (
                "the driver and other processes have taken theirs"
                if held_by_others(rank)
                else "the driver has taken its part"
            )
            return (
                f"The start-up check fails: utilization {share:g} asks for "
                f"{format_gib(rank.budget.value)}, and only {format_gib(free)} are free once "
                f"{taken}; use at most {largest_share(rank):.2f}."
            )
    return None


def largest_share(rank: RankAccount) -> float:
    """The largest utilization, in whole hundredths, that is free at the start for certain."""
    free = rank.total.low - rank.before_start.high
    return max(0.0, math.floor(100 * free / rank.total.high) / 100)


def _profiling(startup: Startup) -> str | None:
    for rank in startup.ranks:
        peak = fixed(rank) + sum(
            rank.figure(key).value
            for key in ("activation", "encoder", "non_torch", "context", "neighbours")
        )
        if peak > rank.total.value:
            activation = rank.figure("activation").value + rank.figure("encoder").value
            return (
                f"The profile run fails: weights and the activation peak need {format_gib(peak)} "
                f"on rank {place_of(rank)}, {format_gib(activation)} of it in the "
                f"{rank.governed_by}, and the card has {format_gib(rank.total.value)}{held_by_others(rank)}; "
                f"lower {activation_knob(rank)}."
            )
    return None


def _no_cache(startup: Startup) -> str | None:
    if startup.pool is None:
        return None
    for rank in startup.ranks:
        if rank.left.low <= 0:
            return (
                f"No memory is left for the KV cache: {format_gib(rank.left.value)} at the "
                f"expected and {format_gib(rank.left.low)} at the pessimistic end on rank "
                f"{place_of(rank)} after {biggest(rank)}; raise the utilization, lower "
                f"{activation_knob(rank)} or split over more GPUs."
            )
    return None


def _allocation(startup: Startup) -> str | None:
    """Bytes given by hand are checked by nobody until they are asked of the card."""
    overridden = _overridden_bytes(startup)
    if overridden:
        return overridden
    if startup.deployment.kv_cache_memory_bytes.value is None:
        return None
    for rank in startup.ranks:
        held = fixed(rank) + rank.figure("non_torch").value + rank.before_start.value
        if held + rank.left.value > rank.total.value:
            return (
                f"Allocating the KV cache fails: {format_gib(rank.left.value)} are asked for on "
                f"rank {place_of(rank)}, and beside weights and context "
                f"{format_gib(rank.total.value - held)} are there; lower --kv-cache-memory-bytes."
            )
    return None


def _overridden_bytes(startup: Startup) -> str | None:
    """Blocks given by hand are allocated whether or not they fit."""
    blocks, pool = startup.deployment.num_gpu_blocks_override.value, startup.pool
    if blocks is None or pool is None:
        return None
    for rank in startup.ranks:
        held = fixed(rank) + rank.figure("non_torch").value + rank.before_start.value
        asked = blocks * pool.layout.bytes_per_block[rank.stage] / GIB
        if held + asked > rank.total.value:
            return (
                f"Allocating the KV cache fails: {blocks} blocks take {format_gib(asked)} on rank "
                f"{place_of(rank)}, and beside weights and context "
                f"{format_gib(rank.total.value - held)} are there; lower --num-gpu-blocks-override."
            )
    return None


def _one_request(startup: Startup) -> str | None:
    pool = startup.pool
    if pool is None or pool.fits_one:
        return None
    longest = f"; the longest that fits is {startup.longest} tokens" if startup.longest else ""
    blocks = startup.deployment.num_gpu_blocks_override.value
    if blocks is not None and startup.deployment.rules.override_in_fit_check:
        return _short_of_blocks(pool, blocks, longest)
    return (
        f"One request of max_model_len {pool.max_model_len} does not fit: it needs "
        f"{format_gib(pool.needed_bytes / (1 << 30))} of KV cache and "
        f"{format_gib(min(pool.available_bytes, default=0) / (1 << 30))} are there at the "
        f"pessimistic end{longest}."
    )


def _short_of_blocks(pool: KvPool, blocks: int, longest: str) -> str:
    """The pool that was asked for by hand is too small, whatever memory is there."""
    asked = blocks * min(pool.layout.bytes_per_block, default=0)
    said = "1 block" if blocks == 1 else f"{blocks} blocks"
    return (
        f"One request of max_model_len {pool.max_model_len} does not fit: it needs "
        f"{format_gib(pool.needed_bytes / GIB)} of KV cache, and --num-gpu-blocks-override {blocks} makes a pool "
        f"of {said} with {format_gib(asked / GIB)}{longest}; raise the override or leave it out."
    )


def _full_length(startup: Startup) -> str | None:
    """Checks of some versions let a launch through whose pool holds no request of full length."""
    pool, rules = startup.pool, startup.deployment.rules
    if pool is None or pool.held_of_one >= 1.0:
        return None
    replaced = startup.deployment.num_gpu_blocks_override.value is not None
    passed = _PASSED_BY.get(rules.fit_check)
    why = (
        "looks at the measured memory, not at --num-gpu-blocks-override"
        if replaced and not rules.override_in_fit_check
        else passed or "does not count every block"
    )
    remedy = f"use --max-model-len {startup.longest} or less" if startup.longest else "add memory"
    return (
        f"It starts, but never serves a request of max_model_len {pool.max_model_len}: the "
        f"start-up check of vLLM {rules.family} {why}, and the pool holds "
        f"{math.floor(100 * pool.held_of_one) / 100:.2f} of such a request at the pessimistic end. "
        f"A request that outgrows the pool is preempted again and again and never ends; {remedy}."
    )


def _state_blocks(startup: Startup) -> str | None:
    deployment, pool = startup.deployment, startup.pool
    if pool is None or not deployment.rules.graph_in_budget or not captures(deployment):
        return None
    recurrent = any(isinstance(c.spec, RecurrentState) for c in deployment.model.cache_layers)
    rows = deployment.max_num_seqs.value
    if not recurrent or pool.num_blocks >= rows:
        return None
    return (
        f"Graph capture refuses: max_num_seqs {rows} exceeds the {pool.num_blocks} state blocks "
        f"of the pool; use --max-num-seqs {pool.num_blocks} or less."
    )


def _capture(startup: Startup) -> str | None:
    for rank in startup.ranks:
        outside = sum(
            row.figure.value
            for row in rank.rows
            if not row.in_budget and row.key not in ("unprofiled", "sampler_later")
        )
        used = in_use(rank) + outside
        if used > rank.total.value:
            return (
                f"Capturing CUDA graphs fails: {format_gib(in_use(rank))} are in use inside the "
                f"budget on rank {place_of(rank)} and {format_gib(used - in_use(rank))} are needed "
                f"outside it, but the card has {format_gib(rank.total.value)}; lower the "
                "utilization or the KV bytes."
            )
    return None


_Check = Callable[[Startup], str | None]
_PHASES: Final[tuple[tuple[str, _Check], ...]] = (
    ("configuration", _configuration),
    ("start-up check", _free_memory),
    ("loading", _loading),
    ("profiling", _profiling),
    ("KV cache", _no_cache),
    ("full-length request", _one_request),
    ("cache allocation", _allocation),
    ("state blocks", _state_blocks),
    ("graph capture", _capture),
    (SERVING, _full_length),
)


def phases() -> Iterable[str]:
    """The phases in the order the engine goes through them."""
    return (phase for phase, _ in _PHASES)
