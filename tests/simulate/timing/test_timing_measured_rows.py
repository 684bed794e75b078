"""The shipped coefficients on measured servers, as `vram predict --cases` answers them."""

import json
from pathlib import Path
from statistics import mean, median

from timing_fit.rows import measured_rows
from vramledger.simulate.timing.cases.answer import answers

EVERY = 9  # rows left out between two that are asked, so that the test stays short


def test_every_row_is_answered_within_the_errors_that_the_page_states(shared_data: Path) -> None:
    rows = measured_rows(shared_data / "measured_serving.csv")
    assert len(rows.kept) == 723
    assert len(rows.aside) == 10
    asked = rows.kept[::EVERY]
    found = [answer.prediction for answer in answers(json.dumps(row.case) for row in asked)]
    pairs = [(row, p) for row, p in zip(asked, found, strict=True) if p is not None]
    assert len(pairs) == len(asked)
    tpot = [abs(p.tpot.value / row.tpot - 1) for row, p in pairs]
    ttft = [abs(p.ttft.value / row.ttft - 1) for row, p in pairs]
    assert median(tpot) < 0.07
    assert mean(tpot) < 0.10
    assert median(ttft) < 0.14
    inside = [p.tpot.low <= row.tpot <= p.tpot.high for row, p in pairs]
    assert mean(inside) > 0.85
