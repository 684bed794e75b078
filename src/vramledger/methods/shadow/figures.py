"""Pairs of answers as figures."""

from collections import Counter
from collections.abc import Mapping, Sequence

from vramledger.frozen import frozen
from vramledger.methods.shadow.answer import Answer
from vramledger.methods.shadow.intervals import Estimate, Intervals, median_first_difference
from vramledger.methods.shadow.pair import Pair


@frozen
class Figures:
    """How far two sets of answers agree.

    `token_agreement` is over places of equal context; `kept` is the share of the longer answers' tokens that come before the
    first difference; `pessimistic` is the agreement where every failed prompt counts as parted at its first token.
    """

    pairs: int
    parted: int
    token_agreement: Estimate
    pessimistic: float | None
    kept: Estimate
    exact: Estimate
    first_difference: Estimate
    kl: Estimate
    js_low: Estimate
    js_high: Estimate
    unlisted: Estimate
    places: int
    length_a: float | None
    length_b: float | None
    longer: Estimate  # B less A, tokens an answer


def figures_of(pairs: Sequence[Pair], failed: int, by: Intervals) -> Figures:
    """Of the pairs that both sides answered, and `failed` prompts that one of them did not; `by` gives the intervals."""
    import numpy as np

    def column(name: str) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
        return np.array([getattr(each, name) for each in pairs], dtype=float)

    parted, positions, places = column("parted"), column("positions"), column("places")
    ones, total = np.ones(len(pairs)), float(positions.sum()) + failed
    apart = int(parted.sum())
    return Figures(
        pairs=len(pairs),
        parted=apart,
        token_agreement=by.agreement(parted, positions),
        pessimistic=1 - (apart + failed) / total if total else None,
        kept=by.ratio(column("agreed"), column("longer")),
        exact=by.share(column("exact")),
        first_difference=median_first_difference(
            [each.agreed for each in pairs], [each.parted for each in pairs]
        ),
        kl=by.ratio(column("kl_low"), places),
        js_low=by.ratio(column("js_low"), places),
        js_high=by.ratio(column("js_high"), places),
        unlisted=by.ratio(column("unlisted"), places),
        places=int(places.sum()),
        length_a=float(column("length_a").mean()) if pairs else None,
        length_b=float(column("length_b").mean()) if pairs else None,
        longer=by.ratio(column("length_b") - column("length_a"), ones),
    )


def errors_of(answers: Sequence[Answer | None]) -> Mapping[str, int]:
    """Failures by their class, the commonest first; a prompt that was not sent is none."""
    return dict(Counter(each.error for each in answers if each and not each.ok).most_common())
