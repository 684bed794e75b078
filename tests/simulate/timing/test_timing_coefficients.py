"""Coefficients: the shipped file, one's own, and files that are none."""

from pathlib import Path

import pytest

from vramledger.errors import BadInput
from vramledger.simulate.timing import coefficients as module
from vramledger.simulate.timing.coefficients import read_coefficients, shipped

SHIPPED = Path(module.__file__).with_name("coefficients.toml")


def test_the_shipped_file_says_when_and_from_what_it_was_fitted() -> None:
    fit = shipped()
    assert fit.date >= "2026-12-02"
    assert fit.rows > 700
    assert fit.architectures == {"Hopper", "Blackwell", "Blackwell Ultra"}
    assert set(fit.errors) == {"gpu", "engine", "model_class", "group"}
    for band in (fit.tpot, fit.ttft, fit.tpot_waiting, fit.ttft_waiting):
        assert 0 < band.low < 1 < band.high
    assert fit.ttft_waiting.high > fit.ttft.high


def test_shares_of_the_sheet_stay_below_it() -> None:
    c = shipped().coefficients
    shares = [c.dense_read, c.expert_read, c.cache_read, c.matmul_bf16, c.matmul_fp8, c.matmul_fp4,
              c.experts_fp8, c.experts_fp4, c.prompt_attention, c.link_share]  # fmt: skip
    assert all(0 < share < 1 for share in shares)


def test_ones_own_file_takes_the_place_of_the_shipped_one(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(SHIPPED.read_text("utf-8").replace("kernel_us = 3", "kernel_us = 9"), "utf-8")
    fit = read_coefficients(own)
    assert fit.coefficients.kernel_us > shipped().coefficients.kernel_us
    assert fit.source == str(own)


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        ("kernel_us = ", "kernels_us = ", "kernel_us, kernels_us"),
        ("kernel_us = ", "kernel_us = -", "it must be a number of at least 0."),
        ("kernel_us = ", 'kernel_us = "', "is not TOML"),
        ("[bands.tpot]\nlow = ", "[bands.tpot]\nlow = -", "[bands.tpot]"),
        ("[coefficients]", "[other]", "The table [coefficients]"),
    ],
)
def test_a_file_that_is_none_is_refused(tmp_path: Path, old: str, new: str, part: str) -> None:
    own = tmp_path / "own.toml"
    own.write_text(SHIPPED.read_text("utf-8").replace(old, new, 1), "utf-8")
    with pytest.raises(BadInput) as refused:
        read_coefficients(own)
    assert part in str(refused.value)
    assert str(own) in str(refused.value)
