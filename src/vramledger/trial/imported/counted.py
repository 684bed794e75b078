"""Figures of other tools over imported records: arrays of the successes, from when each was sent, in seconds."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from vramledger.frozen import frozen
from vramledger.record.outcome import Outcome
from vramledger.record.requests import RequestRecord

if TYPE_CHECKING:
    import numpy as np

    Floats = np.ndarray[Any, np.dtype[np.float64]]


@frozen
class Counted:
    """Of the requests that ended as asked, NaN where a figure is not told.

    `first_s` ends with the first token, `message_s` with the first message of any kind, a role included. `last_s` ends with the
    last token, `end_s` with the response. `tokens` are of answers, `inputs` of prompts. `gaps_s` are all times between chunks.
    """

    sent_s: "Floats"
    first_s: "Floats"
    message_s: "Floats"
    last_s: "Floats"
    end_s: "Floats"
    tokens: "Floats"
    inputs: "Floats"
    gaps_s: "Floats"

    def per_gap(self, start: "Floats") -> "Floats":
        """From `start` to the last token, over the tokens but one; not defined below two."""
        import numpy as np

        return (self.last_s - start) / np.where(self.tokens >= 2, self.tokens - 1, np.nan)

    @property
    def span_s(self) -> float:
        """From the first one sent to the last token of one; NaN where there is none."""
        import numpy as np

        ends = self.sent_s + self.last_s
        told = ~np.isnan(ends)
        if not told.any():
            return float("nan")
        return float(ends[told].max() - self.sent_s[told].min())


def counted(records: Sequence[RequestRecord]) -> Counted:
    """The figures of records; those of a warm-up, which have no row, are left out."""
    import numpy as np

    ok = [each for each in records if each.outcome is Outcome.OK and each.row is not None]

    def since_sent(moments: Iterable[float | None]) -> "Floats":
        return _array(moments) - sent

    sent = _array(each.dispatched_s for each in ok)
    first = [each.first_content_s for each in ok]
    roles = [each.first_role_s for each in ok]
    return Counted(
        sent_s=sent,
        first_s=since_sent(first),
        message_s=since_sent(a if a is not None else b for a, b in zip(roles, first, strict=True)),
        last_s=since_sent(each.last_content_s for each in ok),
        end_s=since_sent(each.done_s for each in ok),
        tokens=_array(each.output_tokens_got for each in ok),
        inputs=_array(each.input_tokens_got for each in ok),
        gaps_s=np.asarray(
            [(b - a) / 1e6 for each in ok for a, b in pairwise(each.chunk_offset_us or ())], float
        ),
    )


def _array(values: Iterable[float | None]) -> "Floats":
    import numpy as np

    return np.asarray([np.nan if each is None else each for each in values], dtype=np.float64)
