"""Odd launches and questions end in one sentence and an exit code, never in a traceback."""

import pytest

from vramledger.cli.main import run

LAUNCH = "vllm serve meta-llama/Llama-3.1-8B-Instruct"
GPU = ("--gpu", "H100-80GB-SXM")


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = run(["ledger", *words])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ("-tp 0", "-tp in the launch command is 0; it must be from 1 to 65536."),
        ("-tp 1000000", "-tp in the launch command is 1000000; it must be from 1 to 65536."),
        (
            "--max-model-len -5",
            (
                "--max-model-len in the launch command is '-5', which is not a count; write a whole "
                "number, or one with a suffix such as 32k (32000) or 32K (32768)."
            ),
        ),
        (
            "--gpu-memory-utilization nan",
            (
                "--gpu-memory-utilization in the launch command is nan; it must be above 0 and at "
                "most 1."
            ),
        ),
        (
            "--gpu-memory-utilization 2",
            "--gpu-memory-utilization in the launch command is 2; it must be above 0 and at most 1.",
        ),
        (
            "--cpu-offload-gb 1e308",
            "--cpu-offload-gb in the launch command is 1e308; it must be from 0 to 100000.",
        ),
        ("--block-size 0", "--block-size in the launch command is 0; it must be at least 1."),
        (
            "--quantization wat",
            "Unknown method of quantising while loading 'wat'; nothing known comes near it.",
        ),
        (
            "--speculative-config '[]'",
            "--speculative-config in the launch command is '[]'; it must be a JSON object.",
        ),
    ],
)
def test_values_no_engine_takes_are_one_sentence(
    capsys: pytest.CaptureFixture[str], flags: str, message: str
) -> None:
    assert said(capsys, f"{LAUNCH} {flags}", *GPU) == (2, "", f"vram: {message}\n")


@pytest.mark.parametrize(
    "bomb", ["[" * 100_000, '{"a":' * 100_000, '{"num_speculative_tokens":' + "9" * 5000 + "}"]
)
def test_json_bombs_are_no_json(capsys: pytest.CaptureFixture[str], bomb: str) -> None:
    code, out, err = said(capsys, f"{LAUNCH} --speculative-config '{bomb}'", *GPU)
    assert (code, out) == (2, "")
    assert err.endswith(
        "which is not valid JSON; put the object in single quotes and its keys in double quotes.\n"
    )
    assert len(err) < 400


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        ("--kv-cache-memory-bytes 1T", "Allocating the KV cache fails: 1024.00 GiB are asked for "),
        (
            "--num-gpu-blocks-override 999999999999",
            "Allocating the KV cache fails: 999999999999 blocks take 1953125000.00 GiB on rank 0, ",
        ),
        (
            "--block-size 7",
            (
                "block_size 7 is not a multiple of 16, which the attention kernels for NVIDIA GPUs "
                "need; vLLM refuses to start. Leave it out or use 16. (A17)"
            ),
        ),
        ("--max-num-seqs 1000000000", "max_num_batched_tokens (8192) is below max_num_seqs "),
        (
            """--speculative-config '{"method": "eagle", "num_speculative_tokens": 3}'""",
            (
                "Speculative decoding by eagle needs a draft model, and none is named; vLLM refuses "
                'to start. Add "model" to --speculative-config. (A18)'
            ),
        ),
    ],
)
def test_values_the_engine_takes_and_dies_of_do_not_fit(
    capsys: pytest.CaptureFixture[str], flags: str, reason: str
) -> None:
    code, out, err = said(capsys, f"{LAUNCH} {flags}", *GPU, "--engine-version", "0.33.0")
    assert (code, err) == (1, "")
    assert out.startswith(f"DOES NOT FIT: {reason}")


def test_a_draft_model_that_cannot_be_read_leaves_the_verdict_open(
    capsys: pytest.CaptureFixture[str],
) -> None:
    config = '{"model": "nobody/nothing", "num_speculative_tokens": 3}'
    code, out, _ = said(capsys, f"{LAUNCH} --speculative-config '{config}'", *GPU)
    assert code == 3
    assert out.startswith("CANNOT KNOW: It starts and holds ")
    assert "without the draft model, which is not counted.\n" in out
    assert "The draft model is not counted: Unknown model 'nobody/nothing' in the catalogue" in out


def test_what_was_ignored_or_assumed_is_said_beside_the_verdict(
    capsys: pytest.CaptureFixture[str],
) -> None:
    overrides = """--hf-overrides '{"num_hidden_layers": 1}' --config /nowhere/serve.yaml"""
    _, out, _ = said(capsys, f"{LAUNCH} {overrides}", *GPU, "--engine-version", "0.19.0")
    assert "The settings in /nowhere/serve.yaml are not known: it is not here.\n" in out
    assert (
        "A19 silent: --hf-overrides changes num_hidden_layers, which this account does not follow: "
        "put the changed configuration into a directory and account for that.\n" in out
    )


@pytest.mark.parametrize("version", ["abc", "-1", "0." + "9" * 10_000, "0.19.0;rm", "\U0001f600"])
def test_other_version_strings_are_unknown_names(
    capsys: pytest.CaptureFixture[str], version: str
) -> None:
    code, out, err = said(capsys, LAUNCH, *GPU, "--engine-version", version)
    assert (code, out) == (2, "")
    assert err.startswith("vram: Unknown vLLM version '")
    assert err.count("\n") == 1
    assert len(err) < 2100


@pytest.mark.parametrize("version", ["99.0", "0.99999", "nightly"])
def test_newer_versions_get_the_newest_rules_and_say_so(
    capsys: pytest.CaptureFixture[str], version: str
) -> None:
    code, out, _ = said(capsys, f"{LAUNCH} --max-model-len 8192", *GPU, "--engine-version", version)
    assert code == 0
    assert "(0.33)" in out


@pytest.mark.parametrize("total", ["1e9", "0", "-1", "nan", "inf"])
def test_totals_no_card_has_are_refused(capsys: pytest.CaptureFixture[str], total: str) -> None:
    code, out, err = said(capsys, LAUNCH, *GPU, "--total-gib", total)
    assert (code, out) == (2, "")
    assert err.endswith("which no accelerator has; give a size above 0 and up to 2,048 GiB.\n")


def test_a_tiny_total_is_drawn_and_does_not_fit(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = said(capsys, LAUNCH, *GPU, "--total-gib", "1e-9")
    assert code == 1
    assert max(len(line) for line in out.splitlines()) < 2000


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("--table", "x=1,2"),
            "Unknown vLLM 0.33 flag '--x' in --table; nothing known comes near it.",
        ),
        (("--table", "model=a"), "--table model would change the question; compare two with --vs."),
        (
            ("--table", "concurrency=0,1"),
            "--table concurrency has the value 0; it must be at least 1.",
        ),
        (
            ("--solve", "tensor-parallel-size"),
            (
                "Unknown question for --solve 'tensor-parallel-size'; nothing known comes near it. "
                "The questions are max-model-len, max-num-seqs, gpu-memory-utilization, "
                "kv-cache-memory-bytes and gpus, which also finds the tensor and pipeline parallel "
                "sizes."
            ),
        ),
        (
            ("--vs", ""),
            "The launch command is empty; give a command such as 'vllm serve MODEL'.",
        ),
        (
            ("--solve", "gpus", "--layouts", "4"),
            "--solve and --layouts ask different questions; ask one at a time.",
        ),
        (("--concurrent", "0", "--solve", "gpus"), "--concurrent is 0; it must be at least 1."),
    ],
)
def test_odd_questions_are_one_sentence(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], message: str
) -> None:
    found = said(capsys, LAUNCH, *GPU, "--engine-version", "0.33.0", *words)
    assert found == (2, "", f"vram: {message}\n")


@pytest.mark.parametrize(
    ("target", "start"),
    [
        ("max-model-len", "No max-model-len holds 1000000000 requests: "),
        ("gpu-memory-utilization", "No gpu-memory-utilization holds 1000000000 requests: "),
        ("kv-cache-memory-bytes", "1000000000 requests of 8,192 tokens take "),
        ("gpus", "No number of GPUs up to 64 holds 1000000000 requests: "),
    ],
)
def test_an_absurd_load_is_not_held(
    capsys: pytest.CaptureFixture[str], target: str, start: str
) -> None:
    words = ("--concurrent", "1000000000", "--solve", target, "--engine-version", "0.19.0")
    code, out, _ = said(capsys, f"{LAUNCH} --max-model-len 8192", *GPU, *words)
    assert code == 1
    assert out.startswith(start)


def test_the_largest_length_counts_the_requests_asked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ("--solve", "max-model-len", "--engine-version", "0.19.0", "--concurrent")
    _, one, _ = said(capsys, LAUNCH, "--gpu", "L40S", *words, "1")
    _, four, _ = said(capsys, LAUNCH, "--gpu", "L40S", *words, "4")
    assert one.startswith("The largest max_model_len is 131,072 tokens ")
    assert four.startswith("The largest max_model_len that holds 4 requests of that length is ")
    length = int(four.split(" is ")[1].split()[0].replace(",", ""))
    assert 131_072 / 4 < length < 131_072 / 2


def test_a_long_input_is_quoted_short(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = said(capsys, LAUNCH, "--gpu", "A" * 1_000_000)
    assert code == 2
    assert err.startswith("vram: Unknown GPU 'AAAA")
    assert len(err) < 2100
