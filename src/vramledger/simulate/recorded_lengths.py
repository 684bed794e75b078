"""The lengths of a stored workload, as a closed loop on a deployment would have them."""

from typing import Final

import numpy as np

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.simulate.offered import Offered
from vramledger.simulate.timing.lengths import Recorded, recorded

_MOST: Final = 10_000  # requests; of more, as many at even distances


@frozen
class Lengths:
    """`taken` of `served` requests; the engine rejects the others, or ends `cut` answers at its limit."""

    taken: Recorded
    served: int
    rejected: int
    cut: int


def recorded_lengths(offered: Offered, max_model_len: int) -> Lengths:
    """Lengths of the requests that an engine of that limit serves, answers cut at it.

    Raises:
        BadInput: it rejects all of them.
    """
    fits = offered.input_tokens < max_model_len
    prompts, outputs = offered.input_tokens[fits], offered.output_tokens[fits]
    if not len(prompts):
        raise BadInput(
            f"The engine rejects every request of the workload: no prompt leaves room below max_model_len "
            f"({max_model_len:,} tokens); raise --max-model-len."
        )
    most = max_model_len - prompts
    places = np.unique(np.linspace(0, len(prompts) - 1, min(len(prompts), _MOST)).astype(np.int64))
    kept = np.minimum(outputs, most)[places]
    return Lengths(
        recorded(prompts[places].tolist(), kept.tolist()),
        len(prompts),
        int((~fits).sum()),
        int((outputs > most).sum()),
    )
