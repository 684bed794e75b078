"""The controlled test: two runs of one load that differ in max_num_seqs, and whether fewer tokens were computed twice.

Preemptions are those that requests or pages tell. Recomputed tokens are those of the requests, which a simulation tells; vLLM's pages do not
count them, and a trial is judged by its preemptions.
"""

from math import isnan
from typing import Final

import numpy as np

from vramledger.diagnose.evidence import Evidence
from vramledger.diagnose.seen.waiting import waiting_of
from vramledger.frozen import frozen

_FELL: Final = 0.8  # of what it was
_FEWEST: Final = 5  # preemptions, fewer of which tell nothing
_ALIKE: Final = 0.1  # of the number of requests and of their tokens


@frozen
class Side:
    """One of the two runs; NaN and None for what nobody told."""

    max_num_seqs: int | None
    requests: int
    prompt_tokens: float
    preemptions: float
    recomputed_tokens: float
    ttft_mean_s: float
    longest_preempted: (
        float  # mean prompt tokens of the requests that were preempted over those of all
    )


@frozen
class Controlled:
    """The test. `fell` is None where it cannot be said; `reason` is a sentence either way."""

    before: Side
    after: Side
    fell: bool | None
    reason: str


def controlled(evidence: Evidence, against: Evidence) -> Controlled:
    """The run, and the one that did what was proposed."""
    before, after = side_of(evidence), side_of(against)
    fell, reason = _said(before, after)
    return Controlled(before, after, fell, reason)


def side_of(evidence: Evidence) -> Side:
    """What of a run the test looks at."""
    requests = evidence.requests
    lost = np.nan_to_num(requests["preemptions"]) > 0
    recomputed = requests["recomputed_tokens"]
    tokens = requests.input_tokens
    ttft = requests.ttft_s[np.isfinite(requests.ttft_s)]
    return Side(
        max_num_seqs=evidence.setting.max_num_seqs,
        requests=len(requests),
        prompt_tokens=float(np.nansum(tokens)),
        preemptions=waiting_of(evidence).preemptions,
        recomputed_tokens=float(np.nansum(recomputed)) if np.isfinite(recomputed).any() else np.nan,
        ttft_mean_s=float(ttft.mean()) if len(ttft) else np.nan,
        longest_preempted=float(np.nanmean(tokens[lost]) / np.nanmean(tokens))
        if lost.any()
        else np.nan,
    )


def _said(before: Side, after: Side) -> tuple[bool | None, str]:
    if not _alike(before, after):
        return (
            None,
            "The two runs did not have the same load, so that what differs cannot be laid to max_num_seqs.",
        )
    if (
        before.max_num_seqs is None
        or after.max_num_seqs is None
        or after.max_num_seqs >= before.max_num_seqs
    ):
        return None, "The second run did not lower max_num_seqs, so that it is no test of that."
    name, first, second = "recomputed tokens", before.recomputed_tokens, after.recomputed_tokens
    if isnan(first) or isnan(second):
        name, first, second = "preemptions", before.preemptions, after.preemptions
    if isnan(first) or isnan(second):
        return None, "Neither preemptions nor recomputed tokens were counted in both runs."
    if before.preemptions < _FEWEST:
        return (
            None,
            f"The first run had {before.preemptions:.0f} preemptions, too few to see them fall.",
        )
    fell = second <= _FELL * first
    verb = "fell" if fell else "did not fall"
    return (
        fell,
        f"With max_num_seqs {after.max_num_seqs} in place of {before.max_num_seqs}, {name} {verb}: from {first:,.0f} to {second:,.0f}.",
    )


def _alike(before: Side, after: Side) -> bool:
    pairs = ((before.requests, after.requests), (before.prompt_tokens, after.prompt_tokens))
    return all(first > 0 and abs(second - first) <= _ALIKE * first for first, second in pairs)
