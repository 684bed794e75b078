"""Every known error: its samples are recognised, come first, and end in sentences."""

import pytest

from diagnosed_logs import diagnosed
from vramledger.diagnose.startup.error import KnownError
from vramledger.diagnose.startup.errors import ERRORS
from vramledger.diagnose.startup.nearest import nearest_error
from vramledger.errors import ExitCode

SAMPLES = [(error, sample) for error in ERRORS for sample in error.samples]
AROUND = (
    "{}",
    "\x1b[1;36m(EngineCore_DP0 pid=813)\x1b[0;0m ERROR 12-01 19:06:34 [core.py:76] {}",
    "2026-01-02T03:04:05.678901234Z stderr F {}",
    "(RayWorkerWrapper pid=12, ip=10.0.0.2) {}",
)


@pytest.mark.parametrize(("error", "sample"), SAMPLES, ids=lambda each: getattr(each, "id", ""))
def test_each_sample_is_its_own_error(error: KnownError, sample: str) -> None:
    for around in AROUND:
        found = diagnosed(around.format(sample))
        assert found.findings[0].id == error.id
        assert found.exit_code is ExitCode.DOES_NOT_HOLD
        assert found.findings[0].message.endswith((".", ")."))
        assert "unknown" not in found.findings[0].message


def test_ids_are_unique() -> None:
    assert len({error.id for error in ERRORS}) == len(ERRORS)


@pytest.mark.parametrize(
    ("error", "sample"), SAMPLES[:20], ids=lambda each: getattr(each, "id", "")
)
def test_a_sample_is_nearest_to_itself(error: KnownError, sample: str) -> None:
    near = nearest_error(sample)
    assert near is not None
    assert near.cause == error.cause


def test_the_largest_length_follows_by_proportion() -> None:
    found = diagnosed(
        "ValueError: To serve at least one request with the models's max seq len (32768), (8.00 GiB KV cache is needed, "
        "which is larger than the available KV cache memory (2.00 GiB). Try increasing `gpu_memory_utilization`."
    )
    first = found.findings[0]
    assert (
        first.message
        == "One request of max_model_len (32,768 tokens) does not fit into the KV cache."
    )
    assert first.change is not None
    assert (first.change.flag, first.change.value) == ("max-model-len", "8192")
    assert (
        "A request of 32,768 tokens needs 8 GiB of KV cache and 2 GiB are there: 6.00 GiB are missing on each GPU."
        in first.supports
    )
    assert "That is 256.0 KiB a token on each GPU." in first.supports
    assert found.more_memory == "yes"


def test_an_allocation_that_fails_because_of_a_neighbour_names_it() -> None:
    found = diagnosed(
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.10 GiB of which 512.00 MiB is free. "
        "Process 77 has 40.00 GiB memory in use. Including non-PyTorch memory, this process has 38.60 GiB memory in use."
    )
    assert found.findings[0].message.startswith("Another process holds 40.00 GiB of this GPU")
    assert (
        "2.00 GiB were asked for and 0.50 GiB were free on a card of 79.10 GiB."
        in found.findings[0].supports
    )


def test_memory_in_pieces_is_told_from_too_little() -> None:
    found = diagnosed(
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.00 GiB. GPU 0 has a total capacity of 23.57 GiB of which 100.00 MiB is free. "
        "Of the allocated memory 18.00 GiB is allocated by PyTorch, and 3.20 GiB is reserved by PyTorch but unallocated."
    )
    assert found.findings[0].change is not None
    assert found.findings[0].change.text == "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"


def test_what_follows_from_another_error_is_no_cause() -> None:
    found = diagnosed(
        "RuntimeError: NCCL error: unhandled cuda error\n"
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"
        "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}\n"
    )
    assert [each.id for each in found.findings] == ["S15"]


def test_the_last_of_several_starts_is_judged() -> None:
    failed = "INFO vLLM API server version 0.11.0\nINFO Starting to load model x\nValueError: No available memory for the cache blocks.\n"
    healthy = "INFO vLLM API server version 0.11.0\nINFO Starting to load model x\nINFO:     Application startup complete.\n"
    found = diagnosed(failed + healthy)
    assert found.exit_code is ExitCode.HOLDS
    assert (
        "The log holds 1 earlier start (all of them failed); the last one is judged."
        in found.findings[0].supports
    )
    assert diagnosed(healthy + failed).findings[0].id == "S06"


def test_an_unknown_error_is_shown_with_the_nearest_and_without_secrets() -> None:
    found = diagnosed(
        "INFO vLLM API server version 0.40.0\nValueError: the KV cache memory of 3 GiB is too odd, token=hf_abcdefghijklmnop\n"
    )
    assert found.exit_code is ExitCode.CANNOT_KNOW
    assert found.findings[0].message == (
        "The log ends in an error that is not known, while reading its arguments: ValueError: the KV cache memory of 3 GiB is too odd, token=[secret]"
    )
    assert any(
        text.startswith("The nearest known error is S") for text in found.findings[0].supports
    )


def test_a_log_cut_short_is_no_failure() -> None:
    found = diagnosed("INFO vLLM API server version 0.11.0\nINFO Starting to load model x\n")
    assert found.exit_code is ExitCode.CANNOT_KNOW
    assert found.findings[0].message == (
        "The log ends while the engine is loading the weights; it has neither an error nor a server that is ready."
    )


def test_what_breaks_while_a_server_is_shut_down_is_no_failure() -> None:
    found = diagnosed(
        "INFO:     Application startup complete.\nINFO:     Shutting down\nRuntimeError: CUDA error: out of memory\n"
    )
    assert found.exit_code is ExitCode.HOLDS


def test_a_warning_that_quotes_an_error_is_none() -> None:
    found = diagnosed(
        "WARNING 12-01 [system_utils.py:255] Found ulimit, which can cause errors like `OSError: [Errno 28] No space left on device`\n"
    )
    assert found.exit_code is ExitCode.CANNOT_KNOW
