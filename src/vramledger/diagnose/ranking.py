"""Hypotheses in order: what explains others comes before them, and what is strongest first.

A rush, a neighbour, a warm-up or a full allocator makes requests wait in the engine; the limit that they then wait for is real, and not the
cause. So a root cause of at least `FOUND` takes part of the score of the limits off, and says so there. Of a slow front end, the network and a remote fetch, which explain the same time, the best takes some of the score of the others off.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from vramledger.diagnose.hypothesis import Hypothesis

FOUND: Final = 0.4  # a cause is a finding from here on
CLEAR: Final = 0.55  # from here on it is an error where it harms
_TAKEN: Final = 0.7
_SHARED: Final = 0.4
_ALTERNATIVES: Final = frozenset(
    {"front_end", "network", "remote_fetch"}
)  # one time outside the engine


def ranked(found: Sequence[Hypothesis]) -> tuple[Hypothesis, ...]:
    """All of them, the strongest first; equal ones by their ids."""
    roots = [each for each in found if each.cause.root and each.score >= FOUND]
    root = max(roots, key=lambda each: each.score, default=None)
    explained = [_explained(each, root, found) for each in found]
    return tuple(sorted(explained, key=lambda each: (-each.score, each.cause.id)))


def _explained(
    each: Hypothesis, root: Hypothesis | None, found: Sequence[Hypothesis]
) -> Hypothesis:
    if root is not None and (each.cause.waits or each.cause.name == "decode_bandwidth"):
        return _less(each, root)
    if not each.cause.harms:
        return _behind(each, found)
    if each.cause.name in _ALTERNATIVES:
        return _instead(each, found)
    return each


def _instead(each: Hypothesis, found: Sequence[Hypothesis]) -> Hypothesis:
    """Of what may explain the same time, the best does; the others lose some of their score."""
    rivals = [one for one in found if one.cause.name in _ALTERNATIVES]
    best = max(rivals, key=lambda one: one.score)
    if best.cause is each.cause or best.score < FOUND:
        return each
    kept = 1 - _SHARED * best.score
    said = f"{best.cause.title} explains the same time better."
    return replace(
        each, score=each.score * kept, confidence=each.confidence * kept, explained_by=said
    )


def _less(each: Hypothesis, root: Hypothesis) -> Hypothesis:
    kept = 1 - _TAKEN * root.score
    said = f"{root.cause.title} explains it: that is what makes requests wait here."
    return replace(
        each, score=each.score * kept, confidence=each.confidence * kept, explained_by=said
    )


def _behind(each: Hypothesis, found: Sequence[Hypothesis]) -> Hypothesis:
    """What does not harm yet comes after what clearly does."""
    worst = max((one.score for one in found if one.cause.harms), default=0.0)
    return replace(each, score=min(each.score, 0.95 * worst)) if worst >= CLEAR else each
