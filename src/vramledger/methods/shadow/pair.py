"""Two answers to one prompt: how far they are the same, and how far the distributions lie apart while they are."""

from collections.abc import Sequence

from vramledger.frozen import frozen
from vramledger.methods.shadow.answer import STOPPED, Answer, Step
from vramledger.methods.shadow.divergence import Apart, apart


@frozen
class Pair:
    """One prompt, answered by both.

    `agreed` counts the tokens up to the first that differs. `parted` says that one did: another token, or the end of one
    answer where the other goes on. Where it is false, the answers are the same as far as both were asked for, and
    the place where they would part lies beyond (it is censored). `longer` counts the tokens of the longer answer.
    The sums are over the places of equal context that both gave a distribution for, of which there are `places`.
    """

    prompt: int
    agreed: int
    parted: bool
    exact: bool
    longer: int
    length_a: int
    length_b: int
    places: int
    kl_low: float
    js_low: float
    js_high: float
    unlisted: float

    @property
    def positions(self) -> int:
        """Places of equal context: those that agree, and the one at which they part."""
        return self.agreed + self.parted


def compare(prompt: int, a: Answer, b: Answer) -> Pair:
    """Both answers must be answers; they are compared as far as both go."""
    agreed = _same(a.steps, b.steps)
    short, long = sorted((a, b), key=lambda each: len(each.steps))
    ended = len(short.steps) < len(long.steps) and short.finish == STOPPED
    parted = agreed < len(short.steps) or ended
    told = _distributions(a.steps, b.steps, agreed + 1)
    return Pair(
        prompt,
        agreed,
        parted,
        not parted and len(a.steps) == len(b.steps),
        len(long.steps),
        a.length,
        b.length,
        len(told),
        sum(each.kl_low for each in told),
        sum(each.js_low for each in told),
        sum(each.js_high for each in told),
        sum(each.unlisted for each in told),
    )


def _same(a: Sequence[Step], b: Sequence[Step]) -> int:
    both = enumerate(zip(a, b, strict=False))
    shorter = min(len(a), len(b))
    return next((place for place, (x, y) in both if x.token != y.token), shorter)


def _distributions(a: Sequence[Step], b: Sequence[Step], count: int) -> list[Apart]:
    """Of the first `count` places: after the first different token the contexts are no longer the same."""
    return [
        apart(x.top, y.top) for x, y in zip(a[:count], b[:count], strict=False) if x.top and y.top
    ]
