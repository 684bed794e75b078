"""What a run did in an hour, and the part of the work that went to requests that did not count.

Work is told in tokens that were read and written: what every request costs, whatever became of it. Tokens of a planned cancellation are in it.
"""

from vramledger.accept.lines.about import About
from vramledger.accept.lines.goodput import hourly
from vramledger.accept.verdict import Line, Said, Work
from vramledger.simulate.judged import good_requests


def work(about: About, quality: tuple[Line, ...]) -> Work:
    """`quality` are the lines of quality: valid requests need all of them."""
    import numpy as np

    good = good_requests(about.scenario.contract, about.offered.served)
    found = hourly(about, good)
    columns = about.offered.found.columns
    tokens = np.nan_to_num(columns["input_tokens_got"]) + np.nan_to_num(
        columns["output_tokens_got"]
    )
    proven = all(line.said is Said.PASS for line in quality) if quality else None
    if found is None:
        return Work(quality_proven=proven)
    span_h = about.offered.span_s / 3600
    return Work(
        offered_per_hour=len(about.offered.found) / span_h,
        good_per_hour=found.requests.value,
        good_low=max(found.requests.low, 0.0),
        good_high=found.requests.high,
        good_tokens_per_hour=found.tokens.value,
        lost_share=float(tokens[~good].sum() / tokens.sum()) if tokens.any() else None,
        quality_proven=proven,
    )
