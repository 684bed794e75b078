"""Limits in words: what a contract prints is read back, and what is none is refused by name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vramledger.errors import BadInput, UnknownName
from vramledger.plan.contract import LATENCIES, in_order
from vramledger.plan.limit_text import both, contract_of
from vramledger.plan.requirement import Contract, LatencyLimit


def read(*limits: str) -> Contract:
    return contract_of(limits, "--limit")


_SHARES = st.sampled_from([0.0, 0.5, 0.9, 0.95, 0.99, 0.999, 1.0])
_AMOUNTS = st.sampled_from([0.001, 0.05, 0.25, 2.0, 30.0, 1200.0, 12345.678])
_LIMITS = st.builds(
    LatencyLimit,
    st.sampled_from([None, 1, 4096, 131072]),
    st.dictionaries(_SHARES, _AMOUNTS, min_size=1, max_size=3),
    st.sampled_from([None, 1]),
    st.sampled_from([None, 500, 1000]),
    st.sampled_from([None, 10]),
)
_CONTRACTS = st.builds(
    Contract,
    latency=st.dictionaries(
        st.sampled_from(LATENCIES),
        st.lists(_LIMITS, min_size=1, max_size=2, unique_by=lambda limit: limit.bounds).map(
            lambda rows: tuple(sorted(rows, key=in_order))
        ),
        max_size=3,
    ),
    success=st.sampled_from([None, 0.5, 0.995, 1.0]),
    queue_must_drain=st.sampled_from([None, True]),
    done_by=st.sampled_from([None, "06:00"]),
    requests_per_hour=st.sampled_from([None, 100.0, 1_500_000.0]),
    kv_free=st.sampled_from([None, 0.125, 1.0]),
    preemptions_per_1000=st.sampled_from([None, 0.0, 2.5]),
    memory_growth_gib_per_hour=st.sampled_from([None, 0.25]),
)


@given(_CONTRACTS)
def test_what_a_contract_prints_is_read_back(contract: Contract) -> None:
    assert read(*contract.lines) == contract


@given(_CONTRACTS, _CONTRACTS)
def test_two_contracts_together_do_not_depend_on_their_order(
    one: Contract, other: Contract
) -> None:
    assert both(one, other) == both(other, one)
    assert both(one, one) == one


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("ttft p95 <= 2s", "ttft_s p95 <= 2"),
        ("TTFT  P95<=500ms", "ttft_s p95 <= 0.5"),
        ("e2e max <= 1.5 min", "e2e_s p100 <= 90"),
        ("itl_s p99.9 ≤ .2", "itl_s p99.9 <= 0.2"),
        ("tpot p50 <= 5e-2", "tpot_s p50 <= 0.05"),
        ("queue p95 <= 1 up to 4,096 input tokens", "queue_s p95 <= 1 up to 4,096 input tokens"),
        ("success >= 0.995", "success >= 99.50%"),
        ("success>=99.5%", "success >= 99.50%"),
        ("queue drains", "the queue drains"),
        ("1,200 requests per hour", "1,200 requests an hour"),
        ("done by 06:00", "done by 06:00"),
    ],
)
def test_people_write_limits_in_several_ways(text: str, line: str) -> None:
    assert read(text).lines == (line,)


def test_of_two_limits_on_one_figure_the_tighter_counts() -> None:
    assert read("ttft p95 <= 2", "ttft p95 <= 1", "ttft p99 <= 3").lines == (
        "ttft_s p95 <= 1",
        "ttft_s p99 <= 3",
    )
    assert read("success >= 99%", "success >= 95%").lines == ("success >= 99.00%",)


def test_a_limit_on_something_unknown_names_the_nearest() -> None:
    with pytest.raises(UnknownName) as caught:
        read("tfft_s p95 <= 2")
    assert str(caught.value) == (
        "Unknown limit 'tfft_s' in --limit 'tfft_s p95 <= 2'; the nearest known ones are ttft_s, tpot_s. "
        'Write for example "ttft_s p95 <= 2", "success >= 99%", "the queue drains" or '
        '"100 requests an hour".'
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "ttft p95 < 2",
            (
                "--limit 'ttft p95 < 2' cannot be read after 'ttft'; write a percentile, <= and seconds, for "
                'example "ttft p95 <= 2" or "ttft p95 <= 500ms up to 4096 input tokens".'
            ),
        ),
        (
            "ttft 95 <= 2",
            "--limit 'ttft 95 <= 2': '95' is not a percentile; write p50, p95, p99.9, min or max.",
        ),
        (
            "ttft p95 <= 0",
            "--limit 'ttft p95 <= 0' has the threshold 0; it must be above 0 and finite.",
        ),
        (
            "ttft p95 <= 1e999",
            "--limit 'ttft p95 <= 1e999' has the threshold 1e999; it must be above 0 and finite.",
        ),
        (
            "success >= 101%",
            (
                "--limit 'success >= 101%' asks for more than all requests; write a share such as 0.99 or "
                "99%."
            ),
        ),
        (
            "ttft p95 <= 2 up to 0 input tokens",
            (
                "--limit 'ttft p95 <= 2 up to 0 input tokens' reaches no request; it counts whole tokens "
                "from 1."
            ),
        ),
    ],
)
def test_what_is_no_limit_is_refused_in_a_sentence(text: str, said: str) -> None:
    with pytest.raises(BadInput) as caught:
        read(text)
    assert str(caught.value) == said


def test_two_times_to_be_done_by_are_refused() -> None:
    with pytest.raises(BadInput, match="Work is to be done by 06:00 and by 07:00; state one time"):
        read("done by 06:00", "done by 07:00")


@given(st.text(max_size=40))
def test_any_text_is_a_limit_or_is_refused(text: str) -> None:
    try:
        found = read(text)
    except BadInput:
        return
    assert len(found.lines) == 1
