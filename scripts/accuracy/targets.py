"""What the figures must hold, by version group; `check` fails when one does not."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from accuracy.page import Score

MOST_ASIDE: Final = 5
_WEIGHTS_MEDIAN: Final = 0.005
_COVERAGE: Final = (0.85, 0.98)


@dataclass(frozen=True, slots=True)
class Target:
    """Largest allowed relative errors of the KV tokens of a group."""

    group: str
    median: float
    p90: float | None = None


TARGETS: Final = (
    Target("0.11 to 0.20", 0.001, 0.01),
    Target("0.8 to 0.10 and from 0.21", 0.01, 0.05),
    Target("before 0.8", 0.03),
)


def missed(scores: Sequence[Score], aside: int) -> Iterator[str]:
    """One sentence for every target that does not hold."""
    by_group = {score.group: score for score in scores}
    for target in TARGETS:
        score = by_group[target.group]
        if score.tokens_median is None or score.tokens_median > target.median:
            yield f"{target.group}: KV tokens, median {score.tokens_median} over {target.median}."
        if target.p90 is not None and (score.tokens_p90 is None or score.tokens_p90 > target.p90):
            yield f"{target.group}: KV tokens, p90 {score.tokens_p90} over {target.p90}."
    whole = by_group["all"]
    if whole.weights_median is None or whole.weights_median > _WEIGHTS_MEDIAN:
        yield f"weights, median {whole.weights_median} over {_WEIGHTS_MEDIAN}."
    if whole.coverage is None or not _COVERAGE[0] <= whole.coverage <= _COVERAGE[1]:
        yield f"coverage {whole.coverage} outside {_COVERAGE[0]} to {_COVERAGE[1]}."
    if aside > MOST_ASIDE:
        yield f"{aside} rows are set aside, more than {MOST_ASIDE}."
