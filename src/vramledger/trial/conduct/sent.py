"""Measured requests as other load generators count them: every time from when a request was sent."""

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from vramledger.frozen import frozen
from vramledger.record.outcome import Outcome
from vramledger.record.run import Run
from vramledger.trial.conduct.latencies import Measured, measured

if TYPE_CHECKING:
    import numpy as np

    Floats = np.ndarray[Any, np.dtype[np.float64]]
    Booleans = np.ndarray[Any, np.dtype[np.bool_]]

_NS: Final = 1_000_000_000


@frozen
class Sent:
    """Arrays of one length, a request each, NaN where a figure is not defined; seconds and tokens.

    `tpot_s` leaves out the first token, `normalized_tpot_s` is the time from sending to the last token over all of them.
    `latency_s` ends when the response does, `to_last_s` with its last token.
    """

    found: Measured
    ttft_s: "Floats"
    first_answer_s: "Floats"
    latency_s: "Floats"
    to_last_s: "Floats"
    tpot_s: "Floats"
    normalized_tpot_s: "Floats"
    input_tokens: "Floats"
    output_tokens: "Floats"

    def of(self, *outcomes: Outcome) -> "Booleans":
        """Which requests ended so."""
        import numpy as np

        chosen: Booleans = np.isin(self.found.outcome, [each.value for each in outcomes])
        return chosen

    @property
    def tokens_per_s(self) -> "Floats":
        """One over `tpot_s`; not defined where that is 0."""
        import numpy as np

        return 1 / np.where(self.tpot_s > 0, self.tpot_s, np.nan)

    @property
    def success_s(self) -> float | None:
        """From the first success sent to the last token of one; None where there is none."""
        import numpy as np

        ok = self.of(Outcome.OK)
        start, last = (self.found.columns[name][ok] for name in ("dispatched_s", "last_content_s"))
        if np.isnan(start).all() or np.isnan(last).all():
            return None
        return float(np.nanmax(last) - np.nanmin(start))


def sent(run: Run) -> Sent:
    """The measured requests of a run.

    Raises:
        BadInput: the table is damaged.
    """
    import numpy as np

    found = measured(run)
    columns = found.columns
    start, last = columns["dispatched_s"], columns["last_content_s"]
    tokens = columns["output_tokens_got"]
    more = np.where(tokens >= 2, tokens - 1, np.nan)
    return Sent(
        found=found,
        ttft_s=columns["first_content_s"] - start,
        first_answer_s=columns["first_answer_s"] - start,
        latency_s=columns["done_s"] - start,
        to_last_s=last - start,
        tpot_s=(last - columns["first_content_s"]) / more,
        normalized_tpot_s=(last - start) / np.where(tokens >= 1, tokens, np.nan),
        input_tokens=columns["input_tokens_got"],
        output_tokens=tokens,
    )


class WallClock:
    """The wall clock at moments of a run, in nanoseconds and seconds since 1970."""

    def __init__(self, run: Run) -> None:
        told = run.description.clock.wall_at_zero
        self._zero_ns = 0 if told is None else _nanoseconds(told)

    def ns(self, t_s: float | None) -> int | None:
        """Of a moment of the run."""
        return None if t_s is None else self._zero_ns + round(t_s * _NS)

    def s(self, t_s: float | None) -> float | None:
        """Of a moment of the run."""
        return None if t_s is None else self._zero_ns / _NS + t_s


def rows(run: Run) -> Iterator[dict[str, Any]]:
    """The measured requests one by one, by the columns of requests.parquet."""
    for batch in run.requests.batches(rows=1_024):
        for row in batch.to_pylist():
            if row["row"] is not None:
                yield row


def _nanoseconds(moment: str) -> int:
    return round(datetime.fromisoformat(moment).timestamp() * 1e6) * 1_000
