"""A limit of a contract in words, as a report prints it: ``ttft_s p95 <= 2``, ``the queue drains``.

What `Contract.lines` writes, `contract_of` reads, but for the lines of a model service. It also takes ``ttft`` for ``ttft_s``, and seconds
as ``2s``, ``500ms`` or ``1.5 min``.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import reduce
from math import isfinite
from typing import Final

from vramledger.errors import BadInput, UnknownName
from vramledger.plan.contract import LATENCIES, in_order
from vramledger.plan.percentiles import share_of
from vramledger.plan.requirement import Contract, LatencyLimit


def _class(what: str) -> str:
    """The pattern of a class of length, as `LatencyLimit.reach` writes it."""
    ends = rf" from (?P<{what}_min>[\d,]+)(?: up to (?P<{what}_max>[\d,]+))?"
    return rf"(?:{ends} {what} tokens| up to (?P<{what}_most>[\d,]+) {what} tokens)?"


_NUMBER: Final = r"(?P<amount>[\d,]*\.?\d+(?:e[+-]?\d+)?)"
_SECONDS: Final = {"": 1.0, "s": 1.0, "ms": 1e-3, "min": 60.0}
_LATENCY: Final = re.compile(
    rf"(?P<share>\S+?) ?(?:<=|≤) ?{_NUMBER} ?(?P<unit>{'|'.join(_SECONDS)})"
    rf"{_class('input')}{_class('output')}\Z"
)
_SUCCESS: Final = re.compile(rf"success ?(?:>=|≥) ?{_NUMBER} ?(?P<percent>%?)\Z")
_DRAINS: Final = re.compile(r"(?:the )?queue drains\Z")
_DONE_BY: Final = re.compile(r"done by (?P<time>(?:[01]\d|2[0-3]):[0-5]\d)\Z")
_HOURLY: Final = re.compile(rf"{_NUMBER} requests (?:an|per) hour\Z")
_KV_FREE: Final = re.compile(rf"kv cache free at p99 ?(?:>=|≥) ?{_NUMBER} ?%\Z")
_NO_PREEMPTION: Final = re.compile(r"no preemption\Z")
_PREEMPTIONS: Final = re.compile(rf"preemptions per 1,000 requests ?(?:<=|≤) ?{_NUMBER}\Z")
_GROWTH: Final = re.compile(rf"gpu memory growth ?(?:<=|≤) ?{_NUMBER} gib (?:an|per) hour\Z")
_NAMES: Final = {name.removesuffix("_s"): name for name in LATENCIES}
_KNOWN: Final = (*LATENCIES, "success", "the queue drains", "done by", "requests an hour")
_EXAMPLES: Final = (
    '"ttft_s p95 <= 2", "success >= 99%", "the queue drains" or "100 requests an hour"'
)


def contract_of(limits: Iterable[str], where: str) -> Contract:
    """The contract that holds when every one of the limits does; `where` names their origin in errors.

    Raises:
        BadInput: a limit that is none.
        UnknownName: a latency that is none.
    """
    return reduce(both, (_limit(text, where) for text in limits), Contract())


def both(one: Contract, other: Contract) -> Contract:
    """The contract that holds when both do: of two limits on one figure the tighter.

    Raises:
        BadInput: two different times to be done by.
    """
    names = dict.fromkeys((*one.latency, *other.latency))
    return Contract(
        latency={
            name: _tighter((*one.latency.get(name, ()), *other.latency.get(name, ())))
            for name in names
        },
        success=_greater(one.success, other.success),
        queue_must_drain=one.queue_must_drain or other.queue_must_drain,
        done_by=_one_time(one.done_by, other.done_by),
        requests_per_hour=_greater(one.requests_per_hour, other.requests_per_hour),
        minutes_of_load=_greater(one.minutes_of_load, other.minutes_of_load),
        kv_free=_greater(one.kv_free, other.kv_free),
        preemptions_per_1000=_less(one.preemptions_per_1000, other.preemptions_per_1000),
        memory_growth_gib_per_hour=_less(
            one.memory_growth_gib_per_hour, other.memory_growth_gib_per_hour
        ),
        model_reported=one.model_reported or other.model_reported,
        context_tokens=_greater(one.context_tokens, other.context_tokens),
        requests_per_minute=_greater(one.requests_per_minute, other.requests_per_minute),
        billed_within=_less(one.billed_within, other.billed_within),
    )


def _tighter(limits: tuple[LatencyLimit, ...]) -> tuple[LatencyLimit, ...]:
    """One row for each reach, as a plan's are ordered."""
    rows: dict[tuple[int | None, ...], dict[float, float]] = {}
    for limit in limits:
        row = rows.setdefault(limit.bounds, {})
        for share, seconds in limit.percentiles.items():
            row[share] = min(seconds, row.get(share, seconds))
    of = {limit.bounds: limit for limit in limits}
    found = (replace(of[bounds], percentiles=row) for bounds, row in rows.items())
    return tuple(sorted(found, key=in_order))


def _greater(one: float | None, other: float | None) -> float | None:
    known = [value for value in (one, other) if value is not None]
    return max(known) if known else None


def _less(one: float | None, other: float | None) -> float | None:
    known = [value for value in (one, other) if value is not None]
    return min(known) if known else None


def _one_time(one: str | None, other: str | None) -> str | None:
    if one is not None and other is not None and one != other:
        raise BadInput(f"Work is to be done by {one} and by {other}; state one time.")
    return one if one is not None else other


def _limit(text: str, where: str) -> Contract:
    said, place = " ".join(text.lower().split()), f"{where} {text!r}"
    for pattern, read in _FORMS.items():
        match = pattern.match(said)
        if match is not None:
            return read(match, place)
    return _latency(said, place)


def _success(match: re.Match[str], place: str) -> Contract:
    share = _amount(match, place) / (100 if match["percent"] else 1)
    if share > 1:
        raise BadInput(
            f"{place} asks for more than all requests; write a share such as 0.99 or 99%."
        )
    return Contract(success=share)


def _latency(said: str, place: str) -> Contract:
    name, _, rest = said.partition(" ")
    if name not in LATENCIES and name not in _NAMES:
        raise UnknownName("limit", name, _KNOWN, place, hint=f"Write for example {_EXAMPLES}.")
    match = _LATENCY.match(rest)
    if match is None:
        raise BadInput(
            f"{place} cannot be read after {name!r}; write a percentile, <= and seconds, for example "
            f'"{name} p95 <= 2" or "{name} p95 <= 500ms up to 4096 input tokens".'
        )
    seconds = _amount(match, place) * _SECONDS[match["unit"]]
    ends = {
        "input_max": _tokens(match["input_max"] or match["input_most"], place),
        "input_min": _tokens(match["input_min"], place),
        "output_max": _tokens(match["output_max"] or match["output_most"], place),
        "output_min": _tokens(match["output_min"], place),
    }
    limit = LatencyLimit(percentiles={_share(match["share"], place): seconds}, **ends)
    return Contract(latency={_NAMES.get(name, name): (limit,)})


def _share(percentile: str, place: str) -> float:
    try:
        return share_of(percentile)
    except BadInput as error:
        raise BadInput(f"{place}: {error}") from None


def _tokens(said: str | None, place: str) -> int | None:
    if said is None:
        return None
    tokens = int(said.replace(",", "") or 0)
    if tokens < 1:
        raise BadInput(f"{place} reaches no request; it counts whole tokens from 1.")
    return tokens


def _amount(match: re.Match[str], place: str) -> float:
    """A number above 0."""
    value = float(match["amount"].replace(",", ""))
    if not (isfinite(value) and value > 0):
        raise BadInput(
            f"{place} has the threshold {match['amount']}; it must be above 0 and finite."
        )
    return value


_FORMS: Final[Mapping[re.Pattern[str], Callable[[re.Match[str], str], Contract]]] = {
    _SUCCESS: _success,
    _DRAINS: lambda _match, _place: Contract(queue_must_drain=True),
    _DONE_BY: lambda match, _place: Contract(done_by=match["time"]),
    _HOURLY: lambda match, place: Contract(requests_per_hour=_amount(match, place)),
    _KV_FREE: lambda match, place: Contract(kv_free=_amount(match, place) / 100),
    _NO_PREEMPTION: lambda _match, _place: Contract(preemptions_per_1000=0.0),
    _PREEMPTIONS: lambda match, place: Contract(preemptions_per_1000=_amount(match, place)),
    _GROWTH: lambda match, place: Contract(memory_growth_gib_per_hour=_amount(match, place)),
}
