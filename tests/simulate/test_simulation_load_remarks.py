"""Remarks on a load and on a contract: coarse clocks, thresholds in a mistaken unit."""

from dataclasses import replace

import numpy as np
import pytest

from steady_requests import poisson
from stored_workloads import stored
from vramledger.plan.limit_text import contract_of
from vramledger.simulate.limit_remarks import limit_remarks
from vramledger.simulate.load_remarks import load_remarks
from vramledger.simulate.offered import Offered, read_offered


@pytest.fixture(scope="module")
def offered(tmp_path_factory: pytest.TempPathFactory) -> Offered:
    rows = [row | {"row": number} for number, row in enumerate(poisson(120, 4, 200, 50))]
    return read_offered(stored(tmp_path_factory.mktemp("w") / "w.parquet", rows))


def test_arrivals_on_the_ticks_of_a_coarse_clock_are_told_with_the_remedy(offered: Offered) -> None:
    ticks = replace(offered, due_ns=offered.due_ns // 3_000_000_000 * 3_000_000_000)
    (said,) = load_remarks(ticks)
    assert said.startswith("100% of the requests arrive at the very moment of another, up to ")
    assert said.endswith(
        " at once, on moments 3 s apart (median): the workload's clock is coarse, and such bursts make TTFT and "
        "queue longer than they were. vram workload import --spread draws the times between its ticks."
    )


def test_fine_clocks_and_bursts_that_somebody_meant_are_not_told(offered: Offered) -> None:
    assert list(load_remarks(offered)) == []
    at_once = replace(offered, due_ns=np.zeros(len(offered), np.int64))
    assert list(load_remarks(at_once)) == []


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        (
            "tpot_s p95 <= 60",
            (
                "The limit of 60 on tpot_s p95 is in seconds, as all without a unit are: nearly every server keeps it. Write "
                'milliseconds as "tpot_s p95 <= 60ms".'
            ),
        ),
        (
            "ttft_s p50 <= 90000",
            (
                "The limit of 90,000 on ttft_s p50 is in seconds, as all without a unit are: nearly every server keeps it. Write "
                'milliseconds as "ttft_s p50 <= 90,000ms".'
            ),
        ),
        (
            "itl_s p99 <= 0.00005",
            "The limit of 5e-05 on itl_s p99 is in seconds, as all without a unit are: no server answers so soon.",
        ),
    ],
)
def test_a_threshold_that_nobody_means_gets_a_remark_naming_the_unit(limit: str, said: str) -> None:
    assert list(limit_remarks(contract_of([limit], "--limit"))) == [said]


@pytest.mark.parametrize(
    "limit", ["tpot_s p95 <= 60ms", "itl_s p99 <= 10", "ttft_s p95 <= 86400", "success >= 99%"]
)
def test_a_threshold_that_somebody_may_mean_gets_none(limit: str) -> None:
    assert list(limit_remarks(contract_of([limit], "--limit"))) == []
    assert list(limit_remarks(None)) == []
