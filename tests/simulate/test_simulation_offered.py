"""A stored workload as requests: those without an answer are a load all the same."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stored_workloads import request, stored
from vramledger.errors import CannotKnow
from vramledger.simulate.offered import read_offered
from vramledger.workload.operators.drawn_answers import with_answers
from vramledger.workload.profile.bins import bin_of

LENGTHS = st.lists(st.tuples(st.integers(1, 300), st.integers(-1, 50)), min_size=1, max_size=40)


@given(LENGTHS, st.integers(1, 300), st.integers(0, 9))
def test_an_answer_is_drawn_from_prompts_of_that_length_or_from_all(
    pairs: list[tuple[int, int]], prompt: int, seed: int
) -> None:
    known = [*pairs, (prompt, 7)]  # at least one answer
    inputs, outputs = (np.array(each, np.int64) for each in zip(*known, strict=True))
    found = with_answers(inputs, outputs, seed)
    assert (found == with_answers(inputs, outputs, seed)).all()
    for (given_tokens, recorded), answer in zip(known, found.tolist(), strict=True):
        alike = {o for i, o in known if o >= 1 and bin_of(i) == bin_of(given_tokens)}
        assert answer in ({recorded} if recorded >= 1 else alike or {o for _, o in known if o >= 1})


def test_drawn_answers_have_the_mean_of_the_known_ones() -> None:
    inputs = np.full(40_000, 100, np.int64)
    outputs = np.where(np.arange(40_000) % 2, np.arange(40_000) % 1_000 + 1, 0)
    found = with_answers(inputs, outputs, 3)
    assert found[outputs == 0].mean() == pytest.approx(found[outputs > 0].mean(), rel=0.02)
    assert (found != with_answers(inputs, outputs, 4)).any()


def test_who_has_no_prompt_is_left_out_and_who_has_no_answer_is_counted(tmp_path: Path) -> None:
    lengths = [(10, 5), (None, 5), (10, None), (0, 4), (10, 0), (4_000, 90)]
    path = stored(
        tmp_path / "w.parquet",
        [
            request(row, arrival_s=float(row), input_tokens=given, output_tokens=made)
            for row, (given, made) in enumerate(lengths)
        ],
    )
    found = read_offered(path, 0)
    assert found.row.tolist() == [0, 2, 4, 5]
    assert found.output_tokens.tolist() == [5, 5, 5, 90]
    assert (found.left_out, found.drawn, found.drawn_tokens) == (2, 2, 30)


def test_a_workload_without_any_answer_is_refused(tmp_path: Path) -> None:
    path = stored(tmp_path / "w.parquet", [request(0, arrival_s=0.0, input_tokens=9)])
    with pytest.raises(CannotKnow, match="has no request with known input and output tokens"):
        read_offered(path, 0)
