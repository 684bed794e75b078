"""Ctrl-C of ``vram trial shadow``: what was answered is kept, nobody waits for a server that hangs, and a recording goes on."""

import json
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event

from answering_server import Answering, Scripted, answering
from commands import VRAM, vram_here

SECONDS = 120.0
COUNT = 40
GOOD = 24  # prompts that are answered before the server hangs


def same(prompt: str) -> Scripted:
    return Scripted([f" w{place}" for place in range(20)] + [prompt[-6:]])


@contextmanager
def hanging() -> Iterator[tuple[Answering, Event]]:
    """A server that answers so many and then nothing, until the event is set."""
    free = Event()

    def script(prompt: str) -> Scripted:
        if int(prompt.rsplit(maxsplit=1)[-1]) >= GOOD:
            free.wait(SECONDS)
        return same(prompt)

    with answering(script) as server:
        try:
            yield server, free
        finally:
            free.set()


def prompts(folder: Path, text: str = "a wish number") -> str:
    lines = [json.dumps({"prompt": f"{text} {n}"}) for n in range(COUNT)]
    (folder / "own.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return "own.jsonl"


def until(found: Callable[[], bool]) -> None:
    end = time.monotonic() + SECONDS
    while not found():
        assert time.monotonic() < end
        time.sleep(0.02)


def interrupted(arguments: list[str], folder: Path, when: Callable[[], bool]) -> tuple[int, str]:
    """Ctrl-C as soon as `when` holds; the exit code and what was printed."""
    with subprocess.Popen(
        [*VRAM, "trial", "shadow", *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:  # fmt: skip
        try:
            until(when)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=SECONDS)
        finally:
            process.kill()
    assert "Traceback" not in err
    return process.returncode, out


def test_a_comparison_keeps_what_was_answered_where_a_server_hangs(tmp_path: Path) -> None:
    with answering(same) as a, hanging() as (b, _):
        command = ["--a", a.url, "--b", b.url, "--prompts", prompts(tmp_path), "--timeout", "1h", "--json", "-o", "s.json"]  # fmt: skip
        code, out = interrupted(
            command, tmp_path, lambda: len(b.asked) == GOOD + 4 and len(a.asked) == 50
        )
    found = json.loads(out)
    assert (code, found["interrupted"]) == (130, True)
    told = found["requests"]
    assert (told["asked"], told["answered"], told["unsent"]) == (COUNT, GOOD, COUNT - GOOD)
    assert 6 <= told["repeated"] <= 10  # A's last four may have been on their way
    assert found["errors"] == {"a": {}, "b": {}}  # what we cut is no failure of B
    assert found["token_agreement"]["value"] == 1.0
    assert json.loads((tmp_path / "s.json").read_text("utf-8")) == found


def test_ctrl_c_while_the_libraries_load_keeps_what_was_answered(tmp_path: Path) -> None:
    with hanging() as (a, _), hanging() as (b, _):
        command = ["--a", a.url, "--b", b.url, "--prompts", prompts(tmp_path), "--timeout", "1h", "--json"]  # fmt: skip
        code, out = interrupted(command, tmp_path, lambda: len(a.asked) > 0 and len(b.asked) > 0)
    found = json.loads(out)
    assert (code, found["interrupted"]) == (130, True)
    assert found["requests"]["answered"] <= GOOD
    assert found["errors"] == {"a": {}, "b": {}}


def test_a_recording_goes_on_where_it_was_interrupted(tmp_path: Path) -> None:
    with hanging() as (a, free):
        command = ["--a", a.url, "--record", "a.json", "--prompts", prompts(tmp_path), "--timeout", "1h"]  # fmt: skip
        code, out = interrupted(command, tmp_path, lambda: len(a.asked) == GOOD + 4)
        assert (code, out) == (
            130,
            f"Wrote a.json: {GOOD} of 50 answers. Interrupted: the same command goes on with the rest.\n",
        )
        free.set()
        a.asked.clear()
        done = vram_here(["trial", "shadow", *command], tmp_path)
        assert (done.returncode, done.stdout) == (
            0,
            "Wrote a.json: 50 of 50 answers. Compare with --a-recorded a.json --b URL.\n",
        )
        assert len(a.asked) == 50 - GOOD
        later = ["--a-recorded", "a.json", "--b", a.url, "--prompts", "own.jsonl", "--json"]
        found = json.loads(vram_here(["trial", "shadow", *later], tmp_path).stdout)
    assert found["requests"]["answered"] == COUNT
    assert (found["verdict"], found["parted"]) == ("PASS", 0)


def test_a_recording_goes_on_with_the_same_question_to_the_same_server_alone(
    tmp_path: Path,
) -> None:
    with hanging() as (a, _), answering(same, model="other") as other:
        command = ["--a", a.url, "--record", "a.json", "--prompts", prompts(tmp_path), "--timeout", "1h"]  # fmt: skip
        interrupted(command, tmp_path, lambda: len(a.asked) == GOOD + 4)
        before = (tmp_path / "a.json").read_bytes()
        done = vram_here(["trial", "shadow", "--a", other.url, *command[2:]], tmp_path)
        assert (done.returncode, done.stderr) == (
            2,
            (
                "vram: a.json holds answers of another server. The name of the model differs: it has made-up, this server has other. "
                "Give another --record, or remove it to begin anew.\n"
            ),
        )
        done = vram_here(["trial", "shadow", *command, "--max-tokens", "5"], tmp_path)
        assert (done.returncode, done.stderr) == (
            2,
            (
                "vram: a.json holds answers that were asked for with another --api, --max-tokens, --top-logprobs, --seed or --repeat-a; "
                "give another --record, or remove it to begin anew.\n"
            ),
        )
        prompts(tmp_path, "another wish")
        done = vram_here(["trial", "shadow", *command], tmp_path)
        assert (done.returncode, done.stderr) == (
            2,
            (
                "vram: a.json holds answers to 40 prompts (own.jsonl), and these are 40 others (own.jsonl); give the same --prompts, "
                "--requests and --seed.\n"
            ),
        )
    assert (tmp_path / "a.json").read_bytes() == before
