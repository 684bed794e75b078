"""A log is heard before it is compared: its version and settings win, and each clash is named."""

import pytest

from vramledger.engine.read import read_launch
from vramledger.engine.vllm.log.launch import launch_from_log
from vramledger.engine.vllm.log.lines import parse_lines
from vramledger.engine.vllm.log.startup import StartupLog, parse_startup
from vramledger.errors import ExitCode
from vramledger.ledger.case import Case
from vramledger.ledger.measured import compare_log, verdict
from vramledger.ledger.question import accelerator_for, model_of
from vramledger.ledger.understood import Understood, understand
from vramledger.report.measured import measured_json, measured_text

LLAMA = "meta-llama/Llama-3.1-8B-Instruct"
START = f"""\
(APIServer pid=1) INFO [utils.py:253] non-default args: {{'model': '{LLAMA}', 'max_model_len': 8192}}
(EngineCore pid=7) INFO [core.py:105] Initializing a V1 LLM engine (v0.19.0) with config: \
model='{LLAMA}', dtype=torch.bfloat16
(EngineCore pid=7) INFO [x.py:1] Model loading took 14.99 GiB memory and 4.0 seconds
"""


def log_of(text: str) -> StartupLog:
    return parse_startup(parse_lines(text.splitlines()), "log")


def heard(
    command: str, text: str, gpu: str = "H100-80GB-SXM", version: str | None = None
) -> Understood:
    launch = read_launch(command, version=version)
    case = Case(launch, model_of(launch), accelerator_for(gpu), version)
    log = log_of(text)
    return understand(case, log, launch_from_log(log, "log"))


def test_a_launch_that_agrees_with_the_log_has_no_clash() -> None:
    found = heard(f"vllm serve {LLAMA} --max-model-len 8192", START)
    assert found.contradictions == ()
    assert found.comparable
    assert [(s.name, s.value, s.source) for s in found.stated] == [
        ("model", LLAMA, "log"),
        ("vLLM", "0.19.0", "log"),
        ("tensor_parallel_size", "1", "default"),
        ("gpu_memory_utilization", "0.9", "default"),
        ("max_model_len", "8192", "log"),
        ("dtype", "bfloat16", "log"),
    ]


def test_the_logs_version_and_settings_win_and_each_clash_is_a_sentence() -> None:
    found = heard(f"vllm serve {LLAMA} -tp 2 --max-model-len 4096", START, version="0.12.0")
    assert found.contradictions == (
        "The log is of vLLM 0.19.0 and 0.12.0 was stated; the log's version is used.",
        (
            "The log lists no tensor_parallel_size, so it ran with 1, and the launch states 2; the "
            "log's value is used."
        ),
        "The log states max_model_len 8192 and the launch states 4096; the log's value is used.",
    )
    deployment = found.case.deployment()
    assert (deployment.version, deployment.layout.tp) == ("0.19.0", 1)
    assert deployment.max_model_len.value == 8192


def test_another_model_card_or_rank_is_named_and_nothing_else_explains_the_gaps() -> None:
    more = START + (
        "(Worker_TP3 pid=9) INFO [x.py:1] Free memory on device (78.68/79.19 GiB) on startup. Desired "
        "GPU memory utilization is (0.9, 71.27 GiB). Actual usage is 14.99 GiB for weight, 1.89 GiB "
        "for peak activation, 0.25 GiB for non-torch memory, and 0.91 GiB for CUDAGraph memory.\n"
    )
    found = heard("vllm serve Qwen/Qwen3-8B --max-model-len 8192", more, "L4")
    assert found.contradictions == (
        (
            f"The log is of the model {LLAMA} and the account of Qwen/Qwen3-8B; the rows are "
            "comparable only if the two are one model."
        ),
        (
            "The log has lines of tensor-parallel rank 3 and the account 1 such rank; state "
            "--tensor-parallel-size as it was started."
        ),
        "The log's card reports 79.19 GiB and L4 22.09 GiB; give the card it ran on with --gpu.",
        "While they differ, the gaps have no other reason.",
    )
    assert not found.comparable
    compared = compare_log(found.case.ledger(), log_of(more), explain=found.comparable)
    assert {c.reason for c in compared} == {""}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "ValueError: No available memory for the cache blocks. Try increasing",
            "  nothing left for the cache (line 4 of the log)",
        ),
        (
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 786.00 MiB. GPU 0 has",
            "  out of memory (line 4 of the log): asked 0.77 GiB",
        ),
    ],
)
def test_a_failed_start_does_not_hold_and_is_said_first(line: str, said: str) -> None:
    log = log_of(START + line)
    ledger = heard(f"vllm serve {LLAMA}", START).case.ledger()
    compared = compare_log(ledger, log)
    assert all(c.inside_band for c in compared)
    assert verdict(compared) is ExitCode.HOLDS
    assert verdict(compared, log.failures) is ExitCode.DOES_NOT_HOLD
    assert measured_text(compared, log.failures).splitlines()[:2] == ["THE ENGINE FAILED:", said]


def test_an_account_stands_beside_a_failure_that_printed_no_figure_to_compare() -> None:
    log = log_of("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0")
    ledger = heard(f"vllm serve {LLAMA}", START).case.ledger()
    text = measured_text((), log.failures, None, ledger)
    assert "\nNothing to compare.\n\nThe account of this launch:\n\nFITS: " in text
    assert measured_json((), log.failures, None, ledger)["account"]["fits"] is True


def test_a_line_outside_its_band_is_named_even_when_its_gap_is_small() -> None:
    log = log_of(START.replace("14.99 GiB", "14.88 GiB"))
    compared = compare_log(heard(f"vllm serve {LLAMA}", START).case.ledger(), log)
    assert verdict(compared) is ExitCode.DOES_NOT_HOLD
    lines = measured_text(compared).splitlines()
    assert lines[0].endswith("gap  band")
    assert lines[2].endswith("-0.73%  outside")
    assert lines[-1] == "Outside the predicted band: weights."
