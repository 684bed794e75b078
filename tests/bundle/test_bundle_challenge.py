"""A challenge is drawn, sent by a real client to a rehearsal server, sealed, and proven."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from commands import said, vram_here
from recorded_trials import described, small_trial, standing
from rehearse_server import rehearsal
from sealed_runs import contracted, wrong
from stored_workloads import request, stored
from trial_command import steady_workload
from vramledger.bundle.sealing import seal
from vramledger.bundle.verifying import verify
from vramledger.errors import BadInput
from vramledger.record.description import hash_of
from vramledger.workload.challenge import Challenge, draw, drawn, read_challenge, salt_of

NONCE = "a" * 64


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A challenge in the folder `drawn`, and the run that answers it in `run`."""
    folder = tmp_path_factory.mktemp("challenged")
    source = steady_workload(folder / "w.parquet", 40, 0.1)
    options = ["--challenge", str(source), "--window", "1s", "--drawn-by", "Ann", "-o", "drawn"]
    done = vram_here(["verify", *options, "--json"], folder)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == json.loads((folder / "drawn/challenge.json").read_text())
    with rehearsal() as server:
        words = ["trial", "run", "--url", server.address, "--challenge", "drawn", "-o", "run"]
        done = vram_here([*words, "--workers", "1"], folder)
        again = vram_here([*words[:-1], "second", "--workers", "1"], folder)
    assert (folder / "run/run.json").is_file(), done.stderr
    assert (folder / "second/run.json").is_file(), again.stderr
    return folder


def test_a_run_that_answers_is_proven(home: Path) -> None:
    done = vram_here(["verify", "--seal", "run", "--exercise", "-o", "a.zip", "--workload", "drawn/workload.parquet"], home)  # fmt: skip
    assert done.returncode == 0, done.stderr
    checked = vram_here(["verify", "a.zip", "--json"], home)
    assert checked.returncode == 0, checked.stdout
    (told,) = (c for c in json.loads(checked.stdout)["checks"] if c["name"] == "challenge")
    nonce = json.loads((home / "drawn/challenge.json").read_text())["nonce"]
    assert told["standing"] == "holds"
    assert told["message"] == (
        f"Every run sent exactly what nonce {nonce} drew, texts included; the server's cache shows no earlier try; the "
        "challenge is whose it is, the buyer's copy tells (--challenge)."
    )


def test_a_second_try_finds_the_prompts_in_the_servers_cache(home: Path) -> None:
    options = ["--exercise", "--workload", "drawn/workload.parquet"]
    done = vram_here(["verify", "--seal", "second", "-o", "second.zip", *options], home)
    assert done.returncode == 1
    assert any(line.startswith("FAILS       The server had ") for line in done.stdout.splitlines())
    checked = vram_here(["verify", "second.zip", "--challenge", "drawn", "--json"], home)
    assert checked.returncode == 1
    (told,) = (c for c in json.loads(checked.stdout)["checks"] if c["standing"] == "fails")
    assert told["name"] == "challenge"
    assert re.fullmatch(
        r"The server had [\d,]+ of [\d,]+ tokens of the prompts of run 001 in its cache, and the load repeats \d+ at most: they "
        r"were sent to it before\.",
        told["message"],
    )


def test_a_rehearsed_run_is_refused_as_a_trial(home: Path) -> None:
    assert said(["verify", "--seal", "run", "-o", "t.zip"], home, vram_here).startswith(
        "run is rehearsed, and so no trial of a server: it cannot be sealed as one;"
    )
    assert not (home / "t.zip").exists()


@pytest.mark.parametrize("option", [["--workload", "w.parquet"], ["--seed", "3"], ["--for", "2s"]])
def test_nothing_else_may_change_what_is_sent(home: Path, option: list[str]) -> None:
    words = ["trial", "run", "--url", "http://localhost:1", "--challenge", "drawn", *option]
    assert said(words, home, vram_here) == (
        f"{option[0]} changes what is sent, and --challenge says all of that; leave one of them out."
    )


def _drawn(folder: Path, rows: int = 4) -> Challenge:
    found = (
        request(row, arrival_s=float(row), input_tokens=100, output_tokens=3) for row in range(rows)
    )
    source = stored(folder / "source.parquet", [*found, request(rows, arrival_s=float(rows), input_tokens=100, output_tokens=3)])  # fmt: skip
    return draw(source, folder / "challenge", NONCE, window_s=float(rows), drawn_by=None)


def salted(salt: int, **load: Any) -> dict[str, Any]:
    trial = standing().to_json()
    trial["load"] |= load
    trial["load"]["prompts"]["salt"] = salt
    return trial


def _answered(
    folder: Path,
    challenge: Challenge,
    source: Path | None = None,
    sent: Mapping[int, Mapping[str, Any]] = MappingProxyType({}),
    **values: Any,
) -> list[tuple[str, str]]:
    """What is wrong with a sealed run that carries the challenge, made in January 2030; sealing it says the same of the challenge."""
    asked = contracted(folder / "run")
    about = described(
        workload_sha256=challenge.document["workload_sha256"],
        seed=challenge.seed,
        trial=salted(salt_of(challenge.document)),
        started_at="2030-01-01T00:00:00.000000Z",
        challenge=dict(challenge.document),
    )
    run = small_trial(folder / "answered", about=about.model_copy(update=values), values=sent)
    loads = (challenge.workload, *asked.workloads, *([source] if source else []))
    sealed = seal(replace(asked, runs=(run,), workloads=loads))
    found = wrong(verify(sealed.path))
    assert [(each.name, each.said) for each in sealed.unfit] == found
    return found


def test_what_a_run_must_do_to_answer(tmp_path: Path) -> None:
    assert _answered(tmp_path, _drawn(tmp_path)) == []


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"seed": 0}, "its seed is 0, and the nonce gives {seed}"),
        (
            {"started_at": "2020-01-01T00:00:00.000000Z"},
            "it began before the challenge was drawn",
        ),
    ],
)
def test_a_run_that_does_not(tmp_path: Path, values: dict[str, Any], why: str) -> None:
    challenge = _drawn(tmp_path)
    assert _answered(tmp_path, challenge, **values) == [
        ("challenge", f"Run 001 does not answer the challenge: {why.format(seed=challenge.seed)}.")
    ]


@pytest.mark.parametrize(
    ("load", "why"),
    [
        ({"closed": 4}, "it sent in a closed loop or for a time, and not as the load arrives"),
        (
            {"duration_s": 60.0},
            "it sent in a closed loop or for a time, and not as the load arrives",
        ),
    ],
)
def test_another_way_of_sending(tmp_path: Path, load: dict[str, Any], why: str) -> None:
    challenge = _drawn(tmp_path)
    trial = salted(salt_of(challenge.document), **load)
    assert _answered(tmp_path, challenge, trial=trial) == [
        ("challenge", f"Run 001 does not answer the challenge: {why}.")
    ]


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        ({3: {"row": 0}}, "row 0 was sent more than once"),
        ({3: {"row": 0, "attempt": 1}}, None),  # tried again by the client
        ({1: {"row": 0}, 3: {"row": None}}, "row 1 of the challenge was not sent"),
        ({3: {"row": 7}}, "it sent row 7, which the challenge does not have"),
        ({2: {"input_tokens_asked": 60}, 3: {"row": None}}, "row 2 had a prompt of 60 tokens, and the challenge has 100"),
        ({2: {"input_tokens_asked": 100}, 3: {"row": None}}, None),
        ({2: {"output_tokens_asked": 2}, 3: {"row": None}}, "row 2 asked for 2 tokens, and the challenge has 3"),
        ({2: {"due_s": 11.5}, 3: {"row": None}}, "row 2 was due -0.500 s from where the challenge has it"),
        ({1: {"row": 2}, 2: {"row": 1}, 3: {"row": None}}, "row 2 was due -1.000 s from where the challenge has it"),
    ],
)  # fmt: skip
def test_rows_that_were_sent_otherwise(
    tmp_path: Path, sent: dict[int, dict[str, Any]], why: str | None
) -> None:
    found = _answered(tmp_path, _drawn(tmp_path, rows=3), sent=sent)
    told = [] if why is None else [f"Run 001 does not answer the challenge: {why}."]
    assert [said for _, said in found] == told


def test_other_texts(tmp_path: Path) -> None:
    challenge = _drawn(tmp_path)
    assert _answered(tmp_path, challenge, trial=salted(7)) == [
        (
            "challenge",
            "Run 001 does not answer the challenge: its prompts are not those of the nonce.",
        )
    ]
    own = salted(salt_of(challenge.document))
    own["load"]["prompts"]["own"] = "prompts.jsonl"
    (found,) = _answered(tmp_path / "own", challenge, trial=own)
    assert found[1] == "Run 001 does not answer the challenge: it sent prompts of its own."


def test_the_buyers_own_copy_decides_whose_challenge_it_is(tmp_path: Path, home: Path) -> None:
    options = ["--exercise", "--workload", "drawn/workload.parquet"]
    done = vram_here(["verify", "--seal", "run", "-o", "whose.zip", *options], home)
    assert done.returncode == 0, done.stderr
    checked = vram_here(["verify", "whose.zip", "--challenge", "drawn"], home)
    assert checked.returncode == 0, checked.stdout
    assert "; the challenge is yours." in checked.stdout
    other = _drawn(tmp_path)
    checked = vram_here(["verify", "whose.zip", "--challenge", str(other.workload.parent)], home)
    assert checked.returncode == 1
    assert (
        f"The runs answer another challenge than yours, {other.document['sha256']}."
        in checked.stdout
    )


def test_the_draw_is_made_again_where_its_source_is_there(tmp_path: Path) -> None:
    challenge = _drawn(tmp_path)
    assert _answered(tmp_path / "one", challenge, source=tmp_path / "source.parquet") == []
    other = dict(challenge.document) | {"nonce": "b" * 64}  # whose stretch and seed are others
    other["sha256"] = hash_of({key: value for key, value in other.items() if key != "sha256"})
    forged = Challenge(other, challenge.workload)
    assert _answered(tmp_path / "two", forged, source=tmp_path / "source.parquet") == [
        (
            "challenge",
            "Run 001 does not answer the challenge: the nonce does not draw this stretch or this seed.",
        )
    ]


def test_a_row_that_was_not_sent(tmp_path: Path) -> None:
    assert _answered(tmp_path, _drawn(tmp_path, rows=6)) == [
        ("challenge", "Run 001 does not answer the challenge: row 4 of the challenge was not sent.")
    ]


def test_an_altered_challenge_is_none(tmp_path: Path) -> None:
    challenge = _drawn(tmp_path)
    document = dict(challenge.document) | {"seed": 1}
    assert hash_of(document) != document["sha256"]
    assert [name for name, _ in _answered(tmp_path, Challenge(document, challenge.workload), seed=1)] == ["challenge"]  # fmt: skip
    path = tmp_path / "challenge/challenge.json"
    path.write_text(json.dumps(document))
    with pytest.raises(BadInput, match="is no challenge, or was changed after it was drawn"):
        read_challenge(path)


def test_another_workload_beside_it_is_refused(tmp_path: Path) -> None:
    challenge = _drawn(tmp_path)
    challenge.workload.write_bytes(b"other")
    with pytest.raises(BadInput, match="is not the workload of this challenge"):
        read_challenge(tmp_path / "challenge")


def test_the_stretch_and_the_seed_follow_from_the_nonce() -> None:
    assert drawn(NONCE, "b" * 64, 100.0, 10.0) == drawn(NONCE, "b" * 64, 100.0, 10.0)
    begins = [drawn(str(number), "b" * 64, 100.0, 10.0)[0] for number in range(400)]
    assert 0 <= min(begins) < 2_000
    assert 88_000 < max(begins) <= 90_000
    assert len({drawn(str(number), "b" * 64, 100.0, 10.0)[1] for number in range(400)}) == 400
