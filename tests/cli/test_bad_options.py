"""Bad arguments and options through the real command: one sentence, exit 2, nothing on stdout."""

from pathlib import Path

import pytest

from commands import CARD, ESC, LAUNCH, said


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The few files that options below name."""
    made = tmp_path_factory.mktemp("options")
    (made / "list.json").write_text("[1]")
    (made / "empty.yaml").touch()
    (made / "noise.log").write_bytes(bytes(range(256)) * 4)
    (made / f"{ESC}[31mred.yaml").write_text("[1]")
    return made


ARGUMENTS = {
    "-tp 0": "-tp in the launch command is 0; it must be from 1 to 65536.",
    "-tp nan": "-tp in the launch command is 'nan', which is not a count; write a whole number, or "
    "one with a suffix such as 32k (32000) or 32K (32768).",
    "--max-model-len 0": "--max-model-len in the launch command is 0; it must be from 1 to "
    "2147483648.",
    f"--max-model-len 1{'0' * 30}": f"--max-model-len in the launch command is '1{'0' * 30}', which "
    "is not a usable whole number.",
    "--gpu-memory-utilization nan": "--gpu-memory-utilization in the launch command is nan; it must "
    "be above 0 and at most 1.",
    "--gpu-memory-utilization -1": "--gpu-memory-utilization in the launch command is -1; it must be "
    "above 0 and at most 1.",
    "--max-num-seqs 0": "--max-num-seqs in the launch command is 0; it must be at least 1.",
    "--kv-cache-memory-bytes -1": "--kv-cache-memory-bytes in the launch command is -1; it must be "
    "at least 1.",
    "--cpu-offload-gb nan": "--cpu-offload-gb in the launch command is nan; it must be from 0 to "
    "100000.",
    "--hf-overrides [1]": "--hf-overrides in the launch command is '[1]'; it must be a JSON object.",
}


@pytest.mark.parametrize("words", ARGUMENTS)
def test_a_bad_argument_is_one_sentence(folder: Path, words: str) -> None:
    assert said(["ledger", f"{LAUNCH} {words}", *CARD], folder) == ARGUMENTS[words]


def test_a_split_that_does_not_divide_names_the_legal_ones(folder: Path) -> None:
    assert said(["ledger", f"{LAUNCH} -tp 3", *CARD], folder).startswith(
        "The 32 attention heads are not divisible by a tensor-parallel size of 3; choose one that "
        "divides 32. Legal tensor-parallel sizes up to 16: 1, 2, 4, 8, 16."
    )


NO_GPU = "nothing known comes near it. `vram gpus` lists every name that is understood."
NO_HUB = "is not a hub reference; write hf:org/name or hf:org/name@revision."
SIZE = "2,048 GiB"
OPTIONS: list[tuple[list[str], str]] = [
    (["gpus", "../../etc/passwd"], f"Unknown GPU '../../etc/passwd'; {NO_GPU}"),
    (["ledger", LAUNCH, "--gpu", "/dev/zero"], f"Unknown GPU '/dev/zero' in --gpu; {NO_GPU}"),
    (["gpus", f"{ESC}[31m\nx"], rf"Unknown GPU '\x1b[31m\nx'; {NO_GPU}"),
    (["gpus", "--min-gib", "nan"],
     f"--min-gib is nan GiB, which no accelerator has; give a size above 0 and up to {SIZE}."),
    (["inspect", "hf:../../etc"], f"'hf:../../etc' {NO_HUB}"),
    (["size", "hf:a/b@../../x", "--users", "3"], f"'hf:a/b@../../x' {NO_HUB}"),
    (["inspect", "hf:a/b\n"], rf"'hf:a/b\n' {NO_HUB}"),
    (["inspect", "file:///etc/passwd"],
     ("'file:///etc/passwd' is an address; write hf:org/name for a model on the hub, or give a local "
     "path.")),
    (["inspect", f"{ESC}[2J"],
     r"Unknown model '\x1b[2J' in the catalogue; nothing known comes near it."),
    (["inspect", "\udcff"],
     r"Unknown model '\udcff' in the catalogue; nothing known comes near it."),
    (["ledger", LAUNCH], "State the accelerator with --gpu NAME; vram gpus lists the names."),
    (["ledger", LAUNCH, *CARD, "--total-gib", "nan"],
     f"--total-gib is nan GiB, which no accelerator has; give a size above 0 and up to {SIZE}."),
    (["ledger", LAUNCH, *CARD, "--request-tokens", "0"],
     "--request-tokens is 0; it must be at least 1."),
    (["ledger", LAUNCH, *CARD, "--concurrent", "0"], "--concurrent is 0; it must be at least 1."),
    (["ledger", LAUNCH, *CARD, "--concurrent", "8"],
     ("--concurrent has no part in the account of a launch; it goes with --solve, --table and --beside. "
     "Leave it out.")),
    (["ledger", LAUNCH, *CARD, "--vs", LAUNCH, "--request-tokens", "8k"],
     ("--request-tokens has no part with --vs; it goes with --solve, --table, --layouts and --beside. "
     "Leave it out.")),
    (["ledger", LAUNCH, *CARD, "--layouts", "4", "--max-loss", "1%"],
     "--max-loss has no part with --layouts; it goes with --baseline. Leave it out."),
    (["ledger", LAUNCH, *CARD, "--solve", "max-model-len", "--request-tokens", "8k"],
     ("--request-tokens has no part in --solve max-model-len, whose requests are as long as the answer. "
     "Leave it out.")),
    (["ledger", LAUNCH, *CARD, "--json", "--markdown"],
     "--json and --markdown are two forms of one answer; ask for one of them."),
    (["ledger", LAUNCH, *CARD, "--baseline", "list.json"],
     "list.json is no ledger of schema vramledger.ledger/1; save one with vram ledger --json."),
    (["ledger", LAUNCH, *CARD, "--baseline", "list.json", "--max-loss", "nan"],
     "--max-loss is 'nan'; write a share such as 5% or 0.05."),
    (["ledger", LAUNCH, *CARD, "--table", "x"],
     ("--table 'x' is not NAME=VALUES; write --table max-model-len=4k..128k or --table "
     "kv-cache-dtype=auto,fp8.")),
    (["ledger", LAUNCH, *CARD, "--from-log", "noise.log"],
     ("noise.log holds no start-up line of vLLM (such as 'Model loading took' or 'KV cache size'); "
     "give the log from the engine's first line to 'Application startup complete'.")),
    (["ledger", LAUNCH, *CARD, "--from-metrics", "empty.yaml"],
     "empty.yaml is empty; give the text that the server's /metrics address returns."),
    (["ledger", LAUNCH, *CARD, "--from-metrics", "file:///etc/passwd"],
     "file:///etc/passwd is no address of a web page; give an http:// address or a file."),
    (["ledger", LAUNCH, *CARD, "--from-metrics", "http://me:secret@127.0.0.1:9/x"],
     ("http://127.0.0.1:9/x cannot be read: [Errno 111] Connection refused; check that the server is "
     "up.")),
    (["size", "Qwen/Qwen3-8B", "--concurrent", "nan"],
     "The load is nan; it must be above 0 and at most 1e9."),
    (["size", "Qwen/Qwen3-8B", "--users", "-1"],
     "The load is -1; it must be above 0 and at most 1e9."),
    (["size", "Qwen/Qwen3-8B", "--users", "3", "--headroom", "nan"],
     "--headroom is nan; it must be from 0 to below 1."),
    (["size", "Qwen/Qwen3-8B", "--users", "3", "--factor", "peak-factor=1e308"],
     ("The factor peak-factor is 1e+308; it must be between 1 and 100 (busiest minutes of the hour "
     "over its average).")),
    (["size", "Qwen/Qwen3-8B", "--users", "3", "--price", "L4=nan/h"],
     ("The price of L4 is 'nan/h', which is not a price per time; write it as 1.10/h or USD "
     "800/month.")),
    (["size", f"{ESC}[31mred.yaml"],
     (r"\x1b[31mred.yaml is not a plan: it holds no keys at its top; `vram plan new` writes one to "
     "start from.")),
    (["ledger", "--from-lo", "startup.log"],
     "No such option '--from-lo'; near it: --from-log, --from-metrics, --max-loss. See vram ledger --help."),
    (["plan", "new", "--out", "/nonexistent/x"],
     "/nonexistent/x cannot be written: No such file or directory."),
    ([f"{ESC}[31m"],
     r"Unknown verb '\x1b[31m'; nothing known comes near it. Run vram --help for the list."),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "sentence"), OPTIONS, ids=lambda case: repr(case)[:60])
def test_a_bad_option_is_one_sentence(folder: Path, arguments: list[str], sentence: str) -> None:
    assert said(arguments, folder) == sentence
