"""A sizing for a terminal: the candidate table, the best choices explained, the failing summed up."""

from collections.abc import Sequence
from typing import Final

from vramledger.report.context_limits import limits_text
from vramledger.report.number import span
from vramledger.report.sizing_failing import failing_lines
from vramledger.report.sizing_headline import choice_lines, verdict
from vramledger.report.sizing_simulated import simulated_lines
from vramledger.report.table import table
from vramledger.sizing.candidate import Candidate, CardResult, Holding, Margin, Sizing
from vramledger.sizing.failing import SIMULATION

_HEAD: Final = (
    "card", "GPUs", "layout", "precision", "KV tokens", "held p50/p95/p99", "idle", "per hour",
    "memory", "speed", "queue",
)  # fmt: skip
_RIGHT: Final = frozenset({1, 4, 6, 7})
_PER_HOUR: Final = 7
_FEW: Final = 6  # cards up to which every choice is shown and explained
_ROWS_A_CARD: Final = 3
_MOST_CARDS: Final = 25  # fitting cards in one table
_DO_NOT_SERVE: Final = "Cards that hold it and do not serve it in the simulation:"
_DO_NOT_HOLD: Final = "Cards that do not hold it:"
_CAP: Final = " (cap)"
_NAMES: Final = 6  # names of failing cards told for one rule


def to_text(sizing: Sizing) -> str:
    """The whole answer as lines of text, no colour."""
    fitting = [card for card in sizing.cards if card.best is not None]
    failing = [card for card in sizing.cards if card.best is None]
    few = len(sizing.cards) <= _FEW
    unmet = [f"DOES NOT HOLD: {sentence}" for sentence in sizing.unmet]
    warned = [f"WARNING: {sentence}" for sentence in sizing.warnings]
    lines = [*unmet, verdict(sizing), *choice_lines(sizing), *warned, *sizing.notes]
    if fitting:
        shown = fitting[:_MOST_CARDS]
        lines += ["", *_table(shown, _ROWS_A_CARD if few else 1, _money(sizing))]
        lines += _left_out(len(fitting) - len(shown))
    if few:
        for card in fitting:
            lines += ["", *_explained(card, sizing.currency)]
    elif fitting:
        lines += ["", "Add --gpu NAME for a card's launch command, margins and other layouts."]
    if sizing.limits is not None:
        lines += ["", *limits_text(sizing.limits)]
    lines += failing_lines(fitting)
    slow = [card for card in failing if any(c.fits for c in card.candidates)]
    small = [card for card in failing if card not in slow]
    for title, some in ((_DO_NOT_SERVE, slow), (_DO_NOT_HOLD, small)):
        if some:
            lines += ["", title, *(f"  {line}" for line in (_each(some) if few else _summed(some)))]
    return "\n".join(lines)


def _left_out(more: int) -> list[str]:
    noun = "card holds" if more == 1 else "cards hold"
    return [f"{more} more {noun} it; --json lists them all."] if more > 0 else []


def _money(sizing: Sizing) -> str | None:
    """The heading of the price column, None where no price was given."""
    priced = any(c.price_per_hour is not None for card in sizing.cards for c in card.candidates)
    return f"{sizing.currency} per hour".strip() if priced else None


def _table(cards: Sequence[CardResult], rows_a_card: int, money: str | None) -> list[str]:
    rows = [_row(c) for card in cards for c in _shown(card, rows_a_card)]
    head = tuple(money or "" if i == _PER_HOUR else name for i, name in enumerate(_HEAD))
    if money is not None:
        return [*table(head, rows, _RIGHT), *_legend(rows)]
    kept = [i for i in range(len(head)) if i != _PER_HOUR]
    right = frozenset(kept.index(i) for i in _RIGHT if i != _PER_HOUR)
    shown = table([head[i] for i in kept], [[row[i] for i in kept] for row in rows], right)
    return [*shown, *_legend(rows)]


def _shown(card: CardResult, most: int) -> list[Candidate]:
    """The best of every precision that fits, then the next best up to `most` rows."""
    fitting = [c for c in card.candidates if c.fits]
    if most == 1:
        return fitting[:1]
    firsts = _best_of_each_precision(fitting)
    kept = [*firsts, *(c for c in fitting if c not in firsts)][: max(most, len(firsts))]
    return [c for c in fitting if c in kept]


def _best_of_each_precision(fitting: Sequence[Candidate]) -> list[Candidate]:
    found: dict[str, Candidate] = {}
    for candidate in fitting:
        found.setdefault(candidate.precision.label, candidate)
    return list(found.values())


def _row(c: Candidate) -> tuple[str, ...]:
    tightest = c.tightest
    return (
        c.accelerator.name,
        span(c.gpus_low, c.gpus, c.gpus_high),
        c.placed,
        c.precision.label,
        f"{c.kv_tokens.value:,.0f}" if c.kv_tokens else "",
        _counts(tightest, c.cap) if tightest else "",
        f"{c.idle_share:.0%}" if c.idle_share is not None else "-",
        f"{c.price_per_hour:.2f}" if c.price_per_hour is not None else "",
        c.memory,
        c.speed,
        c.queue,
    )


def _counts(holding: Holding, cap: int | None) -> str:
    """``256/256 (cap)/201``: the mark stands behind the last count that the limit of sequences decides."""
    capped = [cap is not None and count >= cap for count in holding.held.values()]
    last = max((place for place, at_cap in enumerate(capped) if at_cap), default=None)
    said = (f"{n}{_CAP if at == last else ''}" for at, n in enumerate(holding.held.values()))
    return "/".join(said)


def _legend(rows: Sequence[Sequence[str]]) -> list[str]:
    """What marks in the table mean, where there are any."""
    capped = any(cell.count(_CAP) for row in rows for cell in row)
    return ["(cap): --max-num-seqs decides, not memory."] if capped else []


def _layout(c: Candidate) -> str:
    return c.placed.rpartition(" x ")[0]


def _explained(card: CardResult, currency: str) -> list[str]:
    best = card.best
    if best is None:
        return []
    return [
        f"{card.accelerator.name}: {best.reason}",
        *_decided(best),
        f"  launch: {best.launch}",
        *_where(best),
        *simulated_lines(best),
        *_waste(best),
        f"  margins and the GPUs each costs: {'; '.join(_margin(m) for m in best.margins)}",
        *([f"  {_price(best, currency)}"] if best.price_per_hour is not None else []),
        *(f"  owes evidence: {sentence}" for sentence in best.quality),
        *(f"  note: {sentence}" for sentence in best.notes),
        *_smaller(card),
        *_other_precisions(card, best),
        *_not_recommended(card),
    ]


def _not_recommended(card: CardResult) -> list[str]:
    """What fits in memory and fails in the simulation."""
    return [
        f"  not recommended: {c.placed}, {c.precision.label}: {c.reason}"
        for c in card.candidates
        if c.fits and not c.recommended
    ]


def _decided(best: Candidate) -> list[str]:
    """Which of several scenarios is the stricter, where they are views of the same load."""
    tightest = best.tightest
    if tightest is None or len(best.holdings) < 2:
        return []
    others = [h for h in best.holdings if h is not tightest]
    told = "; ".join(f"{h.peak} needs {_filled(h)}" for h in others)
    return [f"  decided by {tightest.peak}, which needs {_filled(tightest)}; {told}"]


def _filled(holding: Holding) -> str:
    many = "s" if holding.replicas != 1 else ""
    return f"{holding.replicas} replica{many}, {holding.load_share / holding.replicas:.0%} filled"


def _other_precisions(card: CardResult, best: Candidate) -> list[str]:
    """One line for the best choice of every other precision."""
    others = _best_of_each_precision([c for c in card.candidates if c.fits])
    return [
        f"  {c.precision.label}: {c.gpus} GPU{'s' if c.gpus > 1 else ''}: {c.launch}"
        for c in others
        if c.precision != best.precision
    ]


def _where(c: Candidate) -> list[str]:
    """Server and links of one replica."""
    if c.link is None:
        return []
    basis = "" if c.link.basis == "quoted" else f" ({c.link.basis}: {c.link.source})"
    many = "s" if c.replicas > 1 else ""
    lines = [f"  server: {c.servers} x ({c.link.server}) for {c.replicas} replica{many}{basis}"]
    if c.layout.world > 1:
        speed = f", {c.link.gb_s:,.0f} GB/s a direction" if c.link.gb_s else ""
        kib = c.communication_bytes / 1024
        lines.append(
            f"  sent between GPUs: {kib:,.0f} KiB a token and GPU over {c.link.kind}{speed}"
        )
    return lines


def _waste(c: Candidate) -> list[str]:
    lines = []
    if c.kv_waste_gib >= 0.05:
        lines.append(
            f"  KV held more than once: {c.kv_waste_gib:.1f} GiB a replica, because there are more "
            "ranks than KV heads"
        )
    if c.weights_waste_gib >= 0.05:
        lines.append(
            f"  weights held more than once or padded: {c.weights_waste_gib:.1f} GiB a replica"
        )
    return lines


def _margin(margin: Margin) -> str:
    return f"{margin.name} {margin.gpus}"


def _price(c: Candidate, currency: str) -> str:
    return f"price: {currency} {c.price_per_hour:,.2f} an hour".replace("  ", " ")


def _smaller(card: CardResult) -> list[str]:
    smaller = card.smaller
    if smaller is None:
        return []
    lines = [f"  smaller fails: {smaller.what}: {smaller.reason}"]
    if smaller.remedies:
        lines.append(f"  would make it fit: {', or '.join(smaller.remedies)}")
    return lines


def _each(failing: Sequence[CardResult]) -> list[str]:
    """Every card with the sentence that forbids its nearest choice."""
    lines = []
    for card in failing:
        nearest = card.nearest
        remedies = card.smaller.remedies if card.smaller else ()
        mend = f" Would make it fit: {', or '.join(remedies)}." if remedies else ""
        reason = nearest.reason if nearest else "No layout was left to try."
        what = f" ({_layout(nearest)})" if nearest and nearest.rule != "platform" else ""
        lines.append(f"{card.accelerator.name}{what}: {reason}{mend}")
    return lines


def _summed(failing: Sequence[CardResult]) -> list[str]:
    """Failing cards by the rule that forbids their nearest choice, most cards first."""
    by_rule: dict[str, list[str]] = {}
    for card in failing:
        rule = (card.nearest.rule or SIMULATION) if card.nearest else "layout"
        by_rule.setdefault(rule, []).append(card.accelerator.name)
    ordered = sorted(by_rule.items(), key=lambda item: -len(item[1]))
    return [f"{len(names)} by {rule}: {_listed(names)}" for rule, names in ordered]


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_NAMES])
    more = len(names) - _NAMES
    return f"{shown} and {more} more" if more > 0 else shown
