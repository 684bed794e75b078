"""What was seen while both sides ran, and no setting tells: the state of the prefix cache, and the clocks of the GPUs."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final

from vramledger.compare.difference import Difference, Kind
from vramledger.compare.fields import ARGUMENT, title_of
from vramledger.compare.side import OneOf, Side
from vramledger.record.document import Origin

CACHED: Final = "cached_share"
CLOCK: Final = "sm_clock_mhz"
_PROMPTS: Final = "same_prompts"
_CACHED_APART: Final = 0.02  # of the prompts' tokens
_CLOCKS_APART: Final = 0.05
_BUSY: Final = 0.5  # utilization, below which clocks rest
_FEWEST: Final = 5  # samples of a busy GPU
_MOVE_CACHED: Final = frozenset(
    {
        "--enable-prefix-caching", "cold", "prefix_cache_resets", "warm_up_requests", "workload_sha256", "scenario", "seed", "engine",
        "engine_version", "model", "origin", "load.prompts.own", "load.duration_s",
    }
)  # fmt: skip


def observed(a: Side, b: Side, changed: Collection[str]) -> Iterator[Difference]:
    """Over all runs of both sides; `changed` names the settings that differ."""
    shares = [_mean(map(_cached_share, side.runs)) for side in (a, b)]
    fresh = _salts(a).isdisjoint(_salts(b))
    if shares[0] is not None and shares[1] is not None:
        yield from _cached(shares[0], shares[1], changed, fresh=fresh)
    elif not fresh:
        why = "the later run may have found them in the prefix cache, and the server does not tell"
        yield Difference(_PROMPTS, title_of(_PROMPTS), None, None, Kind.CONDITION, why)
    clocks = [_mean(map(_clock, side.runs)) for side in (a, b)]
    if clocks[0] is not None and clocks[1] is not None:
        yield from _clocks(clocks[0], clocks[1], changed)


def _cached(a: float, b: float, changed: Collection[str], *, fresh: bool) -> Iterator[Difference]:
    """A larger pool keeps more of what a run itself sent, so that an argument explains it where the prompts were new to both."""
    if abs(a - b) <= _CACHED_APART:
        return
    kind, why = Kind.CHANGE, "nothing else that differs explains it: one cache was warm"
    movers = [name for name in changed if name in _MOVE_CACHED]
    if fresh:
        movers += [name for name in changed if name.startswith(ARGUMENT) or name == "gpu"]
    if movers:
        kind, why = Kind.FOLLOWS, f"it follows from {', '.join(map(title_of, movers))}"
    yield Difference(CACHED, title_of(CACHED), f"{a:.1%}", f"{b:.1%}", kind, why)


def _clocks(a: float, b: float, changed: Collection[str]) -> Iterator[Difference]:
    if abs(a - b) <= _CLOCKS_APART * max(a, b):
        return
    follows = "gpu" in changed
    kind = Kind.FOLLOWS if follows else Kind.CHANGE
    why = "it follows from the GPU" if follows else "of busy GPUs, at the median"
    yield Difference(CLOCK, title_of(CLOCK), f"{a:,.0f} MHz", f"{b:,.0f} MHz", kind, why)


def _mean(found: Iterator[float | None]) -> float | None:
    """None where a run does not tell it."""
    values = list(found)
    told = [each for each in values if each is not None]
    return sum(told) / len(told) if len(told) == len(values) else None


def _salts(side: Side) -> set[Any]:
    """The draws of made prompts; none of imported runs, whose prompts nobody here has made."""
    return {salt for one in side.runs if (salt := _salt(one)) is not None}


def _salt(one: OneOf) -> Any:
    found: Any = (one.run.description.model_extra or {}).get("trial")
    for key in ("load", "prompts", "salt"):
        found = found.get(key) if isinstance(found, dict) else None
    return None if one.run.description.origin is Origin.IMPORTED else found


def _cached_share(one: OneOf) -> float | None:
    """Prompt tokens that the server says it read from its cache, over those of requests that tell both."""
    import numpy as np

    cached, prompt = (one.records.columns[name] for name in ("cached_tokens", "input_tokens_got"))
    both = ~np.isnan(cached) & ~np.isnan(prompt)
    tokens = float(prompt[both].sum())
    return float(cached[both].sum()) / tokens if tokens else None


def _clock(one: OneOf) -> float | None:
    """The median of all samples in which a GPU was busy, while the load came."""
    import numpy as np

    from vramledger.record.samples import GPU

    if GPU.name not in one.run.tables:
        return None
    found = one.run.table(GPU).numbers("t_s", "sm_clock_mhz", "utilization")
    due = one.records.columns["due_s"]
    kept = (found["utilization"] >= _BUSY) & ~np.isnan(found["sm_clock_mhz"])
    kept &= (found["t_s"] >= np.nanmin(due)) & (found["t_s"] <= np.nanmax(due))
    return float(np.median(found["sm_clock_mhz"][kept])) if kept.sum() >= _FEWEST else None


def names_of(found: Sequence[Difference]) -> tuple[str, ...]:
    """Of the changes among differences."""
    return tuple(each.name for each in found if each.kind is Kind.CHANGE)
