"""The fewest GPUs are sought over layouts that people run."""

from typing import Any

import pytest

from vramledger.engine.read import read_launch
from vramledger.ledger.case import Case
from vramledger.ledger.question import accelerator_for, model_of
from vramledger.ledger.solve import Load, solve
from vramledger.ledger.spreads import shapes
from vramledger.report.questions import solution_json


def case(command: str, gpu: str, version: str = "0.19.0") -> Case:
    launch = read_launch(command)
    return Case(launch, model_of(launch), accelerator_for(gpu), version)


def sizes(command: str, gpu: str) -> list[tuple[int, int]]:
    return [(shape.tp, shape.pp) for shape in shapes(case(command, gpu))]


def test_powers_of_two_in_one_server_come_first_and_stages_only_across_servers() -> None:
    found = sizes("vllm serve meta-llama/Llama-3.1-70B-Instruct", "L40S")
    assert found[:4] == [(1, 1), (2, 1), (4, 1), (8, 1)]
    staged = [shape for shape in found if shape[1] > 1]
    assert staged == [(8, stages) for stages in range(2, 9)]


def test_stages_stand_in_where_tensor_parallelism_is_illegal() -> None:
    found = sizes("vllm serve HuggingFaceTB/SmolLM2-135M-Instruct", "L4")  # 9 heads
    assert found[:4] == [(1, 1), (1, 2), (1, 4), (1, 8)]
    assert (3, 1) in found


def test_given_stages_are_kept() -> None:
    found = sizes("vllm serve meta-llama/Llama-3.1-70B-Instruct -pp 2", "L40S")
    assert found[:4] == [(1, 2), (2, 2), (4, 2), (8, 2)]


def answer(command: str, target: str, requests: int, gpu: str = "H100-80GB-SXM") -> dict[str, Any]:
    return solution_json(solve(case(command, gpu), target, Load(requests)))


def test_the_layout_found_is_in_the_json() -> None:
    found = answer(
        "vllm serve meta-llama/Llama-3.1-405B-Instruct --max-model-len 8192", "gpus", 1, "L40S"
    )
    assert (found["value"], found["tp"], found["pp"]) == (24, 8, 3)


@pytest.mark.parametrize("target", ["max-model-len", "gpu-memory-utilization", "gpus"])
def test_a_limit_on_sequences_is_named_as_the_cause(target: str) -> None:
    launch = "vllm serve meta-llama/Llama-3.1-8B-Instruct --max-model-len 512 --max-num-seqs 256"
    found = answer(launch, target, 300)
    assert found["value"] is None
    assert found["reason"].endswith(
        " holds 300 requests: max_num_seqs is 256, so no more than 256 requests run at once whatever "
        "the memory; set --max-num-seqs 300."
    )


def test_bytes_for_more_requests_than_may_run_say_so() -> None:
    launch = "vllm serve meta-llama/Llama-3.1-8B-Instruct --max-model-len 512 --max-num-seqs 256"
    assert answer(launch, "kv-cache-memory-bytes", 300)["reason"].endswith(
        "blocks with the null block. But max_num_seqs is 256, so no more than 256 requests run at "
        "once whatever the memory; set --max-num-seqs 300."
    )
