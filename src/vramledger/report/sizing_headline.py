"""The first lines of a sizing: how many cards hold and serve it, and which of them to take."""

from typing import Final

from vramledger.sizing.candidate import Candidate, Sizing

_MOST_CARDS: Final = 6  # whose GPUs are told in one line


def verdict(sizing: Sizing) -> str:
    """Whether the requirement is held, by how many cards, and what was checked."""
    if sizing.weights_unknown is not None:
        return f"CANNOT KNOW: {sizing.weights_unknown} With those: {_held(sizing)}"
    return _held(sizing)


def choice_lines(sizing: Sizing) -> list[str]:
    """One line on what to take of several cards: the cheapest, or the GPUs of each without prices."""
    serving = sizing.serving
    if len(serving) < 2:
        return []
    how = "hold and serve it (simulated)" if sizing.simulated else "hold it"
    best = sizing.cheapest
    if best is not None:
        money = f"{sizing.currency} {best.price_per_hour:,.2f} an hour".strip()
        unpriced = [c.accelerator.name for c in serving if c.price_per_hour is None]
        left_out = f"; no price: {', '.join(unpriced)}" if unpriced else ""
        return [
            f"Cheapest of {len(serving)} cards that {how}: {_gpus(best)}, {money}, {best.placed}{left_out}."
        ]
    if not sizing.simulated or len(serving) > _MOST_CARDS:
        return []
    each = ", ".join(map(_gpus, serving))
    return [f"Fewest GPUs that {how}, by card: {each}; --price CARD=N/h compares cards."]


def _gpus(c: Candidate) -> str:
    return f"{c.gpus} x {c.accelerator.name}"


def _held(sizing: Sizing) -> str:
    rest = "the rest: " if sizing.unmet else ""
    what = f"{rest}{sizing.model} with requests of up to {sizing.max_model_len:,} tokens"
    asked, serving = len(sizing.cards), len(sizing.serving)
    if not serving and not sizing.fits:
        who = "the card does not hold" if asked == 1 else f"none of {asked} cards holds"
        return f"NOTHING FITS: {who} {what}. {_checked(sizing)}"
    if not serving:
        return f"{_not_served(sizing, what)} {_checked(sizing)}"
    if asked == 1:
        who = f"{sizing.cards[0].accelerator.name} holds"
    else:
        who = f"{serving} of {asked} cards hold"
    serve = (" and serves" if asked == 1 else " and serve") if sizing.simulated else ""
    return f"{who}{serve} {what}. {_checked(sizing)}"


def _not_served(sizing: Sizing, what: str) -> str:
    """What holds it in memory, where nothing is seen to serve it."""
    asked = len(sizing.cards)
    holding = [card for card in sizing.cards if any(c.fits for c in card.candidates)]
    many = f"{len(holding)} of {asked} cards {'holds' if len(holding) == 1 else 'hold'}"
    who = f"{holding[0].accelerator.name} holds" if asked == 1 else many
    if sizing.known:
        return (
            f"NOTHING SERVES IT AS AGREED: {who} {what}, and in the simulation does not serve it."
            if len(holding) == 1
            else f"NOTHING SERVES IT AS AGREED: {who} {what}, and none serves it in the simulation."
        )
    return f"CANNOT KNOW whether it is served: {who} {what}, and nothing simulated serves it for certain."


def _checked(sizing: Sizing) -> str:
    if "speed" not in sizing.checked:
        return "Memory was checked; speed and queueing were not."
    played = sum(c.played for card in sizing.cards for c in card.candidates)
    many = "candidate was" if played == 1 else "candidates were"
    return f"Memory was checked; {played} {many} SIMULATED for speed and queueing, not measured."
