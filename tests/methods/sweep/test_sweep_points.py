"""What may be typed after ``--set``, and the points that it makes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swept import base
from vramledger.errors import BadInput, UnknownName
from vramledger.methods.sweep.base import digest, identity
from vramledger.methods.sweep.batches import batches
from vramledger.methods.sweep.grid import Axis, axes_of, grid, one_at_a_time
from vramledger.methods.sweep.point import Point, point_of


def labels(points: tuple[Point, ...]) -> list[str]:
    return [point.label for point in points]


def test_one_at_a_time_is_the_base_and_each_change_alone() -> None:
    axes = (Axis("max-num-seqs", ("64", "128")), Axis("gpu", ("L40S",)))
    assert labels(one_at_a_time(axes)) == [
        "base",
        "max-num-seqs=64",
        "max-num-seqs=128",
        "gpu=L40S",
    ]


def test_a_grid_is_the_base_and_every_combination() -> None:
    axes = (Axis("max-num-seqs", ("64", "128")), Axis("gpu", ("L40S", "A100-80GB-SXM")))
    assert labels(grid(axes)) == [
        "base",
        "gpu=L40S, max-num-seqs=64",
        "gpu=A100-80GB-SXM, max-num-seqs=64",
        "gpu=L40S, max-num-seqs=128",
        "gpu=A100-80GB-SXM, max-num-seqs=128",
    ]


def test_names_are_read_as_the_engine_reads_them(tmp_path: Path) -> None:
    axes = axes_of(("tp=2,4", "max_num_seqs=64..200", "kv_cache_dtype=fp8"), base(tmp_path))
    assert axes == (
        Axis("tensor-parallel-size", ("2", "4")),
        Axis("max-num-seqs", ("64", "128", "200")),
        Axis("kv-cache-dtype", ("fp8",)),
    )


def test_commas_inside_json_do_not_separate_values(tmp_path: Path) -> None:
    text = 'compilation-config={"level": 3, "x": [1, 2]},{"level": 0}'
    (axis,) = axes_of((text,), base(tmp_path))
    assert axis.values == ('{"level": 3, "x": [1, 2]}', '{"level": 0}')


REFUSALS = {
    "max-num-seqs": (
        "--set 'max-num-seqs' is not NAME=VALUES; write --set max-num-seqs=64,128 or --set "
        "gpu=L40S,H200-141GB-SXM."
    ),
    "max-num-seqs=1,,2": (
        "--set 'max-num-seqs=1,,2' has an empty value; write values between commas."
    ),
    "max-num-seqs=9..2": ("--set max-num-seqs=9..2 must run from a smaller to a larger number."),
    "rate-scale=-1": (
        "--set rate-scale has the value -1; it is a factor on the arrivals above 0 and up to 1000."
    ),
    "rate-scale=nan": (
        "--set rate-scale has the value nan; it is a factor on the arrivals above 0 and up to 1000."
    ),
    "rate-scale=fast": "--set rate-scale has the value fast, which is no number.",
    "replicas=0": "--set replicas has the value 0; it is a whole number from 1 to 1,024.",
    "replicas=1e9": "--set replicas has the value 1e9; it is a whole number from 1 to 1,024.",
    "replicas=nan": "--set replicas has the value nan; it is a whole number from 1 to 1,024.",
    "no-enable-prefix-caching=true": (
        "--set no-enable-prefix-caching is the negation of a flag; write --set "
        "enable-prefix-caching=true,false."
    ),
    "enable-prefix-caching=maybe": (
        "--set enable-prefix-caching has the value maybe; it is a switch: true or false."
    ),
}


@pytest.mark.parametrize("text", REFUSALS)
def test_what_means_nothing_is_refused_in_a_sentence(text: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput) as refused:
        axes_of((text,), base(tmp_path))
    assert str(refused.value) == REFUSALS[text]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("max-nom-seqs=64", "Unknown vLLM 0.32 flag '--max-nom-seqs' in --set; the nearest known"),
        ("gpu=L41S", "Unknown GPU 'L41S' in --set gpu; the nearest known ones are L40S, L4, L40."),
        ("engine-version=soon", "Unknown vLLM version 'soon'"),
        ("router=random", "Unknown router 'random' in --set router"),
        ("policy=statik", "Unknown policy 'statik' in --policy; the nearest known one is static"),
        ("model=meta-llama/Llama-3.1-9B", "'meta-llama/Llama-3.1-9B'"),
    ],
)
def test_unknown_names_come_with_the_nearest(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(UnknownName) as refused:
        axes_of((text,), base(tmp_path))
    assert said in str(refused.value)


def test_a_setting_is_given_once(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as refused:
        axes_of(("tp=2", "tensor-parallel-size=4"), base(tmp_path))
    assert str(refused.value) == (
        "--set tensor-parallel-size is given twice; write all its values in one: --set "
        "tensor-parallel-size=A,B."
    )


def test_a_grid_has_a_limit(tmp_path: Path) -> None:
    numbers = ",".join(str(number) for number in range(1, 401))
    axes = axes_of((f"max-num-seqs={numbers}", f"max-num-batched-tokens={numbers}"), base(tmp_path))
    with pytest.raises(BadInput) as refused:
        grid(axes)
    assert str(refused.value) == (
        "The grid has 160,000 points, and a sweep takes 100,000; give fewer values."
    )


@given(st.dictionaries(st.text(min_size=1), st.text(min_size=1), max_size=4))
def test_points_of_equal_changes_are_equal_whatever_their_order(changes: dict[str, str]) -> None:
    turned = dict(reversed(changes.items()))
    assert point_of(changes) == point_of(turned)
    assert point_of(changes).hash("x") == point_of(turned).hash("x")
    assert point_of(changes).hash("x") != point_of(changes).hash("y")


@given(st.integers(0, 200), st.integers(1, 64))
def test_batches_hold_every_point_once(count: int, workers: int) -> None:
    points = [point_of({"n": str(n), "rate-scale": str(n % 3 + 1)}) for n in range(count)]
    handed = [point for batch in batches(points, workers) for point in batch]
    assert sorted(handed, key=lambda one: one.text) == sorted(points, key=lambda one: one.text)
    parts = [point.value("rate-scale") for point in handed]
    assert parts == sorted(parts, key=str)


def test_the_identity_of_a_base_is_the_same_in_every_process(tmp_path: Path) -> None:
    here = digest(identity(base(tmp_path)))
    code = (
        "import sys; from pathlib import Path; from swept import base; "
        "from vramledger.methods.sweep.base import digest, identity; "
        "print(digest(identity(base(Path(sys.argv[1])))))"
    )
    tests = str(Path(__file__).parents[2])
    for seed in ("1", "2"):
        there = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path)],
            env=os.environ | {"PYTHONPATH": tests, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        assert there.stdout.strip() == here


def test_the_identity_says_what_results_depend_on(tmp_path: Path) -> None:
    one = base(tmp_path)
    plain = identity(one)
    for other, name in (
        (base(tmp_path, "vllm serve meta-llama/Llama-3.1-8B --max-model-len 4096"), "launch"),
        (base(tmp_path, card="L40S"), "accelerator"),
        (base(tmp_path, "vllm serve meta-llama/Llama-3.1-8B --max-model-len 8192", "ttft p95 <= 2"), "contract"),
        (base(tmp_path, seed=1), "seed"),
        (base(tmp_path, replicas=2), "replicas"),
        (base(tmp_path, prefix=False), "prefix"),
    ):  # fmt: skip
        differing = {key for key in plain if plain[key] != identity(other)[key]}
        assert differing == {name}
