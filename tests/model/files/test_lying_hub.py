"""hf: against a hub that lies, with and without huggingface_hub: soon, bounded, no token leaked."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lying_server import Lies, lying

READ = """
import sys
from vramledger.model.files import hub, hub_http, hub_library
from vramledger.model.load import load_model
from vramledger.errors import VramError
if sys.argv[1] == "plain":
    hub.find_spec = lambda _: None
hub_http._TIMEOUT_S = hub_library._TIMEOUT_S = 4
hub_http.LARGEST_FILE = hub_library.LARGEST_FILE = 32 << 20
try:
    load_model("hf:" + sys.argv[2] + "/llama")
except VramError as error:
    print(type(error).__name__, error)
lines = open("/proc/self/status").read().splitlines()  # ru_maxrss would count what the parent had
print(*(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM")), file=sys.stderr)
"""
LARGEST_MIB = 600


@pytest.fixture(scope="module")
def server() -> Iterator[Lies]:
    with lying() as lies:
        yield lies


def answer(server: Lies, client: str, lie: str, folder: Path) -> str:
    """What is said; the process must end soon, small and with one line."""
    done = subprocess.run(
        [sys.executable, "-c", READ, client, lie],
        env={
            **os.environ,
            "HF_ENDPOINT": server.url,
            "HF_TOKEN": "hf_secret",
            "HF_HOME": str(folder),
            "MODELSCOPE_CACHE": str(folder),
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == 1
    assert "hf_secret" not in done.stdout + done.stderr
    assert int(done.stderr.split()[-1]) < LARGEST_MIB
    return done.stdout.strip()


@pytest.mark.parametrize("client", ["plain", "library"])
@pytest.mark.parametrize(
    ("lie", "kind"),
    [("endless", "BadInput"), ("drip", "CannotKnow"), ("error", "CannotKnow"),
     ("garbage", "CannotKnow"), ("circle", "CannotKnow")],
)  # fmt: skip
def test_a_lying_hub_is_refused_in_one_sentence(
    server: Lies, tmp_path: Path, client: str, lie: str, kind: str
) -> None:
    said = answer(server, client, lie, tmp_path)
    assert said.startswith(f"{kind} ")
    assert said.endswith(".")


def test_an_endless_file_is_named(server: Lies, tmp_path: Path) -> None:
    assert answer(server, "plain", "endless", tmp_path) == (
        "BadInput config.json of endless/llama on the hub has more than 33,554,432 bytes, far more "
        "than such a file has; the repository or HF_ENDPOINT is not what it should be."
    )


def test_a_token_is_not_sent_to_the_host_of_a_redirect(server: Lies, tmp_path: Path) -> None:
    with lying() as other:
        server.other = other.url
        answer(server, "plain", "redirect", tmp_path)
        assert ("/redirect/llama/resolve/main/config.json", "Bearer hf_secret") in server.asked
        assert other.asked
        assert {token for _, token in other.asked} == {None}
