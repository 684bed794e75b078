"""Effects between runs: found where they are, not where they are none, and honest about failures and lengths."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from commands import vram_here
from compared_runs import ARGUMENTS, about, deployment, trial
from vramledger.compare.comparison import Comparison, compared
from vramledger.compare.finding import Finding, Standing
from vramledger.compare.side import read_sides
from vramledger.errors import BadInput


def held(*words: Path | str) -> Comparison:
    a, b = read_sides([str(word) for word in words])
    return compared(a, b, 0.02)


def of(found: Comparison, name: str, statistic: str | None = "mean") -> Finding:
    return next(
        each for each in found.findings if (each.figure.name, each.figure.statistic) == (name, statistic)
    )  # fmt: skip


def test_an_effect_of_ten_percent_is_found(tmp_path: Path) -> None:
    fp8 = about(seen=deployment(arguments=ARGUMENTS | {"kv-cache-dtype": "fp8"}))
    a = trial(tmp_path / "a", count=4000, seed=1)
    b = trial(tmp_path / "b", fp8, count=4000, seed=2, factor=1.1)
    found = held(a, b)
    mean = of(found, "e2e_s")
    assert mean.standing is Standing.DIFFERS
    assert mean.chosen.low < 0.1 < mean.chosen.high
    assert found.exit_code == 0


def test_equal_runs_are_not_called_different(tmp_path: Path) -> None:
    found = held(trial(tmp_path / "a", seed=1), trial(tmp_path / "b", seed=2))
    assert not found.told
    assert all(each.smallest is None or each.smallest >= 0 for each in found.findings)
    assert found.exit_code == 0


def test_few_equal_pairs_are_called_different_of_many(tmp_path: Path) -> None:
    runs = [trial(tmp_path / str(seed), count=200, seed=seed) for seed in range(40)]
    wrong = sum(bool(held(a, b).told) for a, b in zip(runs[::2], runs[1::2], strict=True))
    assert wrong <= 4  # of 20; one is to be expected, five are in one of a thousand


def test_a_failed_side_is_counted_and_not_a_latency(tmp_path: Path) -> None:
    a = trial(tmp_path / "a", seed=1)
    found = held(a, trial(tmp_path / "b", seed=2, failing=0.2))
    assert found.counts is not None
    assert found.counts.both_ok + found.counts.a_alone_ok == 400
    assert of(found, "ok_share", None).standing is Standing.DIFFERS
    assert found.remarks[0] == (
        f"{found.counts.a_alone_ok} requests ended as asked on A alone and 0 on B alone; they are in the share that ended as asked, "
        "and in no latency."
    )
    assert found.exit_code == 3  # and nothing that is told explains it


def test_longer_answers_are_a_difference_and_equal_lengths_stand_beside(tmp_path: Path) -> None:
    def longer(told: dict[str, Any]) -> Any:
        return told["output_tokens_got"] + np.arange(400) % 2

    found = held(trial(tmp_path / "a"), trial(tmp_path / "b", output_tokens_got=longer))
    assert [each.name for each in found.attribution.differences] == ["output_tokens_got"]
    assert found.counts is not None
    assert found.counts.same_length == 200
    at_length = of(found, "e2e_s").equal_length
    assert at_length is not None
    assert at_length.counted == 200


def test_repeated_runs_have_the_scatter_between_them(tmp_path: Path) -> None:
    slower = [1.0, 1.2, 0.9]
    a = [trial(tmp_path / f"a{n}", about(seed=n), seed=n, factor=f) for n, f in enumerate(slower)]
    b = [trial(tmp_path / f"b{n}", about(seed=n), seed=9 + n, factor=f) for n, f in enumerate(slower[::-1])]  # fmt: skip
    found = held(",".join(map(str, a)), ",".join(map(str, b)))
    mean = of(found, "tpot_s")
    assert mean.chosen.runs == 3
    assert mean.chosen.between is not None
    assert mean.chosen.between > 0.05
    assert mean.standing is Standing.NONE
    assert (mean.requests, mean.runs is None or mean.runs > 3) == (None, True)


def test_other_requests_are_not_paired(tmp_path: Path) -> None:
    other = about(workload_sha256="5" * 64)
    found = held(trial(tmp_path / "a"), trial(tmp_path / "b", other))
    assert found.counts is None
    assert all(each.paired is None for each in found.findings)


def test_one_run_is_no_comparison(tmp_path: Path) -> None:
    with pytest.raises(
        BadInput, match=r"^Name two runs or more to compare; a side of several runs"
    ):
        read_sides([str(trial(tmp_path / "a"))])


def test_the_command(tmp_path: Path) -> None:
    trial(tmp_path / "a", seed=1)
    trial(tmp_path / "b", about(seen=deployment(driver="1"), seed=3), seed=2)
    done = vram_here(["compare", "a", "b", "--json"], tmp_path)
    assert done.returncode == 3
    found = json.loads(done.stdout)
    assert (found["schema"], found["attributable"]) == ("vramledger.comparison/1", False)
    text = vram_here(["compare", "a", "b"], tmp_path)
    assert text.stdout.splitlines()[3] == (
        "CANNOT ATTRIBUTE: 2 things differ, so that no effect can be put down to one of them; change one at a time (GPU driver: "
        "580.1 of A, 1 of B; seed of the draws: 0 of A, 3 of B)."
    )
    bad = vram_here(["compare", "a", "b", "--practical", "many"], tmp_path)
    assert bad.returncode == 2
    assert (
        "--practical many is no share; write one from 0 to below 1, such as 2% or 0.02."
        in bad.stderr
    )
