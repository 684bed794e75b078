"""A limit of sequences no higher than the load needs: memory that costs no answer its quality."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import ceil
from typing import Final

from vramledger.engine.launch import Flag
from vramledger.errors import BadInput
from vramledger.sizing.candidate import Candidate
from vramledger.sizing.evaluate import HOPELESS, Choice, Evaluator, with_extra
from vramledger.units import round_up

_NAME: Final = "max-num-seqs"
_STEP: Final = 8


def with_fewer_sequences(
    evaluator: Evaluator, candidates: Sequence[Candidate]
) -> Iterator[Candidate]:
    """Choices that fail, and hold the load on fewer GPUs than any other once the limit is lowered."""
    if any(flag.name == _NAME for flag in evaluator.question.extra_flags):
        return
    fewest = min((c.gpus for c in candidates if c.fits), default=None)
    needed = round_up(ceil(max(p.concurrent.high for p in evaluator.peaks)), _STEP)
    for failed in candidates:
        smaller = fewest is None or failed.layout.world < fewest
        if failed.fits or not smaller or failed.rule in HOPELESS or failed.link is None:
            continue
        choice = Choice(failed.accelerator, failed.precision, failed.layout)
        if needed >= evaluator.sequences(choice):
            continue
        found = _lowered(evaluator, choice, needed)
        if found is not None and (fewest is None or found.gpus < fewest):
            yield found


def _lowered(evaluator: Evaluator, choice: Choice, needed: int) -> Candidate | None:
    flag = Flag(_NAME, str(needed), f"--{_NAME}")
    try:
        found = evaluator.evaluate(with_extra(choice, flag))
    except BadInput:  # this version does not take the change
        return None
    said = (
        f"--{_NAME} is lowered to the {needed:,} that the load needs at most; with the engine's own "
        "limit this does not fit."
    )
    return replace(found, notes=(*found.notes, said)) if found.fits else None
