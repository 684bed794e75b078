"""What a mirror came to."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from vramledger.frozen import frozen
from vramledger.methods.mirror.added import Added
from vramledger.methods.mirror.asked import MirrorAsked
from vramledger.methods.mirror.kept import Again, Kept
from vramledger.methods.mirror.latency import Latency, latencies_of
from vramledger.methods.mirror.mirroring import Traffic
from vramledger.methods.mirror.over_time import OverTime
from vramledger.methods.mirror.row import Row
from vramledger.methods.mirror.switch import AGREEMENT, FAILED, Switch, need_of, switch_of
from vramledger.methods.shadow.both_read import without
from vramledger.methods.shadow.figures import figures_of
from vramledger.methods.shadow.intervals import Estimate
from vramledger.methods.shadow.pair import Pair
from vramledger.methods.shadow.result import Shadow
from vramledger.methods.shadow.side import Told, differences
from vramledger.methods.shadow.verdict import noise_p, verdict_on

if TYPE_CHECKING:
    import numpy as np

SOURCE = "live traffic"
_LIVE = "a mirror asks A nothing beside what its clients ask"


@frozen
class Lengths:
    """Of all answers that both gave, at any temperature, in `unit`s; `longer` is B less A."""

    unit: str
    requests: int
    a: float | None
    b: float | None
    longer: Estimate


@frozen
class Mirrored:
    """`shadow` is what the requests at temperature 0 came to; the rest is of all that were put to both.

    `outcomes` counts requests by how A's and B's ended: "ok_ok", "ok_failed", "failed_ok", "failed_failed". `failed_by_b` is the
    share that B failed of those that A answered. `kept` is how many of the `compared` the figures are made of.
    """

    shadow: Shadow
    share: float
    asked_s: float | None
    seconds: float
    traffic: Traffic
    put: int
    greedy_put: int
    compared: int
    greedy: int
    kept: int
    skipped: Mapping[str, int]
    aborted: int
    unreadable: Mapping[str, int]
    unfinished: int
    outcomes: Mapping[str, int]
    failed_by_b: Estimate
    finish_same: Estimate
    finishes_a: Mapping[str, int]
    finishes_b: Mapping[str, int]
    lengths: Lengths
    latencies: tuple[Latency, ...]
    slowed: int
    added: Added
    switch: Switch


@frozen
class Seen:
    """What a mirror saw while it ran."""

    a: Told
    b: Told
    seconds: float
    traffic: Traffic
    kept: Kept
    added: Added
    interrupted: bool


def mirrored(asked: MirrorAsked, seen: Seen) -> Mirrored:
    """The figures of all that was seen."""
    kept, rows = seen.kept, seen.kept.rows
    failed_by_b = OverTime().share(_ones([each.failed for each in kept.ended]))
    shadow = _shadow(asked, seen)
    return Mirrored(
        shadow=shadow,
        share=asked.share,
        asked_s=asked.for_s,
        seconds=seen.seconds,
        traffic=seen.traffic,
        put=kept.put,
        greedy_put=kept.greedy_put,
        compared=kept.compared,
        greedy=kept.greedy,
        kept=len(rows),
        skipped=dict(kept.skipped.most_common()),
        aborted=kept.aborted,
        unreadable=dict(kept.unreadable),
        unfinished=kept.unfinished,
        outcomes={name: kept.outcomes[name] for name in OUTCOMES},
        failed_by_b=failed_by_b,
        finish_same=OverTime().share(_ones([each.finish_a == each.finish_b for each in rows])),
        finishes_a=_counted([each.finish_a for each in rows]),
        finishes_b=_counted([each.finish_b for each in rows]),
        lengths=_lengths(rows),
        latencies=latencies_of(rows),
        slowed=sum(each.slowed for each in rows),
        added=seen.added,
        switch=_switch(asked, seen, shadow, failed_by_b),
    )


OUTCOMES = ("ok_ok", "ok_failed", "failed_ok", "failed_failed")


def _shadow(asked: MirrorAsked, seen: Seen) -> Shadow:
    kept = seen.kept
    greedy = [each for each in kept.rows if each.greedy]
    listed: list[Row | Again] = [*greedy, *kept.again]
    unit = "tokens" if greedy and all(each.tokens is not None for each in listed) else "words"
    pairs = [_pair(each, unit) for each in greedy]
    part = len(greedy) / kept.greedy if kept.greedy else 1.0
    found = figures_of(pairs, round(kept.greedy_failed * part), OverTime())
    noise = figures_of([_pair(each, unit) for each in kept.again], kept.again_failed, OverTime())
    differ = [each.prompt_tokens_differ for each in kept.rows if each.prompt_tokens_differ is not None]  # fmt: skip
    return Shadow(
        a=seen.a,
        b=seen.b,
        style=None,
        source=SOURCE,
        prompts_sha256=None,
        requests=kept.greedy_put,
        answered=kept.greedy,
        unsent=kept.greedy_put - kept.greedy - kept.greedy_failed,
        errors_a=dict(kept.errors_a.most_common()),
        errors_b=dict(kept.errors_b.most_common()),
        found=found,
        noise=noise,
        noise_p=noise_p(found, noise),
        verdict=verdict_on(found, noise, asked.threshold),
        pairs=tuple(pairs),
        unit=unit,
        prompt_tokens_differ=sum(differ) if differ else None,
        remarks=differences(seen.a, seen.b),
        texts={},
        same_text=without(_LIVE),
        interrupted=seen.interrupted,
    )


def _pair(row: Row | Again, unit: str) -> Pair:
    return row.tokens if unit == "tokens" and row.tokens is not None else row.words


def _lengths(rows: Sequence[Row]) -> Lengths:
    """In tokens where every answer's are told, else in words."""
    import numpy as np

    told = [(each.tokens_a, each.tokens_b) for each in rows]
    tokens = [(x, y) for x, y in told if x is not None and y is not None]
    if rows and len(tokens) == len(rows):
        unit, both = "tokens", tokens
    else:
        unit, both = "words", [(each.words.length_a, each.words.length_b) for each in rows]
    a, b = (np.array([each[side] for each in both], dtype=float) for side in (0, 1))
    longer = OverTime().ratio(b - a, np.ones(len(both)))
    means = [float(each.mean()) if len(each) else None for each in (a, b)]
    return Lengths(unit, len(both), means[0], means[1], longer)


def _switch(asked: MirrorAsked, seen: Seen, shadow: Shadow, failed_by_b: Estimate) -> Switch:
    kept = seen.kept
    per_s = seen.traffic.comparable / seen.seconds if seen.seconds > 0 else 0.0
    usable = kept.compared / kept.put if kept.put else 0.0
    greedy = kept.greedy / kept.put if kept.put else 0.0
    have = kept.outcomes["ok_ok"] + kept.outcomes["ok_failed"]
    return switch_of(
        (
            need_of(AGREEMENT, shadow.found.token_agreement, shadow.found.pairs, asked.within, per_s * greedy),
            need_of(FAILED, failed_by_b, have, asked.within, per_s * usable),
        ),
        asked.within,
    )  # fmt: skip


def _ones(hits: Sequence[bool]) -> "np.ndarray[Any, np.dtype[np.float64]]":
    import numpy as np

    return np.array(hits, dtype=np.float64)


def _counted(found: Sequence[str]) -> Mapping[str, int]:
    from collections import Counter

    return dict(Counter(each or "untold" for each in found).most_common())
