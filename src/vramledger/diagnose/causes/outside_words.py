"""What the causes between client and engine have in common: time that passes outside the engine."""

from math import isnan

from vramledger.diagnose.picture import Picture
from vramledger.diagnose.sign import Sign, both, ramp, strongest
from vramledger.units import format_seconds

NOT_SPLIT = "Time outside the engine was not seen: neither the head of the answers nor the engine's own times were told."


def outside_sign(picture: Picture) -> Sign:
    """Whether enough time passes outside the engine to matter."""
    seen = picture.outside
    late = picture.stages.late_s
    if isnan(seen.mean_s):
        return Sign(NOT_SPLIT, None, needed=True)
    del late
    hurts = strongest(
        both(ramp(seen.share, 0.2, 0.5), ramp(seen.mean_s, 0.02, 0.07)), ramp(seen.mean_s, 0.3, 1.0)
    )
    text = f"Of the time to the first token, {format_seconds(max(seen.mean_s, 0.0))} ({seen.share:.0%}) pass outside the engine."
    return Sign(text, hurts, needed=True)


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
    """Whether the front end's process is busy with a whole core."""
    cpu = picture.outside.cpu
    if isnan(cpu):
        return Sign("The processor time of the server's front end was not seen.", None)
    strength = ramp(cpu, 0.5, 0.85) if wanted else ramp(cpu, 0.85, 0.5)
    return Sign(f"The server's front end uses {cpu:.2f} cores.", strength, weight=1.5)


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
