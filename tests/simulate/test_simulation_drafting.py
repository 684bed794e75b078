"""Speculative decoding in a simulation: what a method reserves, what drafting costs, what it buys."""

import json
from pathlib import Path

import pytest

from stored_workloads import chats, stored
from timing_questions import deployed
from vramledger.cli.main import run
from vramledger.engine.vllm.deployment import Deployment
from vramledger.errors import BadInput, CannotKnow, ExitCode
from vramledger.ledger.account import build
from vramledger.simulate.drafted_cost import deployment_cost
from vramledger.simulate.drafting import METHODS, decode_steps, speculation_of, tokens_a_step
from vramledger.simulate.from_deployment import settings_of
from vramledger.simulate.groups import RecurrentState
from vramledger.simulate.loop import simulate
from vramledger.simulate.priced import step_cost, typical_of
from vramledger.simulate.request import Arrival
from vramledger.simulate.settings import Speculation
from vramledger.simulate.step import Features
from vramledger.simulate.timing.coefficients import shipped
from vramledger.simulate.timing.work import work_of

TYPICAL = typical_of(1000, 200)
MODEL = "Qwen/Qwen3-32B"


def speculating(model: str = MODEL, tp: int = 2, **config: object) -> Deployment:
    words = json.dumps({"num_speculative_tokens": 3, **config})
    return deployed(f"-tp {tp} --speculative-config '{words}'", model=model, version="0.32.0")


def drafting() -> Deployment:
    words = {"method": "draft_model", "model": "Qwen/Qwen3-0.6B", "num_speculative_tokens": 3}
    flag = f"-tp 2 --speculative-config '{json.dumps(words)}'"
    return deployed(flag, model=MODEL, version="0.32.0")


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("eagle", Speculation(3, 700_000, lookahead=3, drops_last_block=True)),
        ("mtp", Speculation(3, 700_000, lookahead=3, drops_last_block=True)),
        ("dflash", Speculation(3, 700_000, lookahead=4, drops_last_block=True)),
        ("ngram", Speculation(3, 700_000)),
    ],
)
def test_each_method_reserves_what_the_scheduler_gives_it(
    method: str, expected: Speculation
) -> None:
    assert speculation_of(speculating(method=method), 0.7) == expected


def test_a_draft_model_takes_a_row_of_every_step() -> None:
    found = speculation_of(drafting(), 0.5)
    assert found == Speculation(3, 500_000, lookahead=3, rows=1)


def test_a_rate_is_asked_for_where_there_are_drafts_and_refused_where_there_are_none() -> None:
    with pytest.raises(CannotKnow) as unknown:
        speculation_of(speculating(method="ngram"), None)
    assert str(unknown.value) == (
        "How many drafts are accepted is not known before the server runs; state the share with "
        "--acceptance RATE (0..1), or simulate the launch without its draft."
    )
    with pytest.raises(BadInput) as needless:
        speculation_of(deployed(), 0.5)
    assert str(needless.value) == (
        "--acceptance is of drafts, and the launch makes none; leave it out, or add "
        "--speculative-config."
    )


def test_a_way_of_drafting_that_is_not_simulated_is_named() -> None:
    with pytest.raises(CannotKnow) as refused:
        speculation_of(speculating(method="medusa"), 0.5)
    assert str(refused.value) == (f"How medusa drafts is not simulated; {', '.join(METHODS)} are.")


def test_states_of_drafts_are_held_beside_the_own() -> None:
    hybrid = speculating("Qwen/Qwen3-Next-80B-A3B-Instruct", 4, method="mtp")
    pool = build(hybrid).pool
    assert pool is not None
    settings = settings_of(hybrid, pool, prefix_caching=False, acceptance=0.5)
    states = [group for group in settings.groups if isinstance(group, RecurrentState)]
    assert states
    assert {group.speculative for group in states} == {3}


def test_drafting_costs_its_passes_and_verifying_its_rows() -> None:
    deployment, coefficients = drafting(), shipped().coefficients
    cost = deployment_cost(deployment, coefficients, TYPICAL)
    plain = step_cost(work_of(deployment), coefficients, TYPICAL, 1024)
    draft = deployed("", model="Qwen/Qwen3-0.6B", version="0.32.0")
    alone = step_cost(work_of(draft), coefficients, TYPICAL, 1024)
    decodes = Features(decode_tokens=4, decode_requests=1, decode_context=1000)
    one = Features(decode_tokens=1, decode_requests=1, decode_context=1000)
    extra = cost(decodes) - plain(decodes)
    assert 0 < extra < 3 * alone(one)  # the draft's share of the host's work is not paid again
    assert cost(decodes) > plain(one)
    looked_up = deployment_cost(speculating(method="ngram"), coefficients, TYPICAL)
    assert plain(decodes) <= looked_up(decodes) < cost(decodes)


def test_drafts_from_one_pass_cost_less_than_from_three() -> None:
    coefficients = shipped().coefficients
    decodes = Features(decode_tokens=40, decode_requests=10, decode_context=10_000)
    serial = deployment_cost(speculating(method="mtp"), coefficients, TYPICAL)
    parallel = deployment_cost(speculating(method="dflash"), coefficients, TYPICAL)
    assert parallel(decodes) < serial(decodes)


@pytest.mark.parametrize("rate", [0.0, 0.3, 0.8, 1.0])
def test_a_simulation_takes_as_many_steps_as_the_accepted_drafts_leave(rate: float) -> None:
    """The mean of 400 answers of 100 tokens, within three standard errors and the last step's rounding."""
    deployment = speculating(method="ngram")
    pool = build(deployment).pool
    assert pool is not None
    settings = settings_of(deployment, pool, prefix_caching=False, acceptance=rate)
    outcome = simulate(settings, [Arrival(0, 8, 101) for _ in range(400)], lambda _features: 1000)
    taken = sum(row.features.decode_requests for row in outcome.steps) / 400
    mean = tokens_a_step(3, rate)
    assert taken == pytest.approx(100 / mean, rel=0.03, abs=1)
    assert decode_steps(settings, 100) == pytest.approx(100 / mean, abs=1)


def test_vram_simulate_says_what_it_assumed_of_drafts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stored(tmp_path / "w.parquet", chats(6, span_s=6))
    monkeypatch.chdir(tmp_path)
    launch = (
        f"vllm serve {MODEL} -tp 2 --max-model-len 8192 --speculative-config "
        """'{"method":"draft_model","model":"Qwen/Qwen3-0.6B","num_speculative_tokens":3}'"""
    )
    asked = ["--gpu", "H100-80GB-SXM", "--engine-version", "0.32.0", "--workload", "w.parquet"]
    assert run(["simulate", launch, *asked]) == ExitCode.CANNOT_KNOW
    capsys.readouterr()
    found = {}
    for rate in ("0.2", "0.9"):
        arguments = ["simulate", launch, *asked, "--acceptance", rate, "-o", rate, "--json"]
        assert run(arguments) == ExitCode.HOLDS
        found[rate] = json.loads(capsys.readouterr().out)
    assert found["0.9"]["tpot_s"]["p50"] < found["0.2"]["tpot_s"]["p50"] / 2
    assert found["0.9"]["acceptance"] == 0.9
    assert found["0.9"]["basis"] == "assumed"
    assert any(
        note.startswith(
            "Drafts are accepted at an assumed 90% at each of 3 positions, which is 3.44 tokens a step"
        )
        for note in found["0.9"]["notes"]
    )
    assert not any("left out" in note for note in found["0.9"]["notes"])
