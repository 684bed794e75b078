"""Every sanity error of vLLM that the field knows, by its wording: cause, arithmetic with the line's own figures, and the smallest change."""

import pytest

from diagnosed_logs import diagnosed
from vramledger.errors import ExitCode

MADE_TO_FIT = (
    "By the engine's own estimate 31,456 tokens fit.",
    "A request of 131,072 tokens needs 16 GiB of KV cache and 3.84 GiB are there: 12.16 GiB are missing on each GPU.",
)
ROWS = (
    (
        "ValueError: Free memory on device cuda:0 (9.21/79.11 GiB) on startup is less than desired GPU memory utilization (0.92, 72.78 GiB).",
        "memory-not-free-at-start",
        ("Utilization 0.92 of 79.11 GiB asks for 72.78 GiB; 9.21 GiB are free, so 63.57 GiB are missing.",),
        "--gpu-memory-utilization 0.11",
    ),
    (
        "ValueError: Externally held weights on device cuda:0 (70.12 GiB) exceed the desired GPU memory utilization (0.85, 67.24 GiB).",
        "held-weights-over-budget",
        ("70.12 GiB are held and utilization 0.85 of 79.11 GiB allows 67.24 GiB: 2.88 GiB are missing before anything is left for the KV cache.",),
        "--gpu-memory-utilization 0.89",
    ),
    (
        "ValueError: Free memory on device cuda:0 is less than the engine's budget after excluding externally held weights.",
        "held-weights-over-budget",
        (),
        "raise --gpu-memory-utilization, or have the weight server hold less",
    ),
    (
        "AssertionError: Error in memory profiling. Initial free memory 70.12 GiB, current free memory 75.30 GiB.",
        "memory-changed-while-profiling",
        ("70.12 GiB were free at the start and 75.30 GiB after the profile run: 5.18 GiB were let go meanwhile by somebody else.",),
        "start the same command again once the other process has ended or settled; start servers of one GPU one after the other",
    ),
    (
        "AssertionError: Error in memory profiling. Initial free memory 15032385536, current free memory 16106127360. This happens when the GPU memory was not properly cleaned up before initializing the vLLM instance.",
        "memory-changed-while-profiling",
        ("14.00 GiB were free at the start and 15.00 GiB after the profile run: 1.00 GiB were let go meanwhile by somebody else.",),
        "start the same command again once the other process has ended or settled; start servers of one GPU one after the other",
    ),
    (
        "INFO 12-01 19:06:34 [gpu_worker.py:300] Available KV cache memory: -1.50 GiB\nValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.",
        "nothing-left-for-the-cache",
        ("-1.50 GiB were left for the cache, so at least 1.50 GiB are missing.",),
        "--tensor-parallel-size 2",
    ),
    (
        "ValueError: To serve at least one request with the model's max seq len (131072), (16.0 GiB KV cache is needed, which is larger than the available KV cache memory (3.84 GiB). Based on the available memory, the estimated maximum model length is 31456.",
        "one-request-does-not-fit",
        MADE_TO_FIT,
        "--max-model-len 31456",
    ),
    (
        "ValueError: To serve at least one request with the models's max seq len (131072), (24.00 GiB KV cache is needed, which is larger than the available KV cache memory (9.97 GiB).",
        "one-request-does-not-fit",
        ("That is 192.0 KiB a token on each GPU.", "By proportion 54,448 tokens fit; with sliding windows or recurrent state it can be more or less."),
        "--max-model-len 54448",
    ),
    (
        "ValueError: The model's max seq len (32768) is larger than the maximum number of tokens that can be stored in KV cache (21872).",
        "one-request-does-not-fit",
        ("A request of max_model_len has 32,768 tokens and the KV cache holds 21,872.",),
        "--max-model-len 21872",
    ),
    (
        "ValueError: Cannot auto-fit max_model_len: not enough GPU memory available to serve even a single token.",
        "no-length-fits",
        (),
        "--tensor-parallel-size 2",
    ),
    (
        "RuntimeError: Failed to load model - not enough GPU memory.",
        "weights-do-not-fit",
        ("The utilization has no part in it: the weights themselves do not fit beside what is on the card.",),
        "--tensor-parallel-size 2",
    ),
    (
        "RuntimeError: CUDA out of memory occurred when warming up sampler with 1024 dummy requests.",
        "sampler-out-of-memory",
        ("The warm-up samples 1024 rows at once, each a row of logits over the whole vocabulary in 32 bits, more than once.",),
        "--max-num-seqs 512",
    ),
    (
        "RuntimeError: CUDA out of memory occurred when warming up pooler with 256 dummy requests.",
        "sampler-out-of-memory",
        ("The warm-up samples 256 rows at once, each a row of logits over the whole vocabulary in 32 bits, more than once.",),
        "--max-num-seqs 128",
    ),
    (
        "ValueError: max_num_seqs (1024) exceeds available Mamba cache blocks (312).",
        "more-sequences-than-state-blocks",
        ("Each running sequence keeps one block of recurrent state: 1024 sequences are allowed and 312 blocks are there.",),
        "--max-num-seqs 312",
    ),
    (
        "INFO 12-01 19:06:34 [gpu_worker.py:300] Available KV cache memory: 10.50 GiB\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.11 GiB of which 1.20 GiB is free.",
        "out-of-gpu-memory",
        ("2.00 GiB were asked for and 1.20 GiB were free on a card of 79.11 GiB.",),
        "--gpu-memory-utilization 0.88",
    ),
    (
        "ValueError: Too large swap space. 16.00 GiB out of the 15.60 GiB total CPU memory is allocated for the swap space.",
        "swap-space-too-large",
        ("16 GiB of 15.6 GiB of host memory are asked for; more than 70 % is refused.",),
        "--swap-space 0",
    ),
    (
        "ValueError: frontend multimodal GPU decoding reserves 4.00 GiB per GPU, which leaves no memory for the KV cache.",
        "multimodal-reserve",
        (),
        "--limit-mm-per-prompt '{\"image\": 1, \"video\": 0}'",
    ),
    (
        "ValueError: Aligned KV cache block size 1056 is not supported by attention backend FLASHINFER.",
        "block-size-clash",
        (),
        "--kv-cache-dtype auto",
    ),
    (
        "ValueError: KV cache layout LBHNC cannot express this model's mixed page sizes.",
        "cache-layout",
        (),
        "VLLM_KV_CACHE_LAYOUT=BLHNC",
    ),
)  # fmt: skip


@pytest.mark.parametrize(("lines", "cause", "arithmetic", "change"), ROWS, ids=lambda each: each[:40] if isinstance(each, str) else "")  # fmt: skip
def test_each_row_has_cause_arithmetic_and_change(
    lines: str, cause: str, arithmetic: tuple[str, ...], change: str
) -> None:
    found = diagnosed(lines)
    first = found.findings[0]
    assert first.cause == cause
    assert set(arithmetic) <= set(first.supports)
    assert first.change is not None
    assert first.change.text == change
    assert found.exit_code is ExitCode.DOES_NOT_HOLD
    assert first.rests_on.startswith(
        ("the error's own sentence, which says what failed and why", "the kind of the error; its sentence does not say all of the cause")
    )  # fmt: skip
    assert found.after == "unknown"
    assert found.why_after


@pytest.mark.parametrize(
    "line",
    [
        "INFO 12-01 19:06:34 [api_server.py:10] last time the worker was Killed by signal 9 (SIGKILL), see Exit Code: 137",
        "INFO 12-01 19:06:34 [core.py:7] checks for CUDA error: an illegal memory access was encountered are on",
        "DEBUG 12-01 19:06:34 [core.py:7] no kernel image is available for execution on the device is raised for old cards",
    ],
)
def test_information_that_mentions_an_error_is_none(line: str) -> None:
    ready = "INFO 12-01 19:07:00 [launcher.py:1] Application startup complete."
    begun = "INFO 12-01 19:06:00 [core.py:58] Initializing a V1 LLM engine (v0.11.0) with config: model='m'"
    found = diagnosed(f"{begun}\n{line}\n{ready}")
    assert found.exit_code is ExitCode.HOLDS
    assert found.findings[0].cause == "started"


def test_the_same_words_of_the_kernel_are_one() -> None:
    found = diagnosed("[ 8123.456] Out of memory: Killed process 4242 (VLLM::Worker_TP) total-vm:98213444kB, anon-rss:62914560kB")  # fmt: skip
    assert found.findings[0].cause == "killed-for-host-memory"
