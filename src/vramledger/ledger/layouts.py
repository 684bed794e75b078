"""Every way to spread a launch over a number of GPUs: an account each, or the rule that forbids it."""

from collections.abc import Iterator
from typing import Final

from vramledger.engine.vllm.layouts import refusals
from vramledger.errors import BadInput, VramError
from vramledger.frozen import frozen
from vramledger.ledger.account import Assessment, assess
from vramledger.ledger.case import Case

MOST_GPUS: Final = 256


@frozen
class Spread:
    """One layout. Figures are those of the tightest rank at the pessimistic end, GiB."""

    tp: int
    pp: int
    dp: int
    idle_gpus: int
    legal: bool
    fits: bool
    reason: str
    weights_gib: float | None = None  # of the heaviest stage
    kv_gib: float | None = None
    tokens: int | None = None  # as the engine prints, per replica; expected
    held: int | None = None  # requests of the stated length, over all replicas

    @property
    def name(self) -> str:
        parts = (("TP", self.tp), ("PP", self.pp), ("DP", self.dp))
        return " x ".join(f"{what} {n}" for what, n in parts if n > 1 or what == "TP")


def layouts(case: Case, gpus: int) -> tuple[Spread, ...]:
    """Every TP x PP x DP of exactly `gpus` GPUs, and tensor parallelism alone over fewer.

    Those that fit come first, most requests first; refused ones last.

    Raises:
        BadInput: not a number of GPUs from 1 to `MOST_GPUS`.
    """
    if not 1 <= gpus <= MOST_GPUS:
        raise BadInput(f"--layouts is {gpus}; ask for 1 to {MOST_GPUS} GPUs.")
    found = [_spread(case, *shape, gpus) for shape in _shapes(gpus)]
    fewer = (_spread(case, tp, 1, 1, gpus) for tp in range(gpus - 1, 0, -1))
    best = next((spread for spread in fewer if spread.legal), None)
    if best is not None and gpus > 1:
        found.append(best)
    return tuple(sorted(found, key=_rank))


def _shapes(gpus: int) -> Iterator[tuple[int, int, int]]:
    for tp in _divisors(gpus):
        for pp in _divisors(gpus // tp):
            yield tp, pp, gpus // tp // pp


def _divisors(number: int) -> list[int]:
    return [n for n in range(number, 0, -1) if number % n == 0]


def _rank(spread: Spread) -> tuple[bool, bool, int, int]:
    return (not spread.fits, not spread.legal, -(spread.held or 0), -spread.tp)


def _spread(case: Case, tp: int, pp: int, dp: int, gpus: int) -> Spread:
    idle = gpus - tp * pp * dp
    changed = case
    for name, size in (
        ("tensor-parallel-size", tp), ("pipeline-parallel-size", pp), ("data-parallel-size", dp),
    ):  # fmt: skip
        changed = changed.without_flag(name)
        if size > 1:
            changed = changed.with_flag(name, str(size))
    try:
        deployment = changed.deployment()
        refused = refusals(
            deployment.model, deployment.layout, deployment.rules, deployment.accelerator
        )
        if refused:
            return Spread(tp, pp, dp, idle, False, False, refused[0].message)
        found = assess(deployment, request_tokens=case.request_tokens, memory=case.memory)
    except VramError as error:
        return Spread(tp, pp, dp, idle, False, False, str(error))
    if found.verdict.phase == "configuration":
        return Spread(tp, pp, dp, idle, False, False, found.reason)
    return _assessed(found, case.request_tokens, idle)


def _assessed(found: Assessment, request_tokens: int | None, idle: int) -> Spread:
    layout, low = found.deployment.layout, found.pools.low
    length = request_tokens or (low.max_model_len if low else 0)
    expected = found.pools.expected
    return Spread(
        layout.tp, layout.pp, layout.dp, idle, True, found.fits, found.reason,
        weights_gib=max(stage.figure("weights").value for stage in found.stages),
        kv_gib=min(stage.left.low for stage in found.stages),
        tokens=expected.tokens if expected else None,
        held=low.capacity(length) * layout.dp if low and found.fits else 0,
    )  # fmt: skip
