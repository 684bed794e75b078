"""All of a comparison of two sides."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from vramledger.compare.attribution import Answer, Attribution, attribution
from vramledger.compare.effect import paired_effect, unpaired_effect
from vramledger.compare.figures import Figure, figures_of
from vramledger.compare.finding import Finding, Measured, Standing, findings
from vramledger.compare.matching import Pairs, pairs_of
from vramledger.compare.side import Side
from vramledger.errors import ExitCode
from vramledger.frozen import frozen

if TYPE_CHECKING:
    import numpy as np

    Booleans = np.ndarray[Any, np.dtype[np.bool_]]

_FEWEST_PAIRS: Final = 8
_UNTOLD: Final = (
    ("server", "metrics of the server"),
    ("gpu", "samples of the GPUs"),
)


@frozen
class PairCounts:
    """Requests by what became of them on either side."""

    both_ok: int
    a_alone_ok: int
    b_alone_ok: int
    neither_ok: int
    sent_to_a_alone: int
    sent_to_b_alone: int
    same_length: int


@frozen
class Comparison:
    """Two sides, A being the base. `counts` is None where their requests are not the same; `remarks` are sentences."""

    a: Side
    b: Side
    attribution: Attribution
    practical: float
    counts: PairCounts | None
    findings: tuple[Finding, ...]
    remarks: tuple[str, ...]

    @property
    def told(self) -> tuple[Finding, ...]:
        """What differs by as much as matters."""
        return tuple(each for each in self.findings if each.standing is Standing.DIFFERS)

    @property
    def exit_code(self) -> ExitCode:
        """Holds where the question is answered: one change, or none and no effect either."""
        answer = self.attribution.answer
        judged = any(each.standing is not Standing.OPEN for each in self.findings)
        unexplained = answer is Answer.NOTHING and bool(self.told)
        if answer is Answer.REFUSED or not judged or unexplained:
            return ExitCode.CANNOT_KNOW
        return ExitCode.HOLDS


def compared(a: Side, b: Side, practical: float) -> Comparison:
    """B held against A; `practical` is the size from which an effect matters, a share (0..1)."""
    pairs = _pairs(a, b)
    said = attribution(a, b, pairs)
    closed = all(side.told.settings.get("closed") is not None for side in (a, b))
    figures = figures_of(a.runs[0].records, b.runs[0].records, closed=closed)
    counts = _counts(pairs) if pairs else None
    measured = [_measured(figure, a, b, pairs, counts) for figure in figures]
    found = findings(measured, practical)
    return Comparison(a, b, said, practical, counts, found, tuple(_remarks(a, b, said, counts, found)))  # fmt: skip


def _measured(
    figure: Figure, a: Side, b: Side, pairs: Sequence[Pairs], counts: PairCounts | None
) -> Measured:
    lengths_differ = counts is not None and counts.same_length < counts.both_ok
    at_length = None
    if lengths_differ and not figure.is_share:
        at_length = paired_effect(figure, pairs, [each.same_length for each in pairs])
    return Measured(
        figure,
        paired_effect(figure, pairs) if pairs else None,
        unpaired_effect(figure, a, b),
        at_length,
    )


def _pairs(a: Side, b: Side) -> tuple[Pairs, ...]:
    """Run by run, where both sides have as many and were sent the same workload; none otherwise."""
    if len(a.runs) != len(b.runs):
        return ()
    hashes = [{one.told.settings.get("workload_sha256") for one in side.runs} for side in (a, b)]
    if hashes[0] != hashes[1] or len(hashes[0]) > 1:
        return ()
    found = tuple(
        pairs_of(one.records, other.records) for one, other in zip(a.runs, b.runs, strict=True)
    )
    few = any(len(each) < min(_FEWEST_PAIRS, len(each.a) + each.a_only) for each in found)
    if few or (hashes[0] == {None} and not all(map(_same_prompts, found))):
        return ()
    return found


def _same_prompts(pairs: Pairs) -> bool:
    """Where nobody tells the workload, the same places with other lengths are other requests."""
    import numpy as np

    one, other = (side.columns["input_tokens_got"] for side in (pairs.a, pairs.b))
    known = ~np.isnan(one) & ~np.isnan(other)
    return bool(known.any() and (one[known] == other[known]).mean() >= 0.99)


def _counts(pairs: Sequence[Pairs]) -> PairCounts:
    def total(name: str) -> int:
        return sum(int(_outcomes(each)[name].sum()) for each in pairs)

    return PairCounts(
        total("both"), total("a"), total("b"), total("neither"),
        sum(each.a_only for each in pairs), sum(each.b_only for each in pairs),
        sum(int(each.same_length.sum()) for each in pairs),
    )  # fmt: skip


def _outcomes(pairs: Pairs) -> "dict[str, Booleans]":
    a, b = pairs.a.ok, pairs.b.ok
    return {"both": a & b, "a": a & ~b, "b": ~a & b, "neither": ~a & ~b}


def _remarks(
    a: Side,
    b: Side,
    said: Attribution,
    counts: PairCounts | None,
    found: Sequence[Finding],
) -> Iterator[str]:
    if counts is None:
        yield "The sides were not sent the same requests, so that nothing is paired; effects are those of two samples."
    elif counts.a_alone_ok or counts.b_alone_ok:
        yield (
            f"{counts.a_alone_ok:,} requests ended as asked on A alone and {counts.b_alone_ok:,} on B alone; they are in the share that "
            "ended as asked, and in no latency."
        )
    if max(len(side.runs) for side in (a, b)) == 1:
        yield "One run a side: what would differ from run to run is in no interval; repeat both with vram trial repeat --a --b."
    if said.answer is Answer.NOTHING and any(each.standing is Standing.DIFFERS for each in found):
        yield "Nothing that both sides tell differs, and figures do: something was changed that nobody told, or runs differ by themselves."
    for side in (a, b):
        yield from _lacking(side)


def _lacking(side: Side) -> Iterator[str]:
    """What a trial has and these runs do not."""
    from vramledger.record.document import Origin

    for one in side.runs[:1]:
        if one.run.description.origin is Origin.SIMULATED:
            continue
        absent = [words for name, words in _UNTOLD if name not in one.run.tables]
        if absent:
            yield f"{side.name} has no {' and no '.join(absent)}, so nothing is said of them."
