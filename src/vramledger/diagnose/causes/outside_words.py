"""What the causes between client and engine have in common: time that passes outside the engine."""

from math import isnan

from vramledger.diagnose.picture import Picture
from vramledger.diagnose.sign import Sign, both, ramp, strongest
from vramledger.units import format_seconds

NOT_SPLIT = "Time outside the engine was not seen: neither the head of the answers nor the engine's own times were told."


def outside_sign(picture: Picture) -> Sign:
    """Whether enough time passes outside the engine to matter."""
    seen = picture.outside
    if isnan(seen.mean_s):
        return Sign(NOT_SPLIT, None, needed=True)
    text = f"Of the time to the first token, {format_seconds(max(seen.mean_s, 0.0))} ({seen.share:.0%}) pass outside the engine."
    return Sign(text, hurts(seen.mean_s, seen.share), needed=True)


def hurts(mean_s: float, share: float) -> float | None:
    """Whether so many seconds, that share of the time to the first token, matter."""
    return strongest(both(ramp(share, 0.2, 0.5), ramp(mean_s, 0.02, 0.07)), ramp(mean_s, 0.3, 1.0))


def follows_sign(picture: Picture, *, wanted: bool) -> Sign:
    """Whether that time goes with the load, or piles up and stays, as a backlog does."""
    seen = picture.outside
    found = strongest(ramp(seen.follows_load, 0.25, 0.6), ramp(seen.persists, 0.35, 0.7))
    if found is None:
        return Sign("Whether it goes with the load was not seen.", None, weight=1.5)
    text = f"It goes with the load by a rank correlation of {seen.follows_load:.2f}, and from one window to the next by {seen.persists:.2f}."
    return Sign(text, found if wanted else 1 - found, weight=1.5)


def scrape_sign(picture: Picture, *, wanted: bool, weight: float = 1.0) -> Sign:
    """Whether the server's metrics page takes as long."""
    seen = picture.outside
    if isnan(seen.scrape_s) or not seen.mean_s > 0:
        return Sign("How long a metrics page takes was not seen.", None, weight=weight)
    share = seen.scrape_s / max(seen.floor_s if not isnan(seen.floor_s) else seen.mean_s, 1e-3)
    strength = ramp(share, 0.15, 0.5) if wanted else ramp(share, 0.5, 0.15)
    return Sign(f"A metrics page takes {format_seconds(seen.scrape_s)}.", strength, weight=weight)


def cpu_sign(picture: Picture, *, wanted: bool) -> Sign:
    """Whether the front end's process is busy with a whole core, or gets too little of one to pass tokens on as they come."""
    cpu = picture.outside.cpu
    if isnan(cpu):
        return Sign("The processor time of the server's front end was not seen.", None)
    starved = both(ramp(cpu, 0.6, 0.3), ramp(picture.outside.merged, 1.2, 2.0))
    busy = strongest(ramp(cpu, 0.5, 0.85), starved) or 0.0
    text = f"The server's front end uses {cpu:.2f} cores"
    if starved:
        text += ", and tokens pile up in front of it"
    return Sign(f"{text}.", busy if wanted else 1 - busy, weight=1.5)


def one_by_one_sign(picture: Picture) -> Sign:
    """Several tokens in a chunk speak against what is not the server's own front end, which alone puts them together; one by one, they say little."""
    merged = picture.outside.merged
    strength = ramp(merged, 1.5, 1.1)
    if strength is None:
        return Sign("How many tokens a chunk holds was not seen.", None, weight=0.25)
    return Sign(f"A chunk holds {merged:.2f} tokens.", strength, weight=2.0 - 1.75 * strength)


def tokens_sign(picture: Picture, *, wanted: bool) -> Sign:
    """Whether tokens come slower, or more at once, than the engine makes them."""
    seen = picture.outside
    strength = strongest(ramp(seen.tpot_ratio, 1.05, 1.25), ramp(seen.merged, 1.02, 1.2))
    if strength is None:
        return Sign("Whether tokens come as the engine makes them was not seen.", None)
    parts = []
    if not isnan(seen.tpot_ratio):
        parts.append(
            f"a token takes {seen.tpot_ratio:.2f} times as long at the client as in the engine"
        )
    if not isnan(seen.merged):
        parts.append(f"a chunk holds {seen.merged:.2f} tokens")
    text = "; ".join(parts)
    return Sign(f"{text[0].upper()}{text[1:]}.", strength if wanted else 1 - strength)
