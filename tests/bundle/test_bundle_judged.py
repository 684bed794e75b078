"""The verdict of a bundle is that of `accept`, with intervals, from nothing but what lies in it."""

import json
import os
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from commands import said, vram_here
from queued_trials import queued_trial
from recorded_trials import standing
from sealed_queues import COUNT, RECORDED, TEXT, asked
from sealed_runs import wrong
from stored_workloads import request, stored
from vramledger.accept.beside import read_beside
from vramledger.accept.judge import judge
from vramledger.accept.verdict_json import verdict_json
from vramledger.bundle.canonical import canonical_bytes, with_hash
from vramledger.bundle.manifest import file_entries
from vramledger.bundle.sealing import SealAsked, Sealed, seal
from vramledger.bundle.verifying import verify
from vramledger.errors import BadInput
from vramledger.plan.contract_json import contract_to_json
from vramledger.plan.promises import promises
from vramledger.plan.read import read_plan
from vramledger.record.document import Deployment, Plan
from vramledger.record.run import read_run
from vramledger.report.bundle import sealed_text
from vramledger.workload.challenge import Challenge, draw, salt_of


def verdict_in(sealed: Sealed) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((sealed.path / "verdict.json").read_bytes())
    return found


def test_a_server_with_room_passes_and_says_what_accept_says(tmp_path: Path) -> None:
    sealed = seal(asked(tmp_path))
    found = verdict_in(sealed)
    assert (found["verdict"], found["not_accepted"]) == ("PASS", None)
    (tmp_path / "plan.yaml").write_text(TEXT)
    plan = read_plan(str(tmp_path / "plan.yaml"))
    plain = verdict_json(judge([read_run(tmp_path / "run")], plan, read_beside(plan)))
    told = json.loads(json.dumps(found["accepted"]).replace('"001"', '"run"'))
    assert told == plain
    assert [line["low"] <= line["value"] <= line["high"] for line in told["lines"][:3]] == [True, True, True]  # fmt: skip
    checked = verify(sealed.path)
    assert wrong(checked) == []
    assert checked.verdict == found


def test_a_server_without_room_fails(tmp_path: Path) -> None:
    found = seal(asked(tmp_path, servers=3)).verdict
    assert (found["verdict"], found["accepted"]["verdict"]) == ("FAIL", "FAIL")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"value": 0.001}, "its lines are judged otherwise"),
        ({"high": 0.5}, "its lines are judged otherwise"),
        ({"verdict": "FAIL"}, "its lines are judged otherwise"),
    ],
)
def test_a_line_of_the_verdict_that_was_changed_is_found(
    tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    sealed = seal(asked(tmp_path))
    document = verdict_in(sealed)
    document["accepted"]["lines"][0] |= change
    (sealed.path / "verdict.json").write_bytes(canonical_bytes(document))
    _listed_anew(sealed.path)
    assert wrong(verify(sealed.path)) == [
        ("verdict", f"From the raw records comes another verdict: {said}.")
    ]


def _listed_anew(folder: Path) -> None:
    path = folder / "manifest.json"
    document = json.loads(path.read_bytes()) | {"files": file_entries(folder)}
    path.write_bytes(canonical_bytes(with_hash(document)))


def test_the_load_that_the_plan_names_lies_where_it_is_read(tmp_path: Path) -> None:
    sealed = seal(asked(tmp_path, RECORDED.replace("FILE", "loads/w.parquet")))
    assert (sealed.path / "loads/w.parquet").is_file()
    assert sealed.verdict["not_accepted"] is None
    assert wrong(verify(sealed.path)) == []


def test_a_load_named_by_nothing_but_its_file_lies_where_it_is_read(tmp_path: Path) -> None:
    text = RECORDED.replace("workload: {file: FILE}", "workload: loads/w.parquet")
    sealed = seal(asked(tmp_path, text))
    assert (sealed.path / "loads/w.parquet").is_file()
    assert sealed.verdict["not_accepted"] is None
    assert wrong(verify(sealed.path)) == []


QUALITY = f"{TEXT}quality: {{shadow: results/shadow.json, min_agreement: 0.98}}\n"
FP8 = Deployment(engine="vllm", engine_version="0.32.0", model="m", arguments={"quantization": "fp8"})  # fmt: skip


def shadow(path: Path, low: float = 0.985) -> Path:
    """A comparison with fp8 weights on that version."""
    path.parent.mkdir(parents=True, exist_ok=True)
    side = {"model": "m", "quantization": "fp8", "engine_version": "0.32.0"}
    document = {
        "schema": "vramledger.shadow/1",
        "basis": "measured",
        "a": {"model": "m"},
        "b": side,
        "token_agreement": {"value": 0.99, "low": low, "high": 0.995},
        "requests": {"answered": 400},
    }
    path.write_text(json.dumps(document))
    return path


def quality_of(sealed: Sealed) -> dict[str, Any]:
    (found,) = (
        line for line in sealed.verdict["accepted"]["lines"] if line["name"].startswith("agreement")
    )
    return dict(found)


def test_evidence_of_quality_is_sealed_where_the_plan_looks_for_it(tmp_path: Path) -> None:
    given = asked(tmp_path, QUALITY, in_effect=FP8)
    file = shadow(tmp_path / "elsewhere/shadow.json")
    sealed = seal(replace(given, evidence=(file,)))
    assert (sealed.path / "results/shadow.json").read_bytes() == file.read_bytes()
    assert sealed.verdict["verdict"] == "PASS"
    assert quality_of(sealed)["verdict"] == "PASS"
    assert wrong(verify(sealed.path)) == []
    shadow(sealed.path / "results/shadow.json", low=0.9)
    assert [said for _, said in wrong(verify(sealed.path))] == [
        "results/shadow.json was changed: it has 241 bytes and had 243.",
        "From the raw records comes another verdict: INCONCLUSIVE, and PASS was sealed.",
    ]


def test_without_it_quality_is_open(tmp_path: Path) -> None:
    sealed = seal(asked(tmp_path, QUALITY, in_effect=FP8))
    assert sealed.verdict["verdict"] == "INCONCLUSIVE"
    assert quality_of(sealed)["reason"] == "results/shadow.json is not there yet"
    assert sealed.absent == ("results/shadow.json",)
    said = "open        plan.yaml names results/shadow.json; give it with --quality"
    assert said in sealed_text(sealed).splitlines()
    assert wrong(verify(sealed.path)) == []


def test_evidence_that_the_plan_does_not_name_is_refused(tmp_path: Path) -> None:
    given = asked(tmp_path, QUALITY, in_effect=FP8)
    other = shadow(tmp_path / "other.json")
    with pytest.raises(BadInput) as refused:
        seal(replace(given, evidence=(other,)))
    assert str(refused.value) == (
        f"{other} is no evidence that the runs' plan names: it names results/shadow.json; give that file."
    )
    plain = asked(tmp_path / "plain")
    with pytest.raises(BadInput, match=r"the runs' plan names: it names none; leave --quality out\."):  # fmt: skip
        seal(replace(plain, evidence=(other,)))
    out = asked(tmp_path / "out", QUALITY.replace("results/", "../"))
    with pytest.raises(BadInput) as refused:
        seal(replace(out, evidence=(shadow(tmp_path / "shadow.json"),)))
    assert str(refused.value) == (
        "plan.yaml names ../shadow.json, which leads out of a bundle or is taken there; name the evidence beside the plan, and "
        "make the run with that."
    )


def test_the_option_for_it(tmp_path: Path) -> None:
    asked(tmp_path, QUALITY, in_effect=FP8)
    shadow(tmp_path / "results/shadow.json")
    words = ["verify", "--seal", "run", "--workload", "w.parquet", "-o", "b.zip", "--json"]
    done = vram_here([*words, "--quality", "results/shadow.json"], tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["verdict"]["verdict"] == "PASS"
    assert vram_here(["verify", "b.zip"], tmp_path).returncode == 0
    absent = said([*words, "--quality", "absent/shadow.json"], tmp_path, vram_here)
    assert (
        absent == "absent/shadow.json is no file, and evidence of quality is one; check its path."
    )


def test_a_plan_that_leads_out_is_not_judged_and_nothing_there_is_opened(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.parquet"
    os.mkfifo(pipe)  # whoever opens it waits for ever
    for name in (str(pipe), "../w.parquet"):
        home = tmp_path / name.replace("/", "_")
        sealed = seal(asked(home, RECORDED.replace("FILE", name)))
        assert sealed.verdict["accepted"] is None
        assert sealed.verdict["not_accepted"] == (
            f"plan.yaml names {name}, which this bundle does not hold."
        )
        assert sealed.verdict["verdict"] == "PASS"  # of this one run, by the contract it carries
        assert wrong(verify(sealed.path)) == []


def test_a_challenge_is_the_load_of_its_scenario(tmp_path: Path) -> None:
    """`accept` holds a run to the plan's workload; a run that answers a challenge sent the stretch that was drawn."""
    text = RECORDED.replace("FILE", "w.parquet")
    source = asked(tmp_path, text)
    of_it = draw(source.workloads[0], tmp_path / "drawn", "a" * 64, window_s=20.0, drawn_by=None)
    reasons = _reasons(tmp_path / "one", text, source, of_it)
    assert not any("another workload" in each for each in reasons)
    other = stored(
        tmp_path / "other.parquet",
        (request(row, arrival_s=row / 9, input_tokens=9, output_tokens=3) for row in range(COUNT)),
    )
    of_another = draw(other, tmp_path / "easier", "a" * 64, window_s=20.0, drawn_by=None)
    reasons = _reasons(tmp_path / "two", text, source, of_another)
    assert any("another workload" in each for each in reasons)


def _reasons(folder: Path, text: str, source: SealAsked, challenge: Challenge) -> list[str]:
    """What stands beside the lines of a run that answers the challenge."""
    trial = standing().to_json() | {"contract": contract_to_json(promises(text)["daily"])}
    trial["load"]["prompts"]["salt"] = salt_of(challenge.document)
    run = queued_trial(
        folder / "answer",
        count=challenge.document["rows"],
        plan=Plan(text=text, sha256=sha256(text.encode()).hexdigest()),
        workload_sha256=challenge.document["workload_sha256"],
        seed=challenge.seed,
        started_at="2030-01-01T00:00:00.000000Z",
        trial=trial,
        challenge=dict(challenge.document),
    )
    loads = (challenge.workload, *source.workloads)
    found = seal(replace(source, runs=(run,), workloads=loads, out=folder / "b")).verdict
    assert found["not_accepted"] is None
    return [line["reason"] or "" for line in found["accepted"]["lines"]]
