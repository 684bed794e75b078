"""Length distributions keep what was given: percentiles, means, and the longest request."""

import csv
import json
from pathlib import Path
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vramledger.errors import BadInput
from vramledger.evidence import Basis
from vramledger.plan.lengths import (
    LengthDistribution,
    from_bins,
    from_cells,
    from_percentiles,
    independent,
)

TOKENS = st.integers(min_value=1, max_value=200_000)


def both(points: dict[float, float]) -> LengthDistribution:
    marginal = from_percentiles(points, "lengths")
    return independent(marginal, marginal, Basis.ASSUMED, "a test")


def test_a_single_stated_length_is_every_length() -> None:
    marginal = from_percentiles({0.5: 8000, 1.0: 8000}, "input_tokens")
    assert {tokens for tokens, _ in marginal.cells} == {8000}
    assert marginal.assumed == (
        "input_tokens below p50 is not stated and taken as 8,000 tokens, on the long side (assumed); "
        "state min or a lower percentile."
    )


def test_lengths_below_the_lowest_percentile_are_taken_on_the_long_side() -> None:
    marginal = from_percentiles({0.5: 8000, 0.95: 16000, 1.0: 32000}, "input_tokens")
    below = [(tokens, weight) for tokens, weight in marginal.cells if tokens <= 8000]
    assert min(below)[0] >= 4000
    assert sum(t * w for t, w in below) / sum(w for _, w in below) == pytest.approx(6000, rel=0.01)
    assert marginal.assumed == (
        "input_tokens below p50 is not stated and taken as 4,000 to 8,000 tokens, on the long side "
        "(assumed); state min or a lower percentile."
    )


def test_a_stated_minimum_leaves_nothing_assumed() -> None:
    marginal = from_percentiles({0.0: 1, 0.5: 8000, 1.0: 9000}, "input_tokens")
    assert marginal.assumed == ""
    assert min(marginal.cells)[0] < 1000


@settings(deadline=None)
@given(st.lists(TOKENS, min_size=4, max_size=4))
def test_given_percentiles_read_back_exactly(values: list[int]) -> None:
    p50, p95, p99, longest = sorted(values)
    lengths = both({0.5: p50, 0.95: p95, 0.99: p99, 1.0: longest})
    assert [lengths.input_at(share) for share in (0.5, 0.95, 0.99, 1.0)] == [
        p50,
        p95,
        p99,
        longest,
    ]
    assert lengths.longest == 2 * longest
    assert lengths.total_at(1.0) == 2 * longest


@settings(deadline=None)
@given(st.lists(st.tuples(TOKENS, TOKENS, st.integers(1, 1000)), min_size=1, max_size=20))
def test_a_joint_histogram_keeps_its_mean_and_its_ends(rows: list[tuple[int, int, int]]) -> None:
    lengths = from_cells(rows, Basis.ASSUMED, "a test")
    count = sum(row[2] for row in rows)
    assert sum(cell.weight for cell in lengths.cells) == pytest.approx(1)
    assert lengths.mean_input == pytest.approx(sum(row[0] * row[2] for row in rows) / count)
    assert lengths.mean_output == pytest.approx(sum(row[1] * row[2] for row in rows) / count)
    assert lengths.longest == max(row[0] + row[1] for row in rows)
    assert lengths.input_at(0.0) == min(row[0] for row in rows)


@settings(deadline=None)
@given(st.lists(st.tuples(TOKENS, TOKENS, st.integers(1, 9)), min_size=1, max_size=12))
def test_a_percentile_is_the_smallest_length_that_covers_its_share(
    rows: list[tuple[int, int, int]],
) -> None:
    lengths = from_cells(rows, Basis.ASSUMED, "a test")
    for share in (0.1, 0.5, 0.9, 0.99):
        at = lengths.total_at(share)
        assert 1 - lengths.share_above(at) >= share - 1e-9
        assert 1 - lengths.share_above(at - 1) <= share + 1e-9


def test_percentiles_alone_come_near_the_mean_of_real_traces(shared_data: Path) -> None:
    traces = shared_data / "traces"
    with (traces / "azure_llm_2023_conv.csv").open(newline="") as stream:
        azure = [int(row["ContextTokens"]) for row in csv.DictReader(stream)]
    lines = (traces / "mooncake_conversation_trace.jsonl").read_text().splitlines()
    mooncake = [int(json.loads(line)["input_length"]) for line in lines]
    for values in (azure, mooncake):
        ordered = sorted(values)
        shares = (0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
        points = {share: float(ordered[int(share * len(ordered))]) for share in shares}
        lengths = both({**points, 1.0: ordered[-1]})
        assert lengths.mean_input == pytest.approx(fmean(values), rel=0.05)


def test_bins_spread_their_requests_evenly_and_end_at_the_last_edge() -> None:
    marginal = from_bins([(1000, 3), (3000, 1), (9000, 0)], "lengths")
    lengths = independent(marginal, from_bins([(1, 1)], "one"), Basis.ASSUMED, "a test")
    assert lengths.mean_input == pytest.approx(0.75 * 500 + 0.25 * 2000, rel=0.01)
    assert lengths.input_at(1.0) == 3000
    assert lengths.input_at(0.75) < 1000


def test_a_lump_is_not_smeared() -> None:
    lengths = from_cells([(100, 0, 99), (10_000, 0, 1)], Basis.ASSUMED, "a test")
    assert [lengths.input_at(share) for share in (0.5, 0.99, 0.995)] == [100, 100, 10_000]


@pytest.mark.parametrize(
    ("points", "message"),
    [
        (
            {0.5: 100.0},
            "lengths has no max; give the longest that may occur, because the few longest requests decide.",
        ),
        ({1.0: 100.0}, "lengths has no percentiles; give at least p50 and, better, p95 and p99."),
        (
            {0.5: 100.0, 0.95: 90.0, 1.0: 200.0},
            "lengths: p95 is 90, less than p50 at 100; percentiles rise.",
        ),
        (
            {0.5: 100.0, 1.0: 90.0},
            "lengths: max is 90, less than p50 at 100; percentiles rise.",
        ),
        (
            {0.5: float("nan"), 1.0: 90.0},
            "lengths has a length of nan tokens; a length is between 0 and 1,073,741,824.",
        ),
    ],
)
def test_percentiles_that_decide_nothing_are_refused(
    points: dict[float, float], message: str
) -> None:
    with pytest.raises(BadInput) as caught:
        from_percentiles(points, "lengths")
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("bins", "message"),
    [
        ([], "lengths has no bins; give rows of up_to (tokens) and share."),
        (
            [(100.0, 1.0), (100.0, 1.0)],
            "lengths: the upper edges do not rise; order the bins by up_to.",
        ),
        ([(100.0, 0.0)], "lengths: the shares add up to 0; give each bin a share or count"),
        ([(100.0, -1.0), (200.0, 3.0)], "lengths: the shares add up to 2; give each bin"),
    ],
)
def test_histograms_that_are_none_are_refused(
    bins: list[tuple[float, float]], message: str
) -> None:
    with pytest.raises(BadInput) as caught:
        from_bins(bins, "lengths")
    assert str(caught.value).startswith(message)


def test_a_joint_histogram_without_weight_is_refused() -> None:
    with pytest.raises(BadInput, match="a test: the shares add up to 0"):
        from_cells([(1, 1, 0)], Basis.ASSUMED, "a test")
