"""The part of a trial that exports are about."""

from typing import TYPE_CHECKING, Any

from vramledger.frozen import frozen
from vramledger.trial.conduct.over_time import Span
from vramledger.trial.conduct.sent import Sent
from vramledger.trial.conduct.summary import Summary

if TYPE_CHECKING:
    import numpy as np

    Floats = np.ndarray[Any, np.dtype[np.float64]]


@frozen
class Window:
    """Seconds of the run: the load was played from `began_s` to `ended_s`.

    `span` is from the first request sent to the last that ended, or to the last token after it; `ends_s` is when each
    request ended, or the run did before it.
    """

    began_s: float
    ended_s: float
    span: Span
    ends_s: "Floats"


def window_of(found: Summary, figures: Sent) -> Window:
    """The window of a trial; empty where nothing was sent."""
    import numpy as np

    spans = found.story.spans
    sent, done, token = (
        figures.found.columns[name] for name in ("dispatched_s", "done_s", "last_content_s")
    )
    began = spans[0].from_s if spans else 0.0
    last = float(np.nanmax(np.concatenate((done, token)), initial=began))
    ended = max(spans[-1].to_s if spans else began, last)
    first = float(np.nanmin(sent, initial=ended))
    return Window(began, ended, (first, max(last, first)), np.where(np.isnan(done), ended, done))
