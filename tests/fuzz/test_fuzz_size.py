"""Whatever is typed after ``vram size``, the answer is a verdict or one sentence."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vramledger.cli.main import run

_NUMBERS = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True).map(str),
    st.integers(-(10**12), 10**12).map(str),
    st.sampled_from(["", "0", "-0", "1e9", "1e-9", "0x10", "١٢", "auto", "5%"]),
)
_WORDS = st.one_of(
    st.text(max_size=12),
    st.sampled_from(["L4", "L40S", "H100", "auto", "chat", "fp8", "as-stored", "0.33", "L4=1/h"]),
    _NUMBERS.map(lambda number: f"active-share={number}"),
)
_OPTIONS = st.sampled_from(
    ["--users", "--concurrent", "--rate", "--profile", "--gpu", "--price", "--precision",
     "--kv-dtype", "--factor", "--headroom", "--engine-version"]
)  # fmt: skip
_PAIRS = st.lists(st.tuples(_OPTIONS, st.one_of(_NUMBERS, _WORDS)), min_size=1, max_size=4)


def _asked(pairs: list[tuple[str, str]]) -> list[str]:
    words = [word for pair in pairs for word in pair]
    return ["size", "Qwen/Qwen3-0.6B", "--gpu", "L4", *words]


@pytest.mark.fuzz
@settings(
    max_examples=10_000,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(_PAIRS)
def test_options_of_every_kind_end_in_a_verdict_or_a_sentence(
    capsys: pytest.CaptureFixture[str], pairs: list[tuple[str, str]]
) -> None:
    code = run(_asked(pairs))
    err = capsys.readouterr().err
    assert code in {0, 1, 2, 3}
    assert "defect of its own" not in err
    assert (code == 2) <= err.startswith("vram: ")
    assert err.count("\n") <= 1
