"""Decode bound by memory bandwidth: nobody waits, and each token takes long because weights and KV cache are read for it."""

from collections.abc import Sequence
from math import isnan

from vramledger.diagnose.hypothesis import Cause, NextChange
from vramledger.diagnose.picture import Picture, slow_first_tokens
from vramledger.diagnose.sign import Sign, both, ramp
from vramledger.units import format_seconds


def _signs(picture: Picture) -> Sequence[Sign]:
    stages = picture.stages
    return (
        _slow(picture),
        _nobody_waits(picture),
        _engine_alone(stages.tpot_ratio),
        _decodes(picture),
        _busy(picture),
    )


def _slow(picture: Picture) -> Sign:
    tpot = picture.stages.tpot_s
    if isnan(tpot):
        return Sign("The time per output token was not seen.", None, needed=True)
    if not isnan(picture.evidence.slow.tpot):
        ratio = picture.evidence.slow.tpot
        text = f"A token of an answer takes {format_seconds(tpot)} on average; against the contract it is {ratio:.2f} times what is allowed."
        return Sign(text, ramp(ratio, 0.9, 1.05), needed=True)
    slow = (0.2, 0.5) if picture.evidence.setting.gpu == "cpu" else (0.05, 0.08)
    return Sign(
        f"A token of an answer takes {format_seconds(tpot)}.", ramp(tpot, *slow), needed=True
    )


def _nobody_waits(picture: Picture) -> Sign:
    waits = picture.waiting.waits
    if isnan(waits):
        return _as_expected(picture)
    return Sign(f"Requests wait {waits:.0%} of the time.", ramp(waits, 0.5, 0.15), needed=True)


def _as_expected(picture: Picture) -> Sign:
    """Without the engine's own figures: whether tokens take as long as the simulator has them for this load, and first tokens come soon."""
    pace = picture.expected_pace
    if isnan(pace):
        return Sign("The engine's queue was not seen, and no simulation says what its tokens should take.", None, needed=True)  # fmt: skip
    text = f"The engine's queue was not seen; a token takes {pace:.2f} times what the simulator expects of this load."
    alike = both(ramp(pace, 0.3, 0.6), ramp(pace, 1.8, 1.4))
    return Sign(text, both(alike, 0.0 if slow_first_tokens(picture) else 1.0), needed=True)


def _engine_alone(ratio: float) -> Sign:
    if isnan(ratio):
        return Sign("The engine's own time per token was not seen beside the client's.", None)
    return Sign(
        f"The client's time per token is {ratio:.2f} times the engine's.", ramp(ratio, 1.4, 1.1)
    )


def _decodes(picture: Picture) -> Sign:
    requests = picture.evidence.requests
    import numpy as np

    if not len(requests):
        return _decodes_by_pages(picture)
    whole = requests["done_s"] - requests["due_s"]
    share = np.nanmedian((whole - requests.ttft_s) / whole) if np.isfinite(whole).any() else np.nan
    if isnan(share):
        return Sign("The share of decoding in the time of a request was not seen.", None)
    return Sign(f"Decoding is {share:.0%} of a request's time.", ramp(float(share), 0.5, 0.85))


def _decodes_by_pages(picture: Picture) -> Sign:
    """Of a server alone, by what it counted of requests that ended."""
    evidence = picture.evidence
    share = evidence.mean("server_decode_s") / evidence.mean("server_e2e_s")
    if isnan(share):
        return Sign("The share of decoding in the time of a request was not seen.", None)
    return Sign(f"Decoding is {share:.0%} of a request's time.", ramp(share, 0.5, 0.85))


def _busy(picture: Picture) -> Sign:
    busy = picture.evidence.mean("gpu_utilization")
    if isnan(busy):
        return Sign("The GPU's utilisation was not seen.", None, weight=0.5)
    return Sign(f"The GPU is busy {busy:.0%} of the time.", ramp(busy, 0.4, 0.85), weight=0.5)


def _change(picture: Picture) -> NextChange:
    del picture
    return NextChange(
        "Read fewer bytes a token: smaller weights (FP8), a smaller KV element, a larger tensor-parallel size, or a card of more bandwidth; more "
        "memory alone changes nothing here."
    )


CAUSE = Cause("D04", "decode_bandwidth", "Decode bound by memory bandwidth", _signs, _change)
