"""A comparison for a terminal: whether an effect can be put down to a change, what differs, and the effects."""

from collections.abc import Iterator, Sequence
from math import isfinite
from typing import Any, Final

from vramledger.compare.attribution import Answer, Attribution
from vramledger.compare.comparison import Comparison, PairCounts
from vramledger.compare.difference import Difference, Kind
from vramledger.compare.effect import LEVEL, Effect
from vramledger.compare.finding import Finding, Standing
from vramledger.compare.sample_size import ALPHA, POWER
from vramledger.compare.side import Side
from vramledger.report.table import table

_TITLES: Final = {
    "ttft_s": "TTFT",
    "first_answer_s": "first answer",
    "tpot_s": "TPOT",
    "queue_s": "queue",
    "e2e_s": "E2E",
    "longest_gap_s": "longest gap",
    "ok_share": "ended as asked",
    "requests_per_s": "requests/s, ok",
    "output_tokens_per_s": "output tokens/s",
}
_UNITS: Final = {"ok_share": ""}
_HEAD: Final = ("", "A", "B", "B against A", "low", "high", "p", "")
_RIGHT: Final = frozenset(range(1, 7))
_LONGEST: Final = 44


def comparison_text(found: Sequence[Comparison]) -> str:
    """Each further side against A."""
    return "\n\n".join("\n".join(_compared(each)) for each in found)


def _compared(found: Comparison) -> Iterator[str]:
    yield _side(found.a)
    yield _side(found.b)
    yield ""
    yield from _attribution(found.attribution, found.b.name)
    yield ""
    yield from _differences(found.attribution.differences, found.b.name)
    if found.counts is not None:
        yield _pairs(found.counts, found.b.name)
    yield from _effects(found)
    yield from _equal_length(found.findings)
    yield from (f"note: {each}" for each in found.remarks)


def _side(found: Side) -> str:
    requests = sum(len(each.records) for each in found.runs)
    runs = "1 run" if len(found.runs) == 1 else f"{len(found.runs)} runs"
    where = ", ".join(str(path) for path in found.paths[:3])
    more = f" and {len(found.paths) - 3} more" if len(found.paths) > 3 else ""
    return f"{found.name}: {where}{more}: {found.told.description.origin.value}, {runs}, {requests:,} requests"


def _attribution(said: Attribution, other: str) -> Iterator[str]:
    if said.answer is Answer.REFUSED:
        yield f"CANNOT ATTRIBUTE: {said.why}"
    elif said.change is None:
        yield "NOTHING DIFFERS that both sides tell."
        yield from (f"unknown: {each}" for each in said.conditions)
    else:
        yield f"ATTRIBUTABLE to one change: {_change(said.change, other)}."
        if said.conditions:
            yield "on condition that this does not differ as well, which nobody can tell:"
            yield from (f"  {each}" for each in said.conditions)


def _change(found: Difference, other: str) -> str:
    return f"{found.title} is {_value(found.a)} of A and {_value(found.b)} of {other}"


def _differences(found: Sequence[Difference], other: str) -> Iterator[str]:
    shown = sorted((each for each in found if each.kind is not Kind.UNKNOWN), key=_order)
    if not shown:
        return
    yield "what differs"
    for each in shown:
        values = (
            ""
            if each.a is each.b is None
            else f": {_value(each.a)} of A, {_value(each.b)} of {other}"
        )
        yield f"  {each.kind:<10} {each.title}{values}{f' ({each.why})' if each.why else ''}"
    yield ""


def _order(found: Difference) -> int:
    return list(Kind).index(found.kind)


def _value(value: Any) -> str:
    if value is None:
        return "not told"
    text = str(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _pairs(counts: PairCounts, other: str) -> str:
    parts = [f"{counts.both_ok:,} pairs of requests ended as asked on both sides"]
    for count, words in (
        (counts.a_alone_ok, "on A alone"),
        (counts.b_alone_ok, f"on {other} alone"),
        (counts.neither_ok, "on neither"),
    ):
        if count:
            parts.append(f"{count:,} {words}")
    if counts.sent_to_a_alone or counts.sent_to_b_alone:
        parts.append(f"{counts.sent_to_a_alone:,} were sent to A alone and {counts.sent_to_b_alone:,} to {other} alone")  # fmt: skip
    return "; ".join(parts) + "."


def _effects(found: Comparison) -> Iterator[str]:
    if not found.findings:
        yield "No figure is told by both sides."
        return
    yield (
        f"low to high holds the effect at {LEVEL:.0%}; p is corrected for {len(found.findings)} figures (Holm, {ALPHA:g} for all of them "
        f"together); what matters begins at {found.practical:.3g} ({found.practical:.1%})"
    )
    head = [name.replace("B", found.b.name) for name in _HEAD]
    yield from table(head, [_row(each) for each in found.findings], _RIGHT)


def _row(found: Finding) -> tuple[str, ...]:
    effect = found.chosen
    ends = (effect.low, effect.high) if effect.error is not None else (None, None)
    size = effect.difference if effect.relative is None else effect.relative
    return (
        _name(found), _number(effect.a), _number(effect.b), _percent(size), *map(_percent, ends),
        "" if found.p is None else f"{found.p:.2g}", _words(found),
    )  # fmt: skip


def _name(found: Finding) -> str:
    figure = found.figure
    return " ".join(part for part in (_TITLES[figure.name], figure.statistic) if part)


def _words(found: Finding) -> str:
    if found.standing is Standing.OPEN:
        return f"cannot be told: {found.chosen.reason or 'no interval'}"
    said = str(found.standing)
    if found.standing is not Standing.NONE:
        return said
    if found.smallest is None:
        return f"{said}; this sample sees none of any size{_needed(found)}"
    return f"{said}; this sample sees {_percent(found.smallest)} in {POWER:.0%} of cases{_needed(found)}"


def _needed(found: Finding) -> str:
    if found.requests is not None:
        return f", and {found.requests:,} requests see one that matters"
    if found.runs is not None:
        return f", and {found.runs:,} runs a side see one that matters"
    return ""


def _equal_length(found: Sequence[Finding]) -> Iterator[str]:
    """Effects among pairs with answers of one length, where answers differ in length."""
    told = [(each, each.equal_length) for each in found if each.equal_length is not None]
    if not told:
        return
    yield ""
    yield f"at equal length: pairs whose answers have the same number of tokens, {max(e.counted for _, e in told):,} at most"
    rows = [_length_row(each, effect) for each, effect in told]
    yield from table(("", "A", "B", "B against A", "low", "high"), rows, frozenset(range(1, 6)))


def _length_row(found: Finding, effect: Effect) -> tuple[str, ...]:
    ends = (effect.low, effect.high) if effect.error is not None else (None, None)
    return (_name(found), _number(effect.a), _number(effect.b), _percent(effect.relative), *map(_percent, ends))  # fmt: skip


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isfinite(value) else "inf"


def _percent(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:+.1%}" if isfinite(value) else ("inf" if value > 0 else "-inf")
