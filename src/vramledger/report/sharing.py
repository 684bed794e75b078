"""Layouts over a number of GPUs, and two engines on the same ones, as text and as JSON."""

from collections.abc import Sequence
from typing import Any, Final

from vramledger.ledger.cotenancy import Turn
from vramledger.ledger.layouts import Spread
from vramledger.report.number import rounded
from vramledger.report.table import table

Json = dict[str, Any]
_ORDER: Final = (
    "Start the second only when the first serves: memory that changes on a GPU while an engine "
    "profiles is charged to it, or stops it."
)


def layouts_text(found: Sequence[Spread]) -> str:
    legal = [spread for spread in found if spread.legal]
    head = ("layout", "fits", "idle GPUs", "weights", "KV", "KV tokens", "requests held")
    lines = table(head, [_row(spread) for spread in legal], frozenset(range(2, 7)))
    short = [spread for spread in legal if not spread.fits]
    if short:
        lines += ["", "What does not fit:", *(f"  {s.name}: {s.reason}" for s in short)]
    refused = [spread for spread in found if not spread.legal]
    if refused:
        lines += ["", "Refused:", *(f"  {s.name}: {s.reason}" for s in refused)]
    lines += ["", "GiB on the tightest rank; tokens per replica, requests over all replicas."]
    return "\n".join(lines)


def _row(spread: Spread) -> tuple[str, ...]:
    sizes = ["" if size is None else f"{size:.2f}" for size in (spread.weights_gib, spread.kv_gib)]
    counts = ["" if count is None else f"{count:,}" for count in (spread.tokens, spread.held)]
    return (spread.name, "yes" if spread.fits else "no", str(spread.idle_gpus), *sizes, *counts)


def layouts_json(found: Sequence[Spread]) -> Json:
    return {
        "schema": "vramledger.layouts/1",
        "layouts": [
            {
                "tp": spread.tp,
                "pp": spread.pp,
                "dp": spread.dp,
                "idle_gpus": spread.idle_gpus,
                "legal": spread.legal,
                "fits": spread.fits,
                "reason": spread.reason,
                "weights_gib": rounded(spread.weights_gib),
                "kv_gib": rounded(spread.kv_gib),
                "kv_tokens": spread.tokens,
                "requests_held": spread.held,
            }
            for spread in found
        ],
    }


def together_text(turns: Sequence[Turn]) -> str:
    lines = []
    for turn in turns:
        lines += [f"{_verdict(turn)}: {turn.sentence}", f"  {_said(turn)}"]
    return "\n".join([*lines, "", _ORDER])


def _verdict(turn: Turn) -> str:
    if turn.holds:
        return "HOLDS"
    return "STARTS BUT DOES NOT HOLD" if turn.starts else "DOES NOT START"


def _said(turn: Turn) -> str:
    fractions = turn.fractions
    if fractions is None and turn.holds:
        return "As given they hold; no smaller pair of utilizations was found."
    if fractions is None:
        return "No other pair of utilizations holds both in this order either."
    meaning = (
        "cumulative here: this version counts the first engine's memory as the second's own"
        if fractions.cumulative
        else "a share of the whole GPU for itself: this version counts only its own memory"
    )
    return (
        f"The smallest that hold: --gpu-memory-utilization {fractions.first:.2f} for the first, "
        f"{fractions.second:.2f} for the second ({meaning})."
    )


def together_json(turns: Sequence[Turn]) -> Json:
    return {
        "schema": "vramledger.beside/1",
        "orders": [
            {
                "first": turn.first.deployment.model.id,
                "starts": turn.starts,
                "holds": turn.holds,
                "reason": turn.sentence,
                "held_by_first_gib": rounded(turn.held_gib),
                "first_utilization": turn.fractions.first if turn.fractions else None,
                "second_utilization": turn.fractions.second if turn.fractions else None,
                "second_is_cumulative": turn.fractions.cumulative if turn.fractions else None,
            }
            for turn in turns
        ],
    }
