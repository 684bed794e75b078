"""What a table varies: a flag by any of its names, or a part of the question."""

import pytest

from vramledger.engine.read import read_launch
from vramledger.errors import BadInput, UnknownName
from vramledger.ledger.axis import parse_axis, resolve_axis
from vramledger.ledger.case import Case
from vramledger.ledger.question import accelerator_for, model_of
from vramledger.ledger.sweep import Entry, sweep


def start(version: str = "0.19.0") -> Case:
    launch = read_launch("vllm serve meta-llama/Llama-3.1-8B-Instruct --max-model-len 8192")
    return Case(launch, model_of(launch), accelerator_for("H100-80GB-SXM"), version)


def rows(text: str) -> tuple[Entry, ...]:
    case = start()
    return sweep(case, resolve_axis(parse_axis(text), case), 1, None)


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("max-model=4k,8k", "max-model-len"),
        ("gpu-mem=0.5,0.95", "gpu-memory-utilization"),
        ("tp=1,2", "tensor-parallel-size"),
        ("--kv_cache_dtype=auto,fp8", "kv-cache-dtype"),
        ("gpu=L4", "gpu"),
        ("concurrency=1,2", "concurrency"),
    ],
)
def test_an_axis_has_one_name(written: str, name: str) -> None:
    assert resolve_axis(parse_axis(written), start()).name == name


@pytest.mark.parametrize(
    "text",
    [
        "gpu-mem=0.5,0.95",
        "tp=1,2",
        "gpu=H100-80GB-SXM,L40S",
        "engine-version=0.9.0,0.19.0",
        "max-num-batched=2k,64k",
    ],
)
def test_every_value_of_an_axis_is_applied(text: str) -> None:
    first, last = rows(text)
    assert first.tokens != last.tokens


def test_an_abbreviated_length_is_the_length_of_the_load() -> None:
    short, long = rows("max-model=4k,8k")
    assert short.load_gib == 0.5
    assert long.load_gib == 1.0
    assert short.held == 2 * (long.held or 0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "max=4k,8k",
            (
                "--max in --table could mean --max-cpu-loras, --max-cudagraph-capture-size, "
                "--max-log-len, --max-logprobs, --max-long-partial-prefills, --max-lora-rank and 6 "
                "more; write the whole name."
            ),
        ),
        ("model=a,b", "--table model would change the question; compare two with --vs."),
        (
            "no-enable-prefix-caching=true",
            (
                "--table no-enable-prefix-caching is the negation of a flag; write --table "
                "enable-prefix-caching=true,false."
            ),
        ),
        (
            "swap-space=1,2",
            (
                "--table swap-space cannot be varied: vLLM 0.19 has no --swap-space; 0.17.0 was the "
                "last known release to have it."
            ),
        ),
    ],
)
def test_axes_that_cannot_be_varied_are_refused(text: str, message: str) -> None:
    with pytest.raises(BadInput) as caught:
        resolve_axis(parse_axis(text), start())
    assert str(caught.value) == message


def test_an_unknown_axis_is_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match="the nearest known ones are --max-model-len, "):
        resolve_axis(parse_axis("max-modle-len=4k"), start())


def test_an_unknown_card_on_the_axis_is_refused() -> None:
    with pytest.raises(UnknownName, match=r"^Unknown GPU 'H1000' in --table gpu; "):
        rows("gpu=H1000")
