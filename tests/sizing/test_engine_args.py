"""Engine arguments of a plan are read as the engine's parser reads them."""

import pytest

from vramledger.engine.setting import Layout
from vramledger.errors import BadInput, UnknownName
from vramledger.sizing.engine_args import engine_arguments


def test_flags_are_kept_and_the_layout_and_length_are_taken_out() -> None:
    args = {"max-model-len": "32K", "tensor_parallel_size": "4", "max-num-seqs": "64"}
    found = engine_arguments(args, "0.33", "plan.yaml")
    assert [(flag.name, flag.value) for flag in found.flags] == [("max-num-seqs", "64")]
    assert found.max_model_len == 32768
    assert found.pinned.admits(Layout(tp=4, pp=2))
    assert not found.pinned.admits(Layout(tp=2))


def test_a_flag_that_the_version_does_not_have_is_refused_by_name() -> None:
    with pytest.raises(UnknownName) as caught:
        engine_arguments({"max-modle-len": "5"}, "0.33", "plan.yaml")
    assert "max-model-len" in str(caught.value)
    assert "plan.yaml, engine.args" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "said_by"),
    [
        ("quantization", "the plan's key weights"),
        ("kv-cache-dtype", "the plan's key kv_dtype"),
        ("data-parallel-size", "nothing: replicas are counted by vram size"),
    ],
)
def test_what_the_plan_says_elsewhere_is_refused(name: str, said_by: str) -> None:
    with pytest.raises(BadInput) as caught:
        engine_arguments({name: "4" if "size" in name else "fp8"}, "0.33", "plan.yaml")
    assert str(caught.value) == (
        f"plan.yaml, engine.args: {name} is said by {said_by}; leave it out here."
    )


def test_a_length_must_be_a_number() -> None:
    with pytest.raises(BadInput, match=r"^max-model-len in plan.yaml, engine.args is 'auto'"):
        engine_arguments({"max-model-len": "auto"}, "0.33", "plan.yaml")
