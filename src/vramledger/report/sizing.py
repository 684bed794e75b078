"""A sizing for a terminal: the candidate table, then each card's best choice explained."""

from typing import Final

from vramledger.report.number import span
from vramledger.report.table import table
from vramledger.sizing.candidate import Candidate, CardResult, Sizing

_HEAD: Final = (
    "card", "GPUs", "layout", "precision", "KV tokens", "held p50/p95/p99", "idle", "per hour",
    "memory", "speed", "queue",
)  # fmt: skip
_RIGHT: Final = frozenset({1, 4, 6, 7})
_MOST_ROWS_A_CARD: Final = 3


def to_text(sizing: Sizing) -> str:
    """The whole answer as lines of text, no colour."""
    fitting = [card for card in sizing.cards if card.best is not None]
    failing = [card for card in sizing.cards if card.best is None]
    lines = [_verdict(sizing, len(fitting))]
    lines += sizing.notes
    if fitting:
        rows = [_row(c) for card in fitting for c in _shown(card)]
        lines += ["", *table(_HEAD, rows, _RIGHT)]
    for card in fitting:
        lines += ["", *_explained(card)]
    if failing:
        lines += ["", "Cards that do not hold it:"]
        lines += [f"  {_failure(card)}" for card in failing]
    return "\n".join(lines)


def _verdict(sizing: Sizing, fitting: int) -> str:
    what = f"{sizing.model} with requests of up to {sizing.max_model_len:,} tokens"
    if not fitting:
        return f"NOTHING FITS: no card asked about holds {what}."
    cards = "card holds" if fitting == 1 else "cards hold"
    return (
        f"{fitting} of {len(sizing.cards)} {cards} {what}. Memory was checked; speed and queueing "
        "were not."
    )


def _shown(card: CardResult) -> list[Candidate]:
    return [c for c in card.candidates if c.fits][:_MOST_ROWS_A_CARD]


def _row(c: Candidate) -> tuple[str, ...]:
    layout = f"TP{c.layout.tp}" + (f" PP{c.layout.pp}" if c.layout.pp > 1 else "")
    tokens = f"{c.kv_tokens.value:,.0f}" if c.kv_tokens else ""
    tightest = max(c.holdings, key=lambda holding: holding.replicas)
    held = "/".join(f"{count}" for count in tightest.held.values())
    return (
        c.accelerator.name,
        span(c.gpus_low, c.gpus, c.gpus_high),
        f"{layout} x {c.replicas}",
        c.precision.label,
        tokens,
        held,
        f"{c.idle_share:.0%}" if c.idle_share is not None else "",
        f"{c.price_per_hour:.2f}" if c.price_per_hour is not None else "",
        c.memory,
        c.speed,
        c.queue,
    )


def _explained(card: CardResult) -> list[str]:
    best = card.best
    if best is None:
        return []
    lines = [f"{card.accelerator.name}: {best.reason[0].upper()}{best.reason[1:]}"]
    lines.append(f"  launch: {best.launch}")
    lines.append(f"  server: {best.servers} x ({best.server})")
    if best.layout.world > 1:
        kib = best.communication_bytes / 1024
        lines.append(f"  sent between GPUs: {kib:,.0f} KiB a token and GPU")
    if best.replication_waste_gib > 0:
        lines.append(
            f"  KV held more than once: {best.replication_waste_gib:.1f} GiB a replica, because "
            "there are more ranks than KV heads"
        )
    lines += [f"  margin: {_margin(m.name, m.gpus)}" for m in best.margins]
    lines += [f"  owes evidence: {sentence}" for sentence in best.quality]
    if card.smaller is not None:
        failed = card.smaller.candidate
        lines.append(f"  smaller fails: TP{failed.layout.tp} PP{failed.layout.pp}: {failed.reason}")
        if card.smaller.remedies:
            lines.append(f"  would make it fit: {', or '.join(card.smaller.remedies)}")
    return lines


def _margin(name: str, gpus: int) -> str:
    cost = "no GPU" if gpus == 0 else f"{gpus} GPU{'s' if gpus > 1 else ''}"
    return f"{name}, costs {cost}"


def _failure(card: CardResult) -> str:
    reason = card.candidates[0].reason if card.candidates else "no layout to try."
    remedies = card.smaller.remedies if card.smaller else ()
    mend = f" Would make it fit: {', or '.join(remedies)}." if remedies else ""
    return f"{card.accelerator.name}: {reason}{mend}"
