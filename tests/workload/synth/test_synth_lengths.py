"""Drawn lengths follow the profile: cells, atoms, correlation, absences."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from stored_workloads import request
from synthesised import plain, profile_of
from vramledger.errors import CannotKnow
from vramledger.workload.profile.bins import EDGES
from vramledger.workload.profile.profile import Profile
from vramledger.workload.synth.lengths import LengthDraws

MANY = 200_000


def drawn(profile: Profile, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    found = LengthDraws(profile).draw(np.random.default_rng(seed), MANY)
    return found.input_tokens, found.output_tokens


def test_every_cell_comes_at_its_share_within_four_standard_errors(tmp_path: Path) -> None:
    profile = profile_of(plain(3000, 1), tmp_path)
    assert profile.joint
    inputs, outputs = drawn(profile)
    first = np.searchsorted(EDGES, inputs, side="right") - 1
    second = np.searchsorted(EDGES, outputs, side="right") - 1
    cells, found = np.unique(np.stack((first, second)), axis=1, return_counts=True)
    counts = dict(zip(map(tuple, cells.T.tolist()), found.tolist(), strict=True))
    shares = {(c.input_bin, c.output_bin): c.requests / 3000 for c in profile.joint.cells}
    assert counts.keys() <= shares.keys()
    for cell, share in shares.items():
        error = (share * (1 - share) / MANY) ** 0.5
        assert abs(counts.get(cell, 0) / MANY - share) < 4.5 * error + 1e-3 * share


def test_a_cap_stays_an_atom(tmp_path: Path) -> None:
    rows = plain(4000, 2, cap=1111)
    share = sum(row["input_tokens"] == 1111 for row in rows) / len(rows)
    assert share > 0.1
    inputs, _ = drawn(profile_of(rows, tmp_path))
    assert inputs.max() == 1111
    assert abs((inputs == 1111).mean() - share) < 0.005


def test_means_and_the_correlation_of_the_logarithms_are_those_of_the_log(tmp_path: Path) -> None:
    rows = plain(5000, 3)
    inputs, outputs = drawn(profile_of(rows, tmp_path))
    real = np.array([(row["input_tokens"], row["output_tokens"]) for row in rows], float)
    assert inputs.mean() == pytest.approx(real[:, 0].mean(), rel=0.01)
    assert outputs.mean() == pytest.approx(real[:, 1].mean(), rel=0.01)
    theirs = np.corrcoef(np.log(real.T))[0, 1]
    ours = np.corrcoef(np.log(inputs), np.log(outputs))[0, 1]
    assert theirs > 0.4
    assert abs(ours - theirs) < 0.02


def test_lengths_that_go_together_within_a_cell_still_do(tmp_path: Path) -> None:
    rows = [
        request(row, input_tokens=i, output_tokens=460 - i)
        for row, i in enumerate(220 + k % 6 for k in range(3000))
    ]
    inputs, outputs = drawn(profile_of(rows, tmp_path))
    assert ((inputs + outputs) == 460).mean() > 0.95


def test_a_profile_without_quantiles_is_drawn_from_its_cells(tmp_path: Path) -> None:
    profile = profile_of(plain(3000, 4), tmp_path)
    assert profile.input_tokens
    assert profile.output_tokens
    assert profile.total_tokens
    coarse = replace(
        profile,
        input_tokens=replace(profile.input_tokens, quantiles=()),
        output_tokens=replace(profile.output_tokens, quantiles=()),
        total_tokens=replace(profile.total_tokens, quantiles=()),
    )
    inputs, _ = drawn(coarse)
    assert inputs.mean() == pytest.approx(profile.input_tokens.mean, rel=0.03)


def test_lengths_are_absent_as_often_as_in_the_log(tmp_path: Path) -> None:
    rows = plain(4000, 5)
    for row in rows[::4]:
        row["output_tokens"] = None
    for row in rows[1::8]:
        row["input_tokens"] = row["output_tokens"] = None
    found = LengthDraws(profile_of(rows, tmp_path)).draw(np.random.default_rng(0), MANY)
    assert found.has_output.mean() == pytest.approx(5 / 8, abs=0.005)
    assert (found.has_input & ~found.has_output).mean() == pytest.approx(1 / 4, abs=0.005)
    assert not found.input_tokens[~found.has_input].any()


def test_inputs_alone_are_drawn_from_their_quantiles(tmp_path: Path) -> None:
    rows = plain(4000, 6)
    for row in rows:
        row["output_tokens"] = None
    profile = profile_of(rows, tmp_path)
    found = LengthDraws(profile).draw(np.random.default_rng(0), MANY)
    assert profile.input_tokens
    assert not found.has_output.any()
    assert found.input_tokens.mean() == pytest.approx(profile.input_tokens.mean, rel=0.01)


def test_a_profile_without_token_counts_is_refused() -> None:
    with pytest.raises(CannotKnow) as refusal:
        LengthDraws(Profile(requests=3))
    assert str(refusal.value) == (
        "The profile has no token counts, so no lengths can be drawn from it; import the log with a "
        "tokenizer, or give a profile that has them."
    )


def test_lengths_beyond_the_last_edge_are_drawn(tmp_path: Path) -> None:
    longest = (1 << 31) - 1
    rows = [request(row, input_tokens=longest - row % 2, output_tokens=1) for row in range(9)]
    drawn = LengthDraws(profile_of(rows, tmp_path)).draw(np.random.default_rng(0), 50)
    assert set(drawn.input_tokens.tolist()) <= {longest - 1, longest}
