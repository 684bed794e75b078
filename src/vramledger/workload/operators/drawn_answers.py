"""Answers for requests that got none where the log was written: they are a load all the same.

Each takes the answer of another request whose prompt falls into the same bin of lengths (`workload.profile.bins`), or of
any request where the bin has no answer. The mean of such draws is what a plan gives them (`plan.recorded_lengths`).
"""

from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from vramledger.workload.operators.draws import generator
from vramledger.workload.profile.bins import EDGES

if TYPE_CHECKING:
    Integers: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]

_STREAM: Final = 7  # of the seed


def with_answers(input_tokens: "Integers", output_tokens: "Integers", seed: int) -> "Integers":
    """The outputs with a drawn one wherever there is none; at least one must be there."""
    answered = output_tokens >= 1
    if answered.all():
        return output_tokens
    bins = np.searchsorted(EDGES, input_tokens, side="right")
    order = np.argsort(bins[answered], kind="stable")
    answers, of_bins = output_tokens[answered][order], bins[answered][order]
    asked = bins[~answered]
    first = np.searchsorted(of_bins, asked, side="left")
    last = np.searchsorted(of_bins, asked, side="right")
    alone = first == last
    first[alone], last[alone] = 0, len(answers)
    draws = generator(seed, _STREAM).random(len(asked))
    found = output_tokens.copy()
    found[~answered] = answers[first + (draws * (last - first)).astype(np.int64)]
    return found
