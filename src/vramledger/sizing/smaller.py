"""Why the next smaller choice on a card fails, and which single change would mend it."""

from typing import Final

from vramledger.engine.launch import Flag
from vramledger.errors import BadInput
from vramledger.sizing.candidate import Candidate, Precision, Smaller
from vramledger.sizing.evaluate import HOPELESS, Choice, Evaluator, with_extra

_REMEDIES: Final = (
    ("FP8 KV cache", Flag("kv-cache-dtype", "fp8", "--kv-cache-dtype")),
    ("FP8 weights", Flag("quantization", "fp8", "--quantization")),
    ("a batch of 2048 tokens", Flag("max-num-batched-tokens", "2048", "--max-num-batched-tokens")),
    ("128 sequences at most", Flag("max-num-seqs", "128", "--max-num-seqs")),
    ("no CUDA graphs", Flag("enforce-eager", None, "--enforce-eager")),
    ("utilization 0.95", Flag("gpu-memory-utilization", "0.95", "--gpu-memory-utilization")),
)


def next_smaller(evaluator: Evaluator, ranked: tuple[Candidate, ...]) -> Smaller | None:
    """The largest layout below the best that fails, or one replica less; None on one GPU.

    Where nothing fits, the layout that came closest.
    """
    best = next((c for c in ranked if c.fits), None)
    failed = _largest_failing(ranked, best, evaluator.question.precisions[0])
    if failed is not None:
        return Smaller(
            what=described(failed),
            layout=failed.layout,
            replicas=1,
            reason=failed.reason,
            remedies=_remedies(evaluator, failed),
        )
    return None if best is None else _one_replica_less(evaluator, best)


def described(candidate: Candidate) -> str:
    """``TP 2 x PP 2``."""
    layout = candidate.layout
    stages = f" x PP {layout.pp}" if layout.pp > 1 else ""
    return f"TP {layout.tp}{stages}" + (
        " with expert parallelism" if layout.expert_parallel else ""
    )


def _largest_failing(
    ranked: tuple[Candidate, ...], best: Candidate | None, first: Precision
) -> Candidate | None:
    precision = first if best is None else best.precision
    below = [
        c
        for c in ranked
        if not c.fits
        and c.link is not None
        and c.precision == precision
        and (best is None or c.layout.world < best.layout.world)
    ]
    return max(below, key=lambda c: (c.layout.world, c.layout.tp), default=None)


def _one_replica_less(evaluator: Evaluator, best: Candidate) -> Smaller | None:
    tightest, fewer = best.tightest, best.replicas - 1
    if tightest is None or fewer == 0:
        return None
    share = evaluator.question.share
    needed = max(p.concurrent.value for p in evaluator.peaks if p.name == tightest.peak)
    plural = "replica holds" if fewer == 1 else "replicas hold"
    return Smaller(
        what=f"{fewer} {'replica' if fewer == 1 else 'replicas'} of {described(best)}",
        layout=best.layout,
        replicas=fewer,
        reason=f"{fewer} {plural} {fewer * tightest.held[share]:,} of the {needed:,.0f} requests in "
        f"flight of {tightest.peak}.",
        remedies=_remedies(evaluator, best, fewer),
    )


def _remedies(evaluator: Evaluator, candidate: Candidate, replicas: int = 0) -> tuple[str, ...]:
    """Single changes with which the choice fits, in at most so many replicas where that counts."""
    if candidate.rule in HOPELESS:
        return ()
    choice = Choice(candidate.accelerator, candidate.precision, candidate.layout)
    found = []
    for name, flag in _REMEDIES:
        try:
            changed = evaluator.evaluate(with_extra(choice, flag))
        except BadInput:  # this version does not know the change
            continue
        if changed.fits and (replicas == 0 or changed.replicas <= replicas):
            found.append(name)
    return tuple(found)
