"""A warm prefix cache: prompts were served before, so that the figures flatter the server."""

from collections.abc import Sequence
from math import isnan

import numpy as np

from vramledger.diagnose.hypothesis import Cause, NextChange
from vramledger.diagnose.picture import Picture
from vramledger.diagnose.sign import Sign, ramp, strongest

_WHOLE = 0.85  # of a prompt: all but its last block
_LEAST = 48  # tokens, below which a block or two is all of it


def _signs(picture: Picture) -> Sequence[Sign]:
    return (_whole(picture), _sessions(picture), _repeated(picture), _hits(picture))


def _overall(picture: Picture) -> float:
    """The share of prompt tokens that were in the cache: by the requests, else by the server's counters."""
    evidence = picture.evidence
    requests = evidence.requests
    told = np.isfinite(requests["cached_tokens"]) & np.isfinite(requests.input_tokens)
    if told.any():
        return float(
            requests["cached_tokens"][told].sum() / max(requests.input_tokens[told].sum(), 1.0)
        )
    for hits, all_of in (
        ("prefix_hits_per_s", "prefix_queries_per_s"),
        ("prompt_tokens_cached_per_s", "prompt_tokens_per_s"),
    ):
        found, whole = evidence.of(hits), evidence.of(all_of)
        both = np.isfinite(found) & np.isfinite(whole)
        if both.any() and whole[both].sum() > 0:
            return float(found[both].sum() / whole[both].sum())
    return float("nan")


def _share_whole(picture: Picture) -> float:
    """The share of requests of which nearly all of the prompt was there."""
    requests = picture.evidence.requests
    share = requests.cached_share
    told = np.isfinite(share) & (requests.input_tokens >= _LEAST)
    return float((share[told] >= _WHOLE).mean()) if told.any() else float("nan")


def _whole(picture: Picture) -> Sign:
    each, overall = _share_whole(picture), _overall(picture)
    strength = ramp(each, 0.15, 0.5) if not isnan(each) else ramp(overall, 0.55, 0.8)
    if strength is None:
        return Sign("What the prefix cache had was not seen.", None, needed=True)
    text = f"{overall:.0%} of the prompt tokens were in the prefix cache"
    text += (
        f"; of {each:.0%} of the requests it was nearly the whole prompt."
        if not isnan(each)
        else "."
    )
    return Sign(text, strength, needed=True)


def _sessions(picture: Picture) -> Sign:
    """Turns of a conversation find their beginning again by right."""
    session = picture.evidence.requests["session"]
    told = session[np.isfinite(session)]
    if not len(session):
        return Sign("The requests were not seen.", None)
    later = 1 - len(np.unique(told)) / len(told) if len(told) else 0.0
    return Sign(
        f"{later:.0%} of the requests are later turns of a conversation.",
        ramp(later, 0.6, 0.2),
        weight=2.0,
        needed=True,
    )


def _repeated(picture: Picture) -> Sign:
    rows = picture.evidence.requests["row"]
    told = rows[np.isfinite(rows)]
    if not len(told):
        return Sign("Which row of the workload a request is was not told.", None, weight=0.5)
    again = 1 - len(np.unique(told)) / len(told)
    return Sign(
        f"{again:.0%} of the requests repeat a row of the workload.",
        strongest(ramp(again, 0.0, 0.3), 0.4),
        weight=0.5,
    )


def _hits(picture: Picture) -> Sign:
    """Whether time to the first token no longer rises with the prompt."""
    from scipy.stats import spearmanr

    requests = picture.evidence.requests
    told = np.isfinite(requests.ttft_s) & np.isfinite(requests.input_tokens)
    if told.sum() < 20 or np.ptp(requests.input_tokens[told]) == 0:
        return Sign("Whether long prompts still take longer was not seen.", None, weight=0.5)
    found = float(spearmanr(requests.ttft_s[told], requests.input_tokens[told]).statistic)
    if isnan(found):
        return Sign("Whether long prompts still take longer was not seen.", None, weight=0.5)
    return Sign(
        f"Time to the first token goes with the length of the prompt by a rank correlation of {found:.2f}.",
        ramp(found, 0.8, 0.3),
        weight=0.5,
    )


def _change(picture: Picture) -> NextChange:
    del picture
    return NextChange(
        "Reset the prefix cache before the run (vram trial run --cold), or send prompts of another seed, and compare."
    )


CAUSE = Cause("D14", "warm_prefix_cache", "Warm prefix cache", _signs, _change, harms=False)
